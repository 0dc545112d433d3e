/** History and states over time of one experiment: for the overview, and larger on a page of its own. */
import {useMemo} from "preact/hooks";
import type {Experiment} from "../api/shapes";
import {daemonNow} from "../api/client";
import {t, tWord} from "../i18n/texts";
import {useResource} from "../state/resource";
import type {Query} from "../state/router";
import {View} from "../design/states";
import {columnOf, numbersOf, wordOf, type Columns} from "./data/columns";
import type {LengthChoice} from "./data/compared";
import type {Clip} from "./drawing/domain";
import {css, parseColour} from "./drawing/colour";
import {Plot, say, useLook} from "./drawing/frame";
import {historyFigure, startOf, type History, type HistoryX, type Results} from "./history";
import {keptTrials, type Filter} from "./data/kept";
import type {ScaleKind} from "./drawing/scale";
import {Legend} from "./drawing/legend";
import {LAYERS, opacityOf, statesFigure, type Lives} from "./data/states_over_time";
import type {Timeline} from "./timeline";
import {useColumns} from "./data/use_columns";
import {Segments} from "./page_parts";

const RUNNING_BINS = 200;

export const plotPace = (experiment: Experiment) => (experiment.trials_total > 20000 ? 5000 : 2000);

export function useHistory(experiment: Experiment) {
    return useResource<History>(`experiments/${experiment.id}/history`, {topic: `experiment:${experiment.id}`, every: plotPace(experiment)});
}

/** The columns that the history and the states over time are drawn from. */
export const HISTORY_FIELDS = "trial,state,result,metric,nonfinite,rung,created_at,started_at,reported_at,ended_at";

/** The best result of every kept trial, at the time of its report; one that reported only NaN or infinity stands at its end. */
export function resultsOf(columns: Columns | null, x: HistoryX, history: History, kept: ReadonlySet<number> | null = null): Results | null {
    const trials = columns && columnOf(columns, "trial");
    const metric = columns && columnOf(columns, "metric");
    if (!columns || !trials || !metric || x === "slot_seconds") return null;
    const times = ["reported_at", "ended_at"].flatMap((name) => columnOf(columns, name)?.data ?? []);
    const startedAt = startOf(history);
    const values = numbersOf(metric, columns.filled);
    const odd = columnOf(columns, "nonfinite");
    // One that has reported nothing, running or failed, has no place in the picture.
    let rows = Array.from(values, (_, row) => row).filter((row) => !Number.isNaN(values[row]!) || (odd && wordOf(odd, row) !== ""));
    if (kept) rows = rows.filter((row) => kept.has(trials.data[row]!));
    return {
        trials: rows.map((row) => trials.data[row]!),
        metric: Float64Array.from(rows, (row) => values[row]!),
        x: Float64Array.from(rows, (row) =>
            x === "trials" ? row + 1 : (times.map((time) => time[row]!).find((time) => !Number.isNaN(time)) ?? NaN) - startedAt,
        ),
    };
}

/** What the x axis counts, in the address as x. */
export const readX = (query: Query, usual: HistoryX): HistoryX =>
    (["time", "trials", "slot_seconds"] as const).find((each) => each === query.get("x")) ?? usual;

export function XChoice({query, usual}: {query: Query; usual: HistoryX}) {
    return (
        <Segments<HistoryX>
            label={t("plot.x_axis")}
            value={readX(query, usual)}
            onChange={(value) => query.set({x: value === usual ? undefined : value})}
            choices={[
                {value: "time", text: t("plot.history.time")},
                {value: "trials", text: t("plot.history.trials")},
                {value: "slot_seconds", text: t("plot.history.slots")},
            ]}
        />
    );
}

/** Keeps all trials. */
export const EVERY: Filter = {bestShare: 1, fromRung: 0};

export interface HistoryViewProps {
    readonly experiment: Experiment;
    readonly history: History;
    readonly columns: Columns | null;
    readonly x?: HistoryX;
    readonly kind?: ScaleKind;
    readonly clip?: Clip;
    readonly height?: number;
    readonly quiet?: boolean;
    readonly filter?: Filter;
    /** What the filter compares by. */
    readonly choice?: LengthChoice;
    readonly others?: readonly {readonly name: string; readonly history: History}[];
    readonly controls?: preact.ComponentChildren;
}

