// How long slots were used, and by whom, as `hpsearch usage` prints it.
import {daemonNow} from "../../api/client";
import type {Usage, Used} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, type TextKey} from "../../i18n/texts";
import {formatFixed, formatNumber, formatTime} from "../../i18n/format";
import {Link} from "../../design/link";
import {Empty, View} from "../../design/states";
import type {usageGroups, usageSpans} from "../page_state";
import type {PageProps} from "../page_props";
import {SettingsTabs} from "./settings_tabs";

type Group = (typeof usageGroups)[number];
type Span = (typeof usageSpans)[number] | "";

const groups: Readonly<Record<Group, TextKey>> = {user: "usage.user", workspace: "form.workspace", experiment: "form.what"};
const hour = 3600;
const spans: Readonly<Record<Span, {readonly text: TextKey; readonly seconds: number}>> = {
    "": {text: "usage.since_all", seconds: Infinity},
    "24h": {text: "usage.since_24h", seconds: 24 * hour},
    "7d": {text: "usage.since_7d", seconds: 7 * 24 * hour},
    "30d": {text: "usage.since_30d", seconds: 30 * 24 * hour},
};

const hours = (seconds: number) => formatFixed(seconds / hour, 2);

function Name({row}: {row: Used}) {
    if (row.experiment !== undefined)
        return (
            <Link to={`e/${row.experiment}`} class="strong">
                {row.experiment}
            </Link>
        );
    const name = row.user ?? row.workspace ?? "";
    return name === "" ? <span class="muted">{t("usage.not_recorded")}</span> : <span class="strong">{name}</span>;
}

export default function UsagePage({query}: PageProps) {
    const by = (query.get("by") ?? "user") as Group;
    const span = (query.get("since") ?? "") as Span;
    // The daemon counts by the hour: a request for each second would be another answer for nothing.
    const since = Number.isFinite(spans[span].seconds) ? Math.floor((daemonNow() - spans[span].seconds) / hour) * hour : 0;
    const usage = useResource<Usage>(`usage?by=${by}&since=${since}`, {topic: "experiments", every: 5000});
    return (
        <>
            <h1>{t("usage.title")}</h1>
            <SettingsTabs />
            <div class="toolbar page">
                <div class="chips" role="group" aria-label={t("usage.by")}>
                    {(Object.keys(groups) as Group[]).map((each) => (
                        <button key={each} class="chip" aria-pressed={by === each} onClick={() => query.set({by: each === "user" ? "" : each})}>
                            {t(groups[each])}
                        </button>
                    ))}
                </div>
                <div class="chips" role="group" aria-label={t("usage.since")}>
                    {(Object.keys(spans) as Span[]).map((each) => (
                        <button key={each} class="chip" aria-pressed={span === each} onClick={() => query.set({since: each})}>
                            {t(spans[each].text)}
                        </button>
                    ))}
                </div>
            </div>
            <View resource={usage}>
                {(data) => {
                    const all = data.usage.reduce((sum, row) => sum + row.slot_seconds, 0);
                    if (data.usage.length === 0) return <Empty title={t("usage.none")} ways={[["experiments", "nav.experiments"]]} />;
                    return (
                        <>
                            <div class="scroll-x">
                                <table class="table">
                                    <caption class="unseen">{t("usage.title")}</caption>
                                    <thead>
                                        <tr>
                                            <th scope="col">{t(groups[by])}</th>
                                            <th scope="col" class="number">
                                                {t("form.slot_hours")}
                                            </th>
                                            <th scope="col" class="usage-share">
                                                {t("form.share")}
                                            </th>
                                            <th scope="col" class="number">
                                                {t("usage.slots_now")}
                                            </th>
                                            <th scope="col" class="number">
                                                {t("nav.experiments")}
                                            </th>
                                            <th scope="col" class="number">
                                                {t("list.trials")}
                                            </th>
                                        </tr>
                                    </thead>
                                    <tbody>
                                        {data.usage.map((row) => (
                                            <tr key={row.user ?? row.workspace ?? row.experiment}>
                                                <td>
                                                    <Name row={row} />
                                                </td>
                                                <td class="number">{hours(row.slot_seconds)}</td>
                                                <td class="usage-share">
                                                    <span class="bar" aria-hidden="true">
                                                        <span style={{width: `${all > 0 ? (100 * row.slot_seconds) / all : 0}%`}} />
                                                    </span>
                                                </td>
                                                <td class="number">{formatNumber(row.slots)}</td>
                                                <td class="number">{formatNumber(row.experiments)}</td>
                                                <td class="number">{formatNumber(row.trials)}</td>
                                            </tr>
                                        ))}
                                    </tbody>
                                </table>
                            </div>
                            <p class="muted small events-end">
                                {t("usage.in_all", {hours: hours(all)})} {data.since > 0 && t("usage.counted_since", {time: formatTime(data.since)})}
                            </p>
                        </>
                    );
                }}
            </View>
        </>
    );
}
