/** A parallel plot with its axes and their brushes, as the address holds them: axes and b. */
import type {ComponentChildren} from "preact";
import {useMemo, useRef, useState} from "preact/hooks";
import {t} from "../i18n/texts";
import type {Query} from "../state/router";
import {parse, print, type Brushes} from "./brush";
import type {ParallelModel} from "./data/parallel_model";
import {Plot, type PlotProps, type PointerUse} from "./drawing/frame";
import type {Filter} from "./data/kept";
import {makeScratch, parallelFigure, type ParallelFigure} from "./parallel";
import {useBrushing} from "./parallel_brushing";

export interface AxesChoice {
    readonly names: readonly string[];
    readonly flipped: ReadonlySet<string>;
    /** No names: the usual axes. */
    readonly setAxes: (names: readonly string[]) => void;
    readonly flip: (axis: number) => void;
    readonly reorder: (from: number, to: number) => void;
}

/** The axes of the address that exist; else the usual ones. */
export function useAxes(query: Query, usual: readonly string[], exists: (name: string) => boolean): AxesChoice {
    const text = query.get("axes");
    const listed = query
        .list("axes")
        .map((name) => name.replace(/^~/, ""))
        .filter(exists);
    const names = listed.length > 0 ? listed : usual;
    const flipped = useMemo(
        () =>
            new Set(
                query
                    .list("axes")
                    .filter((name) => name.startsWith("~"))
                    .map((name) => name.slice(1)),
            ),
        [text],
    );
    const setAxes = (next: readonly string[], flips: ReadonlySet<string> = flipped) =>
        query.set({axes: next.length === 0 ? undefined : next.map((name) => (flips.has(name) ? `~${name}` : name)).join(",")});
    return {
        names,
        flipped,
        setAxes: (next) => setAxes(next),
        flip: (axis) => {
            const next = new Set(flipped);
            if (!next.delete(names[axis]!)) next.add(names[axis]!);
            setAxes(names, next);
        },
        reorder: (from, to) => {
            const next = [...names];
            next.splice(to, 0, ...next.splice(from, 1));
            setAxes(next);
        },
    };
}

export interface BrushesChoice {
    /** Those of the address. */
    readonly settled: Brushes;
    /** Those that are drawn: a drag changes them before it is over. */
    readonly brushes: Brushes;
    readonly coarse: boolean;
    readonly flipped: ReadonlySet<string>;
    readonly pointer: (figure: ParallelFigure) => PointerUse;
}

export function useBrushes(query: Query, model: ParallelModel, {flipped, flip, reorder}: AxesChoice): BrushesChoice {
    const settled = useMemo(() => parse(query.get("b") ?? ""), [query.get("b")]);
    const [moving, setMoving] = useState<Brushes | null>(null);
    const brushes = moving ?? settled;
    const frame = useRef(0);
    const pointer = useBrushing({
        model,
        brushes,
        flip,
        reorder,
        brush: (next, done) => {
            cancelAnimationFrame(frame.current);
            if (done) {
                setMoving(null);
                query.set({b: print(next)}, {replace: true});
            } else frame.current = requestAnimationFrame(() => setMoving(next));
        },
    });
    return {settled, brushes, coarse: moving !== null, flipped, pointer};
}

export interface ParallelPlotProps extends Pick<PlotProps, "experiment" | "onSelect"> {
    readonly model: ParallelModel;
    readonly brushing: BrushesChoice;
    readonly filter: Filter;
    readonly controls?: ComponentChildren;
}

export function ParallelPlot({model, brushing, filter, ...others}: ParallelPlotProps) {
    const scratch = useRef(makeScratch());
    const {brushes, flipped, coarse, pointer} = brushing;
    return (
        <Plot
            name="parallel"
            label={t("tab.parallel")}
            height={(width) => (width < 700 ? 380 : 480)}
            minWidth={Math.max(320, model.axes.length * 84)}
            make={(size, look) => parallelFigure(model, {brushes, flipped, coarse, ...filter}, scratch.current, size, look)}
            deps={[model, brushes, flipped, filter.bestShare, filter.fromRung, coarse]}
            pointer={(figure) => pointer(figure as ParallelFigure)}
            {...others}
        />
    );
}
