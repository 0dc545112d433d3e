// Who changed what, or what was refused, as `hpsearch audit list` prints it; here the newest first.
import {useState} from "preact/hooks";
import {daemonNow, get} from "../../api/client";
import type {AuditEntry, AuditPage} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, tCount} from "../../i18n/texts";
import {formatShortTime, formatTime} from "../../i18n/format";
import {SearchField} from "../../design/search_field";
import {Empty, View} from "../../design/states";
import type {PageProps} from "../page_props";
import {SettingsTabs} from "./settings_tabs";

const pageSize = 500;
/// The daemon has lines from the oldest on; so many of them are read to find the newest.
const mostPages = 40;
const firstShown = 200;

interface Lines {
    readonly entries: readonly AuditEntry[];
    /// The number behind which there are more.
    readonly next: number | null;
}

async function readAll(refusals: boolean, signal: AbortSignal): Promise<Lines> {
    const entries: AuditEntry[] = [];
    let next: number | null = 0;
    for (let page = 0; page < mostPages && next !== null; page += 1) {
        const answer: AuditPage = await get<AuditPage>(`audit?limit=${pageSize}&after=${next}${refusals ? "&refusals=true" : ""}`, signal);
        entries.push(...answer.entries);
        next = answer.next;
    }
    return {entries: entries.reverse(), next};
}

/// "POST /api/v1/experiments: experiments/3" where the path doesn't name what was made.
function requestOf({count, method, path, resource = ""}: AuditEntry): string {
    if (count) return tCount("audit.others", count);
    return `${method} ${path}${path.includes(resource) ? "" : `: ${resource}`}`;
}

export default function Audit({query}: PageProps) {
    const refusals = query.get("refusals") === "yes";
    const needle = (query.get("q") ?? "").toLowerCase();
    const [most, setMost] = useState(firstShown);
    const lines = useResource<Lines>(`audit#${refusals ? "refusals" : "changes"}`, {read: (_, signal) => readAll(refusals, signal)});
    return (
        <>
            <h1>{t("audit.title")}</h1>
            <SettingsTabs />
            <p class="plot-lead page">{t("audit.lead")}</p>
            <div class="toolbar">
                <div class="chips" role="group" aria-label={t("audit.what")}>
                    <button class="chip" aria-pressed={!refusals} onClick={() => query.set({refusals: ""})}>
                        {t("audit.changes")}
                    </button>
                    <button class="chip" aria-pressed={refusals} onClick={() => query.set({refusals: "yes"})}>
                        {t("audit.refusals")}
                    </button>
                </div>
                <div class="push">
                    <SearchField value={query.get("q") ?? ""} label={t("audit.search")} onInput={(text) => query.set({q: text}, {replace: true})} />
                </div>
            </div>
            <View resource={lines}>
                {({entries, next}) => {
                    const found = entries.filter((each) =>
                        `${each.name} ${each.from} ${each.status} ${requestOf(each)}`.toLowerCase().includes(needle),
                    );
                    if (found.length === 0)
                        return (
                            <Empty title={t(needle === "" ? "audit.none" : "audit.nothing_found")}>
                                {needle !== "" && (
                                    <button class="button" onClick={() => query.set({q: ""})}>
                                        {t("list.clear")}
                                    </button>
                                )}
                            </Empty>
                        );
                    return (
                        <>
                            <div class="scroll-x">
                                <table class="table">
                                    <caption class="unseen">{t("audit.title")}</caption>
                                    <thead>
                                        <tr>
                                            <th scope="col" class="number">
                                                {t("audit.line")}
                                            </th>
                                            <th scope="col">{t("events.time")}</th>
                                            <th scope="col">{t("audit.who")}</th>
                                            <th scope="col">{t("audit.from")}</th>
                                            <th scope="col" class="number">
                                                {t("audit.status")}
                                            </th>
                                            <th scope="col">{t("audit.request")}</th>
                                        </tr>
                                    </thead>
                                    <tbody>
                                        {found.slice(0, most).map((each) => (
                                            <tr key={each.number}>
                                                <td class="number">{each.number}</td>
                                                <td class="nowrap" title={formatTime(each.time)}>
                                                    {formatShortTime(each.time, daemonNow())}
                                                </td>
                                                <td class="strong">{each.name === "" ? "–" : each.name}</td>
                                                <td class="nowrap">{each.from}</td>
                                                <td class="number">{each.status}</td>
                                                <td class="mono cut-anywhere audit-request">{requestOf(each)}</td>
                                            </tr>
                                        ))}
                                    </tbody>
                                </table>
                            </div>
                            {found.length > most && (
                                <p class="events-end">
                                    <button class="button" onClick={() => setMost(most * 4)}>
                                        {t("list.more")}
                                    </button>
                                </p>
                            )}
                            <p class="muted small events-end">
                                {tCount("audit.count", found.length)}{" "}
                                {next !== null && t("audit.more", {command: `hpsearch audit list ${refusals ? "--refusals " : ""}--after ${next}`})}
                            </p>
                        </>
                    );
                }}
            </View>
        </>
    );
}
