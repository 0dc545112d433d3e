// One parameter against the metric, any two against each other, or the mean over two.
import {useMemo, useRef, useState} from "preact/hooks";
import {t} from "../../i18n/texts";
import {columnOf} from "../../plot/data/columns";
import {ColumnsFrame, type ComparedProps} from "../../plot/data/columns_frame";
import {contourFigure} from "../../plot/contour";
import {Plot, useLook, type PointerUse} from "../../plot/drawing/frame";
import {LengthsKey} from "../../plot/lengths_key";
import {Choose, FilterChoice, Folded, readFilter, ScaleChoice, scaleIsChosen, Segments, useChosen} from "../../plot/page_parts";
import {keepRows, makeScratch} from "../../plot/parallel";
import {labelOf, parallelModel, varyingNames, type ParallelAxis, type ParallelModel} from "../../plot/data/parallel_model";
import {scatterFigure, WHOLE, type ScatterFigure, type View} from "../../plot/scatter";
import type {ExperimentPageProps} from "../page_props";

const firstSlices = 12;
type Mode = "slice" | "pair" | "contour";

export default function Page({experiment, query}: ExperimentPageProps) {
    useChosen(experiment.id, query);
    return (
        <ColumnsFrame experiment={experiment} query={query}>
            {(compared) => <Scatter experiment={experiment} query={query} captured={[]} {...compared} />}
        </ColumnsFrame>
    );
}

function Scatter({experiment, query, columns, space, metricLabel, lengthChooser}: ExperimentPageProps & ComparedProps) {
    const names = useMemo(() => [...varyingNames(columns), ...(columnOf(columns, "reached") ? ["reached"] : []), "metric"], [columns]);
    const key = names.join("\n");
    const model = useMemo(
        () =>
            parallelModel(columns, names, {
                smallerIsBetter: experiment.smaller_is_better,
                metricLabel,
                lengthLabel: experiment.unit || t("plot.length"),
                space,
                rungCount: experiment.rungs.length,
                logMetric: query.get("y") === "log",
                clip: query.get("clip") === "off" ? "off" : query.get("clip") === "on" ? "on" : "auto",
            }),
        [columns, columns.filled, key, query.get("y"), query.get("clip"), metricLabel, space],
    );
    const filter = readFilter(query);
    const {keep, kept} = useMemo(() => {
        const scratch = makeScratch();
        const count = keepRows(model, {brushes: {}, flipped: new Set(), coarse: false, ...filter}, scratch);
        return {keep: scratch.keep, kept: count};
    }, [model, filter.bestShare, filter.fromRung]);
    const mode: Mode = (["pair", "contour"] as const).find((each) => each === query.get("mode")) ?? "slice";
    const axisOf = (name: string | undefined, otherwise: number) =>
        model.axes.find((axis) => axis.name === name) ?? model.axes[Math.min(otherwise, model.axes.length - 1)]!;
    const x = axisOf(query.get("px"), 0);
    const y = axisOf(query.get("py"), 1);
    const look = useLook();
    const choices = model.axes.map((axis) => ({value: axis.name, text: labelOf(axis.label)}));
    const controls = (
        <>
            <Segments<Mode>
                label={t("plot.scatter.mode")}
                value={mode}
                onChange={(value) => query.set({mode: value === "slice" ? undefined : value})}
                choices={[
                    {value: "slice", text: t("plot.scatter.slices")},
                    {value: "pair", text: t("plot.scatter.pair")},
                    {value: "contour", text: t("plot.scatter.contour")},
                ]}
            />
            {mode !== "slice" && (
                <>
                    <Choose
                        label={t("plot.scatter.x")}
                        value={x.name}
                        choices={choices}
                        onChange={(value) => query.set({px: value, view: undefined})}
                    />
                    <Choose
                        label={t("plot.scatter.y")}
                        value={y.name}
                        choices={choices}
                        onChange={(value) => query.set({py: value, view: undefined})}
                    />
                </>
            )}
            {mode === "pair" && (
                <Segments
                    label={t("plot.scatter.colour")}
                    value={query.get("colour") === "rung" ? "rung" : "metric"}
                    choices={[
                        {value: "metric", text: t("plot.scatter.by_rank")},
                        {value: "rung", text: t("plot.scatter.by_rung")},
                    ]}
                    onChange={(value) => query.set({colour: value === "rung" ? value : undefined})}
                />
            )}
            {lengthChooser}
            <FilterChoice query={query} experiment={experiment} />
            <Folded used={scaleIsChosen(query)}>
                <ScaleChoice query={query} />
            </Folded>
        </>
    );
    const byRung = mode === "slice" || query.get("colour") === "rung";
    const legend = mode !== "contour" && byRung ? <LengthsKey experiment={experiment} count={model.rungCount} dark={look.theme.dark} /> : null;
    const shared = {model, keep, kept, experiment, query, captured: []};
    if (mode === "slice")
        return (
            <>
                <div class="plot-bar">
                    <div class="plot-controls">{controls}</div>
                </div>
                {legend}
                <Slices {...shared} />
            </>
        );
    if (mode === "contour") {
        return (
            <Plot
                name="contour"
                label={t("tab.scatter")}
                experiment={experiment.id}
                height={460}
                controls={controls}
                make={(size, each) => contourFigure(model, x, y, keep, experiment.smaller_is_better, size, each)}
                deps={[model, x, y, keep]}
            />
        );
    }
    return (
        <>
            <Pair {...shared} x={x} y={y} controls={controls} />
            {legend}
        </>
    );
}

