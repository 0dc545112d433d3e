/** Parallel coordinates: one line a trial where they are few, bands where they are many. Pure. */
import type {Box} from "./drawing/axes";
import {filterRows, type Brushes} from "./brush";
import {css, packed, parseColour, rungColour} from "./drawing/colour";
import type {Figure, Hit, Look, Size, Stress} from "./drawing/figure";
import {ownTrial} from "./data/joined_searches";
import {keepFiltered, type Filter} from "./data/kept";
import {countText, metricText, shareText, valueText} from "./drawing/number";
import {bandDensity, BINS, largest, paintDensity, pairCounts} from "./data/pair_counts";
import {NO_PLACE, type ParallelAxis, type ParallelModel} from "./data/parallel_model";
import {fitEnd, fitText, type Pen} from "./drawing/pen";
import {makeRaster} from "./drawing/raster";
import {lineColours, type Theme} from "./drawing/theme";
import {toldApart} from "../i18n/names";

export const MOST_LINES = 2000;
const BEST_LINES = 200;

export interface ParallelOptions extends Filter {
    readonly brushes: Brushes;
    /** Names of flipped axes. */
    readonly flipped: ReadonlySet<string>;
    /** While a brush moves, bands are drawn at half the resolution, and of lines only the best that it keeps. */
    readonly coarse: boolean;
}

/** Arrays that are used again from frame to frame: 100,000 trials would otherwise allocate 10 MB a second. */
export interface Scratch {
    keep: Uint8Array;
    readonly counts: Uint32Array;
    density: Float32Array;
}

export const makeScratch = (): Scratch => ({keep: new Uint8Array(0), counts: new Uint32Array(BINS * BINS), density: new Float32Array(0)});

export interface ParallelFigure extends Figure {
    readonly keep: Uint8Array;
    readonly kept: number;
    axisAt(x: number): number;
    readonly axisX: readonly number[];
    readonly box: Box;
    /** 0–1 of a pixel on an axis, before flipping. */
    positionAt(axis: number, y: number): number;
}

/** The rows that filters and brushes keep; fills `scratch.keep`. */
export function keepRows(model: ParallelModel, options: ParallelOptions, scratch: Scratch): number {
    if (scratch.keep.length !== model.rows) scratch.keep = new Uint8Array(model.rows);
    const keep = scratch.keep;
    keepFiltered(options, model.order, model.rungs, keep);
    return filterRows(
        options.brushes,
        model.axes.map((axis) => axis.name),
        model.axes.map((axis) => axis.positions),
        keep,
        model.rows,
    );
}

/** The trial of a row: its search, where there are several, and its number. */
function trialCells({trials, searches}: ParallelModel, row: number): (string | number)[] {
    if (!searches) return [trials[row]!];
    const [search, trial] = ownTrial(trials[row]!, searches.length);
    return [searches[search]!, trial];
}

/** How sentences call a trial: 7, or 7 (2 wide) where there are several searches. */
function trialName(model: ParallelModel, row: number): string {
    const [name, trial] = trialCells(model, row);
    return trial === undefined ? String(name) : `${trial} (${name})`;
}

/** The colours of rungs, or of searches where there are several. */
export function rowColours({trials, rungs, rungCount, searches}: ParallelModel, theme: Theme): (row: number) => string {
    const several = lineColours(theme);
    if (searches) return (row) => several[ownTrial(trials[row]!, searches.length)[0]]!;
    const colours = Array.from({length: rungCount}, (_, rung) => css(rungColour(rung, rungCount, theme.dark)));
    return (row) => (rungs[row] === 255 ? theme.faint : colours[rungs[row]!]!);
}

/** Names are bold; what is measured is not. */
const NARROWER = 0.88;

