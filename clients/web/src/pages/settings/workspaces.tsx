// Workspaces, what they use, and their quotas, as `hpsearch workspace list` prints them.
import {change} from "../../api/client";
import type {Quota, Workspace} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, type TextKey} from "../../i18n/texts";
import {formatBytes, formatFixed, formatNumber} from "../../i18n/format";
import {ask} from "../../design/dialog";
import {View} from "../../design/states";
import type {PageProps} from "../page_props";
import {SettingsTabs} from "./settings_tabs";

/// The form and the table have a field for each limit that the daemon has: without a label, this doesn't compile.
const labels: Readonly<Record<keyof Quota, TextKey>> = {
    max_slots: "settings.quota_slots",
    max_slots_per_user: "settings.quota_slots_user",
    max_active_experiments: "settings.quota_active",
    max_trials_per_experiment: "settings.quota_trials",
    max_context_bytes: "settings.quota_context_bytes",
    slot_hours_per_30d: "settings.quota_slot_hours",
};
const limits = Object.entries(labels) as readonly (readonly [keyof Quota, TextKey])[];

/// Hours have two decimals.
function amountOf(name: keyof Quota, value: number): string {
    if (name === "max_context_bytes") return formatBytes(value);
    return Number.isInteger(value) ? formatNumber(value) : formatFixed(value, 2);
}

function Limit({name, used, limit}: {readonly name: keyof Quota; readonly used: number | null; readonly limit: number | null}) {
    if (used === null) return <>{limit === null ? t("settings.quota_none") : amountOf(name, limit)}</>;
    return <>{limit === null ? amountOf(name, used) : t("settings.quota_of", {used: amountOf(name, used), limit: amountOf(name, limit)})}</>;
}

export default function Workspaces(_: PageProps) {
    const list = useResource<{workspaces: readonly Workspace[]}>("workspaces", {topic: "experiments", every: 5000});
    const create = () =>
        ask({
            title: t("settings.workspace_create"),
            body: t("settings.workspace_first"),
            action: t("settings.workspace_create"),
            fields: [{name: "name", label: t("settings.token_name"), required: true, note: t("settings.workspace_name_note")}],
            perform: async ({name}) => {
                await change("POST", "workspaces", {name: name!.trim()});
                list.reload();
            },
        });
    const setQuota = ({name, quota}: Workspace) =>
        ask({
            title: t("settings.quota_title", {name}),
            body: t("settings.quota_note"),
            action: t("settings.quota_action"),
            fields: limits.map(([key, label]) => ({
                name: key,
                label: t(label),
                initial: quota[key] === null ? "" : String(quota[key]),
                number: true,
            })),
            perform: async (values) => {
                await change(
                    "PUT",
                    `workspaces/${encodeURIComponent(name)}/quota`,
                    Object.fromEntries(limits.map(([key]) => [key, values[key] === "" ? null : Number(values[key])])),
                );
                list.reload();
            },
        });
    return (
        <>
            <h1>{t("settings.workspaces")}</h1>
            <SettingsTabs />
            <div class="toolbar page">
                <button class="button push" onClick={create}>
                    {t("settings.workspace_new")}
                </button>
            </div>
            <View resource={list} rows={3}>
                {({workspaces}) => (
                    <div class="scroll-x">
                        <table class="table">
                            <caption class="unseen">{t("settings.workspaces")}</caption>
                            <thead>
                                <tr>
                                    <th scope="col">{t("settings.token_name")}</th>
                                    <th scope="col" class="number">
                                        {t("nav.experiments")}
                                    </th>
                                    {limits.map(([key, label]) => (
                                        <th key={key} scope="col" class="number">
                                            {t(label)}
                                        </th>
                                    ))}
                                    <th scope="col">{t("workspaces.creator")}</th>
                                    <th scope="col">
                                        <span class="unseen">{t("keys.actions")}</span>
                                    </th>
                                </tr>
                            </thead>
                            <tbody>
                                {workspaces.map((each) => (
                                    <tr key={each.name}>
                                        <td class="strong">{each.name}</td>
                                        <td class="number">{formatNumber(each.experiments)}</td>
                                        {limits.map(([key]) => (
                                            <td key={key} class="number">
                                                <Limit name={key} used={each.used[key]} limit={each.quota[key]} />
                                            </td>
                                        ))}
                                        <td>{each.creator}</td>
                                        <td class="number">
                                            <button class="link" onClick={() => setQuota(each)}>
                                                {t("settings.quota_change")}
                                            </button>
                                        </td>
                                    </tr>
                                ))}
                            </tbody>
                        </table>
                    </div>
                )}
            </View>
        </>
    );
}
