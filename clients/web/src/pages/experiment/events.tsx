// The story of an experiment with a filter, or its exact events.
import {useState} from "preact/hooks";
import type {StoredEvent} from "../../api/shapes";
import {saveFile} from "../../api/save_file";
import {useResource} from "../../state/resource";
import {t, tCount} from "../../i18n/texts";
import {formatTime} from "../../i18n/format";
import {Empty, View} from "../../design/states";
import {SearchField} from "../../design/search_field";
import {readSpan} from "../../state/span";
import {eventsDuring, lastEvents} from "./last_events";
import {storyKinds} from "../page_state";
import {storyOf} from "../story";
import {StoryList} from "../story_list";
import type {ExperimentPageProps} from "../page_props";

interface Listed {
    readonly events: readonly StoredEvent[];
    readonly more: boolean;
}

const firstEvents = 2000;
const mostShown = 500;

function Exact({events}: {events: readonly StoredEvent[]}) {
    return (
        <div class="scroll-x">
            <table class="table exact">
                <caption class="unseen">{t("events.exact")}</caption>
                <thead>
                    <tr>
                        <th scope="col" class="number">
                            LSN
                        </th>
                        <th scope="col">{t("events.time")}</th>
                        <th scope="col">{t("events.type")}</th>
                        <th scope="col">{t("events.fields")}</th>
                    </tr>
                </thead>
                <tbody>
                    {events.map((event) => {
                        const {lsn, at, type, ...fields} = event;
                        const text = JSON.stringify(fields);
                        return (
                            <tr key={lsn}>
                                <td class="number">{lsn}</td>
                                <td class="nowrap">{formatTime(at)}</td>
                                <td class="mono nowrap">{type}</td>
                                <td class="mono exact-fields">{text.length > 600 ? `${text.slice(0, 600)}…` : text}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

export default function Events({experiment, query}: ExperimentPageProps) {
    const [wanted, setWanted] = useState(firstEvents);
    const span = readSpan(query);
    const events = useResource<Listed>(`experiments/${experiment.id}/events#${wanted},${span ?? ""}`, {
        ...(span ? {} : {topic: `experiment:${experiment.id}`, every: 3000}),
        read: async (_, signal) => {
            if (span) return eventsDuring(experiment.id, span, wanted, signal);
            const found = await lastEvents(experiment.id, wanted, signal);
            return {events: found, more: found.length > 0 && found[0]!.type !== "experiment_created"};
        },
    });
    const shownKinds = query.list("kind");
    const exact = query.get("view") === "exact";
    const q = (query.get("q") ?? "").toLowerCase();
    const toggle = (kind: string) =>
        query.set({kind: (shownKinds.includes(kind) ? shownKinds.filter((each) => each !== kind) : [...shownKinds, kind]).join(",")});
    return (
        <View resource={events}>
            {({events: list, more}) => {
                const lines = storyOf(list, experiment.metric, experiment.unit).reverse();
                const found = lines.filter(
                    (line) =>
                        (shownKinds.length === 0 || shownKinds.includes(line.kind) || (shownKinds.includes("trouble") && line.trouble)) &&
                        (q === "" || line.text.toLowerCase().includes(q)),
                );
                const exactFound = [...list].reverse().filter((event) => q === "" || JSON.stringify(event).toLowerCase().includes(q));
                const total = exact ? exactFound.length : found.length;
                return (
                    <>
                        <div class="toolbar">
                            <div class="chips" role="group" aria-label={t("events.kinds")}>
                                {!exact &&
                                    [...storyKinds, "trouble" as const].map((kind) => (
                                        <button key={kind} class="chip" aria-pressed={shownKinds.includes(kind)} onClick={() => toggle(kind)}>
                                            {t(`events.kind.${kind}`)}
                                        </button>
                                    ))}
                                {span && (
                                    <button class="chip" aria-pressed="true" title={t("events.span_remove")} onClick={() => query.set({span: ""})}>
                                        {t("plot.timeline.range", {from: formatTime(span[0]), to: formatTime(span[1])})} ×
                                    </button>
                                )}
                                <button class="chip" aria-pressed={exact} onClick={() => query.set({view: exact ? "" : "exact"})}>
                                    {t("events.exact")}
                                </button>
                            </div>
                            <div class="push">
                                <SearchField
                                    value={query.get("q") ?? ""}
                                    label={t("events.search")}
                                    onInput={(text) => query.set({q: text}, {replace: true})}
                                />
                            </div>
                        </div>
                        {total === 0 ? (
                            <Empty title={t("events.nothing")}>
                                <button class="button" onClick={() => query.set({q: "", kind: "", span: ""})}>
                                    {t("list.clear")}
                                </button>
                            </Empty>
                        ) : exact ? (
                            <Exact events={exactFound.slice(0, mostShown)} />
                        ) : (
                            <StoryList experiment={experiment.id} lines={found.slice(0, mostShown)} />
                        )}
                        <p class="muted small events-end">
                            {total > mostShown ? t("events.first_of", {n: mostShown, total}) : tCount("events.count", total)}
                            {more && (
                                <>
                                    {" "}
                                    ·{" "}
                                    <button class="link" onClick={() => setWanted(wanted * 4)}>
                                        {t(span ? "events.more" : "events.older")}
                                    </button>
                                </>
                            )}
                            {" · "}
                            <button
                                class="link"
                                onClick={() => void saveFile(`events?experiment=${experiment.id}&limit=1000`, `events-${experiment.id}.json`)}
                            >
                                {t("events.json")}
                            </button>
                        </p>
                    </>
                );
            }}
        </View>
    );
}