export function parallelFigure(model: ParallelModel, options: ParallelOptions, scratch: Scratch, size: Size, look: Look): ParallelFigure {
    const {theme, say} = look;
    const kept = keepRows(model, options, scratch);
    const keep = scratch.keep;
    const {axes, searches} = model;
    const count = axes.length;
    const box = {left: 34, top: 34, right: size.width - 72, bottom: size.height - 34};
    const axisX = axes.map((_, i) => (count === 1 ? (box.left + box.right) / 2 : box.left + ((box.right - box.left) * i) / (count - 1)));
    const gap = count > 1 ? axisX[1]! - axisX[0]! : box.right - box.left;
    const labels = axes.map((axis) => axis.label);
    const flip = axes.map((axis) => options.flipped.has(axis.name));
    const height = box.bottom - box.top;
    const yOf = (axis: number, position: number) =>
        position < 0 ? box.bottom - NO_PLACE * height * 0.9 : flip[axis] ? box.top + position * height : box.bottom - position * height;
    const lines = model.rows <= MOST_LINES;
    const filtered = kept < model.rows;

    const pointsOf = (row: number): Float32Array => {
        const points = new Float32Array(count * 2);
        for (let a = 0; a < count; ++a) {
            points[2 * a] = axisX[a]!;
            points[2 * a + 1] = yOf(a, axes[a]!.positions[row]!);
        }
        return points;
    };
    const colourOf = rowColours(model, theme);

    const rowOf = new Map<number, number>();
    const findRow = (trial: number): number => {
        if (rowOf.size === 0) for (let row = 0; row < model.rows; ++row) rowOf.set(model.trials[row]!, row);
        return rowOf.get(trial) ?? -1;
    };
    const hitOf = (row: number, x: number, y: number): Hit => ({
        trial: model.trials[row]!,
        x,
        y,
        title: say("plot.trial", {trial: trialName(model, row)}),
        lines: [...axes]
            .reverse()
            .slice(0, 12)
            .map((axis) => [axis.label, valueText(axis.value(row))] as const),
    });

    return {
        ...size,
        keep,
        kept,
        axisX,
        box,
        marks: lines ? kept : MOST_LINES * 10,
        sentence: sentence(model, keep, kept, options, look),
        draw(pen) {
            if (lines) drawLines(pen);
            else drawBands(pen);
            axes.forEach((axis, a) => drawAxis(pen, axis, a));
        },
        drawStress(pen, stress) {
            drawStress(pen, stress);
        },
        hitAt(x, y) {
            const row = nearestRow(x, y);
            return row < 0 ? null : hitOf(row, x, y);
        },
        axisAt(x) {
            let best = -1;
            axisX.forEach((at, a) => {
                if (Math.abs(at - x) < 14 && (best < 0 || Math.abs(at - x) < Math.abs(axisX[best]! - x))) best = a;
            });
            return best;
        },
        positionAt(axis, y) {
            const position = (box.bottom - y) / height;
            return flip[axis] ? 1 - position : position;
        },
        table: () => ({
            columns: [...(searches ? [say("tab.label")] : []), say("plot.column.trial"), ...axes.map((axis) => axis.label)],
            rows: Array.from(model.order)
                .filter((row) => keep[row])
                .map((row) => [...trialCells(model, row), ...axes.map((axis) => axis.value(row))]),
        }),
    };

    /** One pass over all trials: the line that is nearest to the pointer between its two axes. */
    function nearestRow(x: number, y: number): number {
        if (count < 2 || x < axisX[0]! - 8 || x > axisX[count - 1]! + 8 || y < box.top - 8 || y > box.bottom + 24) return -1;
        const a = Math.min(count - 2, Math.max(0, Math.floor((x - box.left) / gap)));
        const t = Math.min(1, Math.max(0, (x - axisX[a]!) / gap));
        const left = axes[a]!.positions;
        const right = axes[a + 1]!.positions;
        const target = (box.bottom - y) / height;
        let best = -1;
        let least = 9 / height;
        for (let row = 0; row < model.rows; ++row) {
            if (!keep[row]) continue;
            const p = flip[a] ? 1 - left[row]! : left[row]!;
            const q = flip[a + 1] ? 1 - right[row]! : right[row]!;
            const distance = Math.abs(p + (q - p) * t - target);
            if (distance < least) {
                least = distance;
                best = row;
            }
        }
        return best;
    }

    function drawLines(pen: Pen): void {
        if (filtered && !options.coarse) {
            for (let row = 0; row < model.rows; ++row) if (!keep[row]) pen.line(pointsOf(row), {stroke: theme.rule, alpha: theme.dark ? 0.2 : 0.22});
        }
        const alpha = Math.max(0.16, Math.min(0.85, 14 / Math.sqrt(Math.max(1, kept)) / 2.2));
        let first = model.rows;
        if (options.coarse) {
            first = 0;
            for (let drawn = 0; first < model.rows && drawn < BEST_LINES; ++first) drawn += keep[model.order[first]!]!;
        }
        for (let i = first - 1; i >= 0; --i) {
            const row = model.order[i]!;
            if (keep[row]) pen.line(pointsOf(row), {stroke: colourOf(row), width: i < 10 ? 2 : 1.1, alpha: i < 10 ? 0.95 : alpha});
        }
    }

    function drawBands(pen: Pen): void {
        const across = Math.max(8, Math.round(gap / (options.coarse ? 4 : 2)));
        const down = options.coarse ? 128 : 256;
        if (scratch.density.length !== across * down) scratch.density = new Float32Array(across * down);
        const raster = makeRaster(across, down);
        const all = packed(parseColour(theme.dark ? "#7f8794" : "#9aa1ab"));
        const own = packed(parseColour(theme.accent));
        for (let a = 0; a + 1 < count; ++a) {
            const left = flip[a] ? flippedBins(axes[a]!) : axes[a]!.bins;
            const right = flip[a + 1] ? flippedBins(axes[a + 1]!) : axes[a + 1]!.bins;
            pairCounts(left, right, keep, scratch.counts, model.rows);
            bandDensity(scratch.counts, scratch.density, across, down);
            paintDensity(scratch.density, Math.max(20, largest(scratch.density)), raster.pixels, filtered ? own : all, theme.dark ? 170 : 200);
            pen.image(raster, axisX[a]!, box.top, gap, height);
        }
        // The best few of what is kept, as lines in the colours of rungs.
        const best: number[] = [];
        for (let i = 0; i < model.rows && best.length < BEST_LINES; ++i) if (keep[model.order[i]!]) best.push(model.order[i]!);
        for (const row of best.reverse()) pen.line(pointsOf(row), {stroke: colourOf(row), width: 1, alpha: 0.4});
    }

    function drawAxis(pen: Pen, axis: ParallelAxis, a: number): void {
        const x = axisX[a]!;
        const last = a === count - 1;
        pen.line([x, box.top, x, box.bottom], {stroke: theme.muted, width: 1});
        const room = count === 1 ? 300 : Math.max(40, (a === 0 ? gap / 2 + box.left - 8 : Math.min(gap - 10, 2 * (size.width - x))) * NARROWER);
        const [name, below] = nameLines(pen, axis.label, room);
        const style = {align: a === 0 && count > 1 ? "left" : "center", base: "middle"} as const;
        const at = a === 0 && count > 1 ? 0 : x;
        pen.text(name, at, below === "" ? 12 : 6, {...style, fill: theme.ink, size: 12, weight: axis.name === "metric" ? 680 : 560});
        if (below !== "") pen.text(below, at, 20, {...style, fill: theme.muted, size: 10});
        let lastY = NaN;
        for (const tick of axis.scale.ticks(axis.words ? 24 : Math.max(3, Math.round(height / 60)))) {
            if (!tick.label) continue;
            const y = yOf(a, tick.at);
            if (tick.at < -0.001 || tick.at > 1.001 || Math.abs(y - lastY) < 13) continue;
            lastY = y;
            pen.line([x - 3, y, x + 3, y], {stroke: theme.muted});
            const text = fitText(pen, tick.label, last ? 62 : Math.max(24, gap - 20), 11);
            pen.text(text, x + 7, y, {fill: theme.muted, size: 11, base: "middle", halo: theme.surface});
        }
        if (axis.missing > 0) {
            const y = yOf(a, NO_PLACE);
            pen.text(axis.name === "metric" ? say("plot.nan") : say("plot.parallel.unset"), x + 7, y, {
                fill: theme.bad,
                size: 11,
                base: "middle",
                halo: theme.surface,
            });
            pen.mark("ring", x, y, 6, theme.bad, theme.surface);
        }
        for (const range of options.brushes[axis.name] ?? []) {
            const y1 = yOf(a, flip[a] ? range.from : range.to);
            const y2 = yOf(a, flip[a] ? range.to : range.from);
            pen.rect(x - 7, y1, 14, Math.max(3, y2 - y1), theme.accent, 3, 0.22);
            pen.frame(x - 7, y1, 14, Math.max(3, y2 - y1), {stroke: theme.accent, width: 1.5}, 3);
        }
    }

    /** A long name in two lines: what it has in common with others stands in the second, as do the last words of a sentence. */
    function nameLines(pen: Pen, label: string, room: number): readonly [string, string] {
        if (pen.textWidth(label, 12) <= room) return [label, ""];
        const words = label.split(" ");
        const halves = words.slice(1).map((_, n) => [words.slice(0, n + 1).join(" "), words.slice(n + 1).join(" ")] as const);
        const widest = ([first, second]: readonly [string, string]) => Math.max(pen.textWidth(first, 12), pen.textWidth(second, 10));
        const best = halves.sort((a, b) => widest(a) - widest(b))[0];
        if (best) return [fitText(pen, best[0], room, 12), fitText(pen, best[1], room, 10)];
        const {own, shared} = toldApart(labels, Math.floor(room / 7)).get(label)!;
        return [fitText(pen, own, room, 12), fitEnd(pen, shared, room, 10)];
    }

    function drawStress(pen: Pen, stress: Stress): void {
        for (const trial of [...stress.selected].slice(0, 60)) {
            const row = findRow(trial);
            if (row < 0) continue;
            pen.line(pointsOf(row), {stroke: theme.surface, width: 5});
            pen.line(pointsOf(row), {stroke: theme.accent, width: 2.5});
        }
        const hovered = stress.hovered === null ? -1 : findRow(stress.hovered);
        if (hovered < 0) return;
        const points = pointsOf(hovered);
        pen.line(points, {stroke: theme.surface, width: 5});
        pen.line(points, {stroke: theme.ink, width: 2});
        for (let a = 0; a < count; ++a) pen.mark("circle", points[2 * a]!, points[2 * a + 1]!, 6, theme.ink);
    }
}

