// Learning curves: chosen trials, or all as a heat map.
import {useMemo, useRef} from "preact/hooks";
import {get} from "../../api/client";
import {numberOf, type Experiment} from "../../api/shapes";
import type {MetricNames} from "../../api/types";
import {useResource} from "../../state/resource";
import {selectionOf} from "../../state/selection";
import {t} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {Empty, View} from "../../design/states";
import {columnOf, fromJson, type Columns} from "../../plot/data/columns";
import {css, rungColour} from "../../plot/drawing/colour";
import {curvesFigure, markedCurves, rungLengths, type Curves, type CurveX, type Density} from "../../plot/curves";
import type {Clip} from "../../plot/drawing/domain";
import {Plot, useLook, type PointerUse} from "../../plot/drawing/frame";
import {plotPace} from "../../plot/history_figure";
import {readLength} from "../../plot/data/compared";
import {keepsAll, KEPT_FIELDS, keptTrials, someOf} from "../../plot/data/kept";
import {Legend, type LegendEntry} from "../../plot/drawing/legend";
import {Choose, FilterChoice, Folded, readFilter, ScaleChoice, scaleIsChosen, Segments, Switch, useChosen} from "../../plot/page_parts";
import type {ScaleKind} from "../../plot/drawing/scale";
import type {ExperimentPageProps} from "../page_props";

const readColumns = async (path: string, signal: AbortSignal): Promise<Columns> => fromJson(await get<Parameters<typeof fromJson>[0]>(path, signal));

export default function Page({experiment, query}: ExperimentPageProps) {
    useChosen(experiment.id, query);
    const names = useResource<MetricNames>(`experiments/${experiment.id}/metrics`);
    const metric = query.get("metric") ?? experiment.metric;
    const group = query.get("group") ?? "";
    const dense = query.get("mode") === "density";
    const many = query.get("n") === "200";
    const chosen = [...selectionOf(experiment.id).selected.value];
    const what = `metric=${encodeURIComponent(metric)}${group ? `&group=${encodeURIComponent(group)}` : ""}`;
    const live = {topic: `experiment:${experiment.id}`, every: plotPace(experiment)};
    const path = `experiments/${experiment.id}/curves?${what}`;
    const filter = readFilter(query);
    const filtered = !dense && !keepsAll(filter);
    // The daemon's own choice has about 60 trials, of all; a sample of its columns names 200, and columns name those that a filter keeps.
    const choice = readLength(query.get("len"));
    const named = filtered ? `fields=${KEPT_FIELDS}${typeof choice === "number" ? `&length=${choice}` : ""}` : many ? "fields=trial&sample=200" : "";
    const sample = useResource<Columns>(named ? `experiments/${experiment.id}/columns?${named}` : null, {...live, read: readColumns});
    const listed = useMemo(() => {
        const trials = sample.data && columnOf(sample.data, "trial");
        if (!sample.data || !trials) return "";
        return someOf(keptTrials(sample.data, filter, experiment.smaller_is_better, choice) ?? [...trials.data], many ? 200 : 60).join(",");
    }, [sample.data, filtered, many, filter.bestShare, filter.fromRung, choice]);
    const none = filtered && sample.data !== undefined && listed === "";
    const answer = useResource<Curves>(
        (named && !sample.data && !sample.problem) || none ? null : `${path}&points=200${listed ? `&trials=${listed}` : ""}`,
        live,
    );
    // The last curves stay while those of other trials load.
    const last = useRef<Curves | undefined>(undefined);
    if (answer.data) last.current = answer.data;
    const before = last.current?.metric === metric && last.current.group === group ? last.current : undefined;
    const curves = none
        ? {...answer, loading: false, data: before && {...before, trials: []}}
        : answer.data || !before
          ? answer
          : {...answer, data: before};
    // Chosen trials that the daemon's own choice leaves out.
    const missing =
        curves.data && !filtered ? chosen.filter((trial) => !curves.data!.trials.some((curve) => curve.trial === trial)).slice(0, 60) : [];
    const extra = useResource<Curves>(missing.length > 0 ? `${path}&trials=${missing.join(",")}` : null, live);
    const density = useResource<Density>(dense ? `${path}&mode=density` : null, live);
    const choices = (names.data?.metrics ?? []).map((each) => ({
        value: each.group ? `${each.group}/${each.name}` : each.name,
        text: each.group ? `${each.group} / ${each.name}` : each.name,
    }));
    const current = group ? `${group}/${metric}` : metric;
    return (
        <View resource={curves}>
            {(data) => {
                const joined = extra.data && missing.length > 0 ? {...data, trials: [...data.trials, ...extra.data.trials]} : data;
                return joined.trials.length === 0 && !density.data && !filtered ? (
                    <Empty title={t("plot.curves.none_title", {metric})} ways={[[`e/${experiment.id}/trials`, "tab.trials"]]}>
                        <p>
                            {experiment.trials_total === 0 && experiment.waits_for
                                ? t("overview.waits", {why: experiment.waits_for})
                                : t("plot.curves.none_text", {metric})}
                        </p>
                    </Empty>
                ) : (
                    <CurvesView
                        experiment={experiment}
                        query={query}
                        captured={[]}
                        curves={joined}
                        density={dense ? (density.data ?? null) : null}
                        metrics={choices.some((each) => each.value === current) ? choices : [{value: current, text: current}, ...choices]}
                        current={current}
                    />
                );
            }}
        </View>
    );
}