export function HistoryPlot(props: HistoryViewProps) {
    const {experiment, history, columns, x = "time", kind = "linear", clip = "auto", others = [], filter = EVERY} = props;
    const results = useMemo(() => {
        const kept = keptTrials(columns, filter, experiment.smaller_is_better, props.choice);
        return resultsOf(columns, x, history, kept && new Set(kept));
    }, [columns, columns?.filled, x, history, filter.bestShare, filter.fromRung, props.choice]);
    // Without a number an axis would be made up.
    if (history.points.length === 0 && others.every((other) => other.history.points.length === 0)) {
        const reported = results !== null && results.metric.length > 0;
        return (
            <>
                {props.controls && <div class="plot-bar">{props.controls}</div>}
                <p class="muted">{t(reported ? "plot.curves.sentence_nonfinite" : "plot.history.sentence_none", {metric: history.metric})}</p>
            </>
        );
    }
    return (
        <Plot
            name="history"
            label={t("tab.history")}
            experiment={experiment.id}
            height={props.height ?? 260}
            quiet={props.quiet ?? false}
            controls={props.controls}
            make={(size, look) =>
                historyFigure(
                    history,
                    results,
                    {x, kind, clip, unit: experiment.unit, name: experiment.name, small: props.quiet ?? false, others},
                    size,
                    look,
                )
            }
            deps={[history, results, x, kind, clip, others, experiment.unit]}
        />
    );
}

/// `columns`: of all trials; null until they have arrived.
export function StatesOverTime({experiment, columns, height = 200}: {experiment: Experiment; columns: Columns | null; height?: number}) {
    const look = useLook();
    const lives = useMemo(() => (columns ? livesOf(columns) : null), [columns, columns?.filled]);
    const timeline = useResource<Timeline>(`experiments/${experiment.id}/timeline?bins=${RUNNING_BINS}`, {
        topic: `experiment:${experiment.id}`,
        every: plotPace(experiment),
    });
    const bins = timeline.data?.bins;
    const running = useMemo(() => (bins && bins.trials.length > 0 ? bins : null), [bins]);
    if (!lives || lives.created.length === 0 || (!timeline.data && !timeline.problem)) return null; // Else pauses would pass for runs.
    const from = experiment.created_at;
    const to = experiment.ended_at ?? Math.max(daemonNow(), ...lastOf(lives));
    const named = (state: string) =>
        state === "RUNNING" && !running ? say("plot.states.open") : state === "PAUSED" ? say("plot.states.between") : tWord("state", state);
    // Trials that ended say how at the right edge; what they were before stands nowhere else.
    const passed = LAYERS.filter((layer) => layer === "RUNNING" || (layer === "PAUSED" && running !== null));
    const colour = (layer: (typeof LAYERS)[number]) => css(parseColour(look.theme.states[layer.toLowerCase()]!), opacityOf(layer));
    return (
        <>
            <Plot
                name="states"
                label={say("plot.states.label")}
                experiment={experiment.id}
                height={height}
                quiet
                make={(size, each) => statesFigure(lives, running, from, to, named, size, each)}
                deps={[lives, running, from, experiment.ended_at]}
            />
            <Legend entries={passed.map((layer) => ({shape: "square", colour: colour(layer), text: named(layer)}))} />
        </>
    );
}

function lastOf(lives: Lives): number[] {
    let last = 0;
    for (const time of lives.ended) if (time > last) last = time;
    return [last];
}

export function livesOf(columns: Columns): Lives | null {
    const created = columnOf(columns, "created_at");
    const state = columnOf(columns, "state");
    if (!created || !state) return null;
    const numbers = (name: string) => {
        const column = columnOf(columns, name);
        return column ? numbersOf(column, columns.filled) : new Float64Array(columns.filled).fill(NaN);
    };
    return {
        created: numbers("created_at"),
        started: numbers("started_at"),
        ended: numbers("ended_at"),
        state: Array.from({length: columns.filled}, (_, row) => wordOf(state, row)),
    };
}

/** For the overview. */
export default function HistoryFigure({experiment}: {experiment: Experiment}) {
    const history = useHistory(experiment);
    const columns = useColumns(experiment, HISTORY_FIELDS);
    return (
        <View resource={history} rows={4}>
            {(data) => (
                <>
                    <HistoryPlot experiment={experiment} history={data} columns={columns.columns} quiet />
                    <h3 class="plot-sub">{t("plot.states.label")}</h3>
                    <StatesOverTime experiment={experiment} columns={columns.complete ? columns.columns : null} />
                </>
            )}
        </View>
    );
}