const flips = new WeakMap<Uint8Array, Uint8Array>();

function flippedBins(axis: ParallelAxis): Uint8Array {
    let bins = flips.get(axis.bins);
    if (!bins) {
        bins = axis.bins.map((bin) => (bin < BINS ? BINS - 1 - bin : bin));
        flips.set(axis.bins, bins);
    }
    return bins;
}

function sentence(model: ParallelModel, keep: Uint8Array, kept: number, {brushes}: ParallelOptions, {say}: Look): string {
    const brushed = model.axes.filter((axis) => brushes[axis.name]).map((axis) => axis.label);
    let best = -1;
    for (const row of model.order) {
        if (!keep[row]) continue;
        if (Number.isFinite(model.metric[row]!)) best = row;
        break;
    }
    const main =
        kept === model.rows
            ? say("plot.parallel.sentence", {n: countText(model.rows), axes: model.axes.length})
            : say(brushed.length === 0 ? "plot.parallel.sentence_filtered" : "plot.parallel.sentence_kept", {
                  kept: countText(kept),
                  n: countText(model.rows),
                  share: shareText(kept / Math.max(1, model.rows)),
                  names: brushed.join(", "),
              });
    return best < 0 ? main : `${main} ${say("plot.parallel.sentence_best", {trial: trialName(model, best), value: metricText(model.metric[best]!)})}`;
}