interface ViewProps extends ExperimentPageProps {
    readonly curves: Curves;
    readonly density: Density | null;
    readonly metrics: readonly {value: string; text: string}[];
    readonly current: string;
}

function CurvesView({experiment, query, curves, density, metrics, current}: ViewProps) {
    const look = useLook();
    const x: CurveX = query.get("x") === "time" ? "time" : "step";
    const zoomText = query.list("zoom").map(Number);
    const zoom =
        zoomText.length === 2 && zoomText.every(Number.isFinite) && zoomText[0]! < zoomText[1]! ? ([zoomText[0]!, zoomText[1]!] as const) : null;
    const smooth = Math.min(0.95, Math.max(0, query.number("smooth") ?? 0));
    const options = {
        x,
        logX: query.get("xlog") === "1",
        kind: (query.get("y") as ScaleKind | undefined) ?? "linear",
        clip: (query.get("clip") as Clip | undefined) ?? "auto",
        smooth,
        startedAt: experiment.first_lease_at ?? experiment.created_at,
        best: bestOf(experiment),
        zoom,
        small: false,
        colour: "rung" as const,
    };
    const choose = (value: string) => {
        const slash = value.lastIndexOf("/");
        query.set({metric: slash < 0 ? value : value.slice(slash + 1), group: slash < 0 ? undefined : value.slice(0, slash), zoom: undefined});
    };
    return (
        <>
            <Plot
                name="curves"
                label={t("tab.curves")}
                experiment={experiment.id}
                height={(width) => (width < 500 ? 320 : 460)}
                make={(size, each) => curvesFigure(curves, density, options, size, each)}
                deps={[
                    curves,
                    density,
                    x,
                    options.logX,
                    options.kind,
                    options.clip,
                    smooth,
                    query.get("zoom"),
                    options.best?.trial,
                    options.best?.metric,
                ]}
                pointer={useZoom(query)}
                controls={
                    <>
                        {metrics.length > 1 && <Choose label={t("plot.curves.metric")} value={current} choices={metrics} onChange={choose} />}
                        <Segments
                            label={t("plot.curves.mode")}
                            value={query.get("mode") === "density" ? "density" : query.get("n") === "200" ? "200" : "60"}
                            choices={[
                                {value: "60", text: t("plot.curves.some", {n: 60})},
                                {value: "200", text: t("plot.curves.some", {n: 200})},
                                {value: "density", text: t("plot.curves.all")},
                            ]}
                            onChange={(value) => query.set({mode: value === "density" ? value : undefined, n: value === "200" ? value : undefined})}
                        />
                        <Segments<CurveX>
                            label={t("plot.x_axis")}
                            value={x}
                            choices={[
                                {value: "step", text: curves.unit || t("plot.curves.step")},
                                {value: "time", text: t("plot.history.time")},
                            ]}
                            onChange={(value) => query.set({x: value === "step" ? undefined : value, zoom: undefined})}
                        />
                        <Folded used={options.logX || !keepsAll(readFilter(query)) || scaleIsChosen(query) || smooth > 0}>
                            {!density && <FilterChoice query={query} experiment={experiment} />}
                            <ScaleChoice query={query} />
                            {x === "step" && (
                                <Switch
                                    label={t("plot.curves.log_x")}
                                    on={options.logX}
                                    onChange={(on) => query.set({xlog: on ? 1 : undefined, zoom: undefined})}
                                />
                            )}
                            <Switch label={t("plot.curves.smooth")} on={smooth > 0} onChange={(on) => query.set({smooth: on ? 0.7 : undefined})} />
                        </Folded>
                        {query.get("mode") === "density" && !density && (
                            <span class="muted small" role="status">
                                {t("plot.curves.density_loads")}
                            </span>
                        )}
                        {zoom && (
                            <button type="button" class="plot-chip" onClick={() => query.set({zoom: undefined})}>
                                {t("plot.unzoom")} ×
                            </button>
                        )}
                    </>
                }
            />
            <CurvesKey
                curves={density ? {...curves, trials: []} : curves}
                best={options.best?.trial}
                dark={look.theme.dark}
                ink={look.theme.ink}
                faint={look.theme.faint}
            />
        </>
    );
}