interface PartProps extends ExperimentPageProps {
    readonly model: ParallelModel;
    readonly keep: Uint8Array;
    readonly kept: number;
}

/// A small plot for each parameter.
function Slices({model, keep, kept, experiment, query}: PartProps) {
    const all = query.get("all") === "1";
    const metric = model.axes[model.axes.length - 1]!;
    const axes = model.axes.slice(0, -1);
    const shown = all ? axes : axes.slice(0, firstSlices);
    return (
        <>
            <p class="plot-lead">{t("plot.scatter.slice_lead", {metric: metric.label})}</p>
            <div class="plot-smalls">
                {shown.map((x) => (
                    <Plot
                        key={x.name}
                        name="slice"
                        label={t("plot.scatter.slice", {x: x.label, y: metric.label})}
                        experiment={experiment.id}
                        height={210}
                        quiet
                        make={(size, look) => scatterFigure(model, {x, y: metric, colour: "rung", view: WHOLE, keep, kept, small: true}, size, look)}
                        deps={[model, x, keep]}
                    />
                ))}
            </div>
            {axes.length > firstSlices && !all && (
                <p class="section">
                    <button type="button" class="button" onClick={() => query.set({all: 1})}>
                        {t("plot.scatter.show_all", {n: axes.length})}
                    </button>
                </p>
            )}
        </>
    );
}

function Pair({
    model,
    keep,
    kept,
    experiment,
    query,
    x,
    y,
    controls,
}: PartProps & {x: ParallelAxis; y: ParallelAxis; controls: preact.ComponentChildren}) {
    const stored = query.list("view").map(Number);
    const inAddress: View =
        stored.length === 4 && stored.every(Number.isFinite) && stored[1]! > stored[0]! && stored[3]! > stored[2]!
            ? {x0: stored[0]!, x1: stored[1]!, y0: stored[2]!, y1: stored[3]!}
            : WHOLE;
    const [moving, setMoving] = useState<View | null>(null);
    const view = moving ?? inAddress;
    const pan = useRef<{x: number; y: number; view: View} | null>(null);
    const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
    const settle = (next: View) => {
        setMoving(null);
        const text = [next.x0, next.x1, next.y0, next.y1].map((each) => Number(each.toFixed(4))).join(",");
        query.set({view: next.x1 - next.x0 > 0.999 && next.y1 - next.y0 > 0.999 ? undefined : text}, {replace: true});
    };
    const pointer = (figure: ScatterFigure): PointerUse => {
        const wide = figure.box.right - figure.box.left;
        const tall = figure.box.bottom - figure.box.top;
        const at = (px: number, py: number): View => {
            const from = pan.current!;
            const dx = ((from.x - px) / wide) * (from.view.x1 - from.view.x0);
            const dy = ((py - from.y) / tall) * (from.view.y1 - from.view.y0);
            return {x0: from.view.x0 + dx, x1: from.view.x1 + dx, y0: from.view.y0 + dy, y1: from.view.y1 + dy};
        };
        return {
            down: (px, py) => {
                if (view === WHOLE || figure.hitAt?.(px, py)) return false;
                pan.current = {x: px, y: py, view};
                return true;
            },
            move: (px, py) => setMoving(at(px, py)),
            up: (px, py) => {
                settle(at(px, py));
                pan.current = null;
            },
            wheel: (px, py, event) => {
                // Without a modifier the wheel scrolls the page.
                if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
                event.preventDefault();
                settleSoon(
                    zoomed(view, (px - figure.box.left) / wide, (figure.box.bottom - py) / tall, Math.exp((event.deltaY || event.deltaX) * 0.002)),
                );
            },
            double: (px, py) => {
                if (figure.hitAt?.(px, py)) return false;
                settle(WHOLE);
                return true;
            },
            key: (event) => {
                if (event.key !== "+" && event.key !== "-" && event.key !== "0") return false;
                settle(event.key === "0" ? WHOLE : zoomed(view, 0.5, 0.5, event.key === "+" ? 0.7 : 1.4));
                return true;
            },
        };
    };
    const settleSoon = (next: View) => {
        setMoving(next);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => settle(next), 400);
    };
    return (
        <>
            <Plot
                name="scatter"
                label={t("tab.scatter")}
                experiment={experiment.id}
                height={460}
                controls={controls}
                pointer={(figure) => pointer(figure as ScatterFigure)}
                make={(size, look) =>
                    scatterFigure(
                        model,
                        {x, y, colour: query.get("colour") === "rung" ? "rung" : "metric", view, keep, kept, small: false},
                        size,
                        look,
                    )
                }
                deps={[model, x, y, keep, view, query.get("colour")]}
            />
            <p class="muted small">{t("plot.scatter.how")}</p>
        </>
    );
}

/// The view after a zoom around a place of it; never more than the whole.
export function zoomed(view: View, x: number, y: number, factor: number): View {
    const part = (from: number, to: number, place: number): [number, number] => {
        const size = Math.min(1, Math.max(0.002, (to - from) * factor));
        const start = Math.min(1 - size, Math.max(0, from + (to - from) * place - size * place));
        return [start, start + size];
    };
    const [x0, x1] = part(view.x0, view.x1, x);
    const [y0, y1] = part(view.y0, view.y1, y);
    return x1 - x0 >= 1 && y1 - y0 >= 1 ? WHOLE : {x0, x1, y0, y1};
}
