// Slots over time: what ran where, and which slots idled.
import {useRef, useState} from "preact/hooks";
import {t} from "../../i18n/texts";
import {formatTime} from "../../i18n/format";
import {useResource} from "../../state/resource";
import {printSpan, readSpan, type Span} from "../../state/span";
import {Link} from "../../design/link";
import {Empty, View} from "../../design/states";
import {Plot, useLook, type PointerUse} from "../../plot/drawing/frame";
import {plotPace} from "../../plot/history_figure";
import {Legend} from "../../plot/drawing/legend";
import {useChosen} from "../../plot/page_parts";
import {isLane, withLanes} from "../../plot/timeline_lanes";
import {OUTCOMES, timelineFigure, timelineHeight, type Timeline, type TimelineFigure} from "../../plot/timeline";
import type {ExperimentPageProps} from "../page_props";

export default function Page({experiment, query}: ExperimentPageProps) {
    useChosen(experiment.id, query);
    const from = query.number("from");
    const to = query.number("to");
    const part = from !== undefined && to !== undefined && to > from ? `?from=${from}&to=${to}` : "";
    const resource = useResource<Timeline>(
        `experiments/${experiment.id}/timeline${part}`,
        part ? {} : {topic: `experiment:${experiment.id}`, every: plotPace(experiment)},
    );
    return (
        <View resource={resource}>
            {(data) =>
                data.slots.length === 0 ? (
                    <Empty title={t("plot.timeline.none_title")} ways={[["workers", "nav.workers"]]}>
                        <p>{t("plot.timeline.none_text")}</p>
                    </Empty>
                ) : (
                    <TimelineView experiment={experiment} query={query} captured={[]} timeline={withLanes(data)} />
                )
            }
        </View>
    );
}

function TimelineView({experiment, query, timeline}: ExperimentPageProps & {timeline: Timeline}) {
    const {theme} = useLook();
    const [moving, setBrush] = useState<Span | null>(null);
    const settled = readSpan(query);
    const brush = moving ?? settled;
    const settle = (next: Span | null) => {
        setBrush(null);
        query.set({span: next ? printSpan(next) : undefined}, {replace: true});
    };
    const start = useRef<number | null>(null);
    const startedAt = experiment.first_lease_at ?? experiment.created_at;
    const pointer = (figure: TimelineFigure): PointerUse => {
        const value = (x: number) => figure.valueAtX!(Math.min(figure.right, Math.max(figure.left, x)));
        return {
            down: (x, y) => {
                // A press on a bar selects its trial; one beside bars begins a range of time.
                if (figure.hitAt?.(x, y)?.trial !== undefined && figure.hitAt(x, y)!.trial >= 0) return false;
                if (x < figure.left || x > figure.right) return false;
                start.current = value(x);
                return true;
            },
            move: (x) => {
                const at = value(x);
                if (start.current !== null) setBrush([Math.min(start.current, at), Math.max(start.current, at)]);
            },
            up: (x) => {
                const at = value(x);
                if (start.current !== null)
                    settle(
                        Math.abs(at - start.current) < (timeline.to - timeline.from) / 200
                            ? null
                            : [Math.min(start.current, at), Math.max(start.current, at)],
                    );
                start.current = null;
            },
            cursor: () => "",
            key: (event) => {
                if (event.key !== "b") return false;
                const size = timeline.to - timeline.from;
                settle(brush ? null : [timeline.from + size * 0.4, timeline.from + size * 0.6]);
                return true;
            },
        };
    };
    const outcomes = OUTCOMES.filter((outcome) => timeline.bars?.some((bar) => bar.outcome === outcome));
    const trials =
        brush && timeline.bars
            ? new Set(timeline.bars.filter((bar) => bar.from <= brush[1] && (bar.to ?? timeline.now) >= brush[0]).map((bar) => bar.trial))
            : null;
    return (
        <>
            <Plot
                name="timeline"
                label={t("tab.timeline")}
                experiment={experiment.id}
                height={() => timelineHeight(timeline)}
                minWidth={320}
                make={(size, look) => timelineFigure(timeline, startedAt, brush, size, look)}
                deps={[timeline, startedAt, brush?.[0], brush?.[1]]}
                pointer={(figure) => pointer(figure as TimelineFigure)}
                controls={
                    <>
                        <Legend
                            entries={[
                                ...outcomes.map((outcome) => ({
                                    shape: "square" as const,
                                    colour: theme.states[outcome]!,
                                    text: t(`plot.timeline.is_${outcome}`),
                                })),
                                ...(timeline.slots.every(isLane)
                                    ? []
                                    : [{shape: "hatch" as const, colour: theme.rule, text: t("plot.timeline.is_idle")}]),
                                ...(timeline.slots.some((slot) => slot.taken > 0)
                                    ? [{shape: "square" as const, colour: theme.faint, text: t("plot.timeline.is_taken")}]
                                    : []),
                                ...(timeline.slots.some((slot) => slot.away > 0)
                                    ? [{shape: "bar" as const, colour: theme.rule, text: t("plot.timeline.is_away")}]
                                    : []),
                                ...(timeline.quarantines.length > 0
                                    ? [{shape: "hatch" as const, colour: theme.states["waiting"]!, text: t("plot.timeline.is_quarantined")}]
                                    : []),
                            ]}
                        />
                        {timeline.bins && <span class="muted small">{t("plot.timeline.binned")}</span>}
                        {query.get("from") && (
                            <button type="button" class="plot-chip" onClick={() => query.set({from: undefined, to: undefined})}>
                                {t("plot.unzoom")} ×
                            </button>
                        )}
                    </>
                }
            />
            {brush ? (
                <div class="plot-moments" role="status">
                    <span class="small">
                        {t("plot.timeline.range", {from: formatTime(brush[0]), to: formatTime(brush[1])})}
                        {trials && ` · ${t("plot.timeline.trials", {n: trials.size})}`}
                    </span>
                    <button
                        type="button"
                        class="button"
                        onClick={() => {
                            const [start, end] = printSpan(brush).split(",");
                            query.set({from: start, to: end, span: undefined});
                        }}
                    >
                        {t("plot.timeline.zoom")}
                    </button>
                    <Link
                        class="button"
                        to={`e/${experiment.id}/trials?where=${encodeURIComponent(`created_at<=${brush[1].toFixed(3)} and not ended_at<${brush[0].toFixed(3)}`)}`}
                    >
                        {t("plot.timeline.table")}
                    </Link>
                    <Link class="button" to={`e/${experiment.id}/events?span=${printSpan(brush)}`}>
                        {t("plot.timeline.story")}
                    </Link>
                    <button type="button" class="button quiet" onClick={() => settle(null)}>
                        {t("plot.timeline.clear")}
                    </button>
                </div>
            ) : (
                <p class="muted small">{t("plot.timeline.how")}</p>
            )}
        </>
    );
}
