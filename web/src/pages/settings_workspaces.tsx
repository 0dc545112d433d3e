// Workspaces and their quotas.
import {change} from "../api/client";
import {useResource} from "../state/resource";
import {t} from "../i18n/texts";
import {formatNumber} from "../i18n/format";
import {ask} from "../design/dialog";
import {View} from "../design/states";

/// In the daemon's order of what is limited; null is no limit.
interface Quota {
    readonly max_slots: number | null;
    readonly max_slots_per_user: number | null;
    readonly max_active_experiments: number | null;
    readonly max_trials_per_experiment: number | null;
}

interface Workspace {
    readonly name: string;
    readonly experiments: number;
    readonly active_experiments: number;
    readonly slots: number;
    readonly quota: Quota;
}

const limits = [
    ["max_slots", "settings.quota_slots"], ["max_slots_per_user", "settings.quota_slots_user"], ["max_active_experiments", "settings.quota_active"], ["max_trials_per_experiment", "settings.quota_trials"],
] as const;

const limit = (value: number | null): string => (value === null ? t("settings.quota_none") : formatNumber(value));
const used = (now: number, most: number | null): string => (most === null ? formatNumber(now) : t("settings.quota_of", {used: formatNumber(now), limit: formatNumber(most)}));

export function Workspaces() {
    const list = useResource<{workspaces: readonly Workspace[]}>("workspaces", {topic: "experiments", every: 5000});
    const create = () => ask({
        title: t("settings.workspace_create"), body: t("settings.workspace_first"), action: t("settings.workspace_create"),
        fields: [{name: "name", label: t("settings.token_name"), required: true, note: t("settings.workspace_name_note")}],
        perform: async ({name}) => {
            await change("POST", "workspaces", {name: name!.trim()});
            list.reload();
        },
    });
    const setQuota = ({name, quota}: Workspace) => ask({
        title: t("settings.quota_title", {name}), body: t("settings.quota_note"), action: t("settings.quota_action"),
        fields: limits.map(([key, label]) => ({name: key, label: t(label), initial: quota[key] === null ? "" : String(quota[key]), number: true})),
        perform: async (values) => {
            await change("PUT", `workspaces/${encodeURIComponent(name)}/quota`, Object.fromEntries(limits.map(([key]) => [key, values[key] === "" ? null : Number(values[key])])));
            list.reload();
        },
    });
    return (
        <section class="section"><div class="section-head"><h2>{t("settings.workspaces")}</h2><button class="button push" onClick={create}>{t("settings.workspace_new")}</button></div>
            <View resource={list} rows={3}>{({workspaces}) => (
                <div class="scroll-x"><table class="table"><caption class="unseen">{t("settings.workspaces")}</caption>
                    <thead><tr><th scope="col">{t("settings.token_name")}</th><th scope="col" class="number">{t("nav.experiments")}</th><th scope="col" class="number">{t("settings.quota_active")}</th><th scope="col" class="number">{t("settings.quota_slots")}</th>
                        <th scope="col" class="number">{t("settings.quota_slots_user")}</th><th scope="col" class="number">{t("settings.quota_trials")}</th><th scope="col"><span class="unseen">{t("keys.actions")}</span></th></tr></thead>
                    <tbody>{workspaces.map((each) => <tr key={each.name}>
                        <td class="strong">{each.name}</td><td class="number">{formatNumber(each.experiments)}</td><td class="number">{used(each.active_experiments, each.quota.max_active_experiments)}</td>
                        <td class="number">{used(each.slots, each.quota.max_slots)}</td><td class="number">{limit(each.quota.max_slots_per_user)}</td><td class="number">{limit(each.quota.max_trials_per_experiment)}</td>
                        <td class="number"><button class="link" onClick={() => setQuota(each)}>{t("settings.quota_change")}</button></td></tr>)}</tbody>
                </table></div>)}</View>
        </section>
    );
}