/// The search's best, as every page and the command line have it.
const bestOf = ({best, metric}: Experiment) =>
    best ? {trial: best.trial, name: metric, metric: numberOf(best.metric), step: numberOf(best.step)} : null;

/// The colours of rungs and the marks on curves.
function CurvesKey({curves, best, dark, ink, faint}: {curves: Curves; best: number | undefined; dark: boolean; ink: string; faint: string}) {
    const lengths = rungLengths(curves);
    const seen = new Set(markedCurves(curves, best).flatMap((curve) => curve.events.map((event) => event.what)));
    const entries: LegendEntry[] = [
        ...lengths.map((length, rung) => ({
            shape: "square" as const,
            colour: css(rungColour(rung, lengths.length, dark)),
            text: t("plot.curves.reached", {amount: amount(length, curves.unit)}),
        })),
        ...(
            [
                ["promoted", "triangle", ink],
                ["paused", "pause", ink],
                ["stopped", "cross", faint],
                ["restarted", "restart", ink],
                ["finished", "diamond", ink],
            ] as const
        )
            .filter(([what]) => seen.has(what))
            .map(([what, shape, colour]) => ({shape, colour, text: t(`plot.curves.is_${what}`)})),
    ];
    return <Legend entries={entries} />;
}

/// Dragging across the plot zooms into a part of the x axis; a double click on empty ground goes back.
function useZoom(query: ExperimentPageProps["query"]): (figure: import("../../plot/drawing/figure").Figure) => PointerUse {
    const start = useRef<number | null>(null);
    return (figure) => ({
        down: (x, y) => {
            if (figure.hitAt?.(x, y)) return false;
            start.current = x;
            return true;
        },
        move: () => {},
        up: (x) => {
            const from = start.current;
            start.current = null;
            const value = figure.valueAtX;
            if (from === null || !value || Math.abs(x - from) < 8) return;
            const ends = [value(Math.min(from, x)), value(Math.max(from, x))].map((each) => Number(each.toPrecision(5)));
            query.set({zoom: ends.join(",")});
        },
        double: (x, y) => {
            if (figure.hitAt?.(x, y)) return false;
            query.set({zoom: undefined});
            return true;
        },
    });
}
