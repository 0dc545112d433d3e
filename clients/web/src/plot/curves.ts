/** Learning curves of chosen trials over a heat map of all. Pure. */
import {drawAxes, labelRoom, rightwards, spreadLabels, upwards, xOf} from "./drawing/axes";
import {css, packed, parseColour, rungColour} from "./drawing/colour";
import type {Clip} from "./drawing/domain";
import type {Figure, Hit, Look, Size} from "./drawing/figure";
import {HitGrid} from "./drawing/hit_grid";
import {drawStrip, metricAxis, metricY} from "./metric_axis";
import {countText, durationText, metricText} from "./drawing/number";
import type {Pen, Shape} from "./drawing/pen";
import {makeRaster} from "./drawing/raster";
import {elapsed, linear, log, whole, type Scale, type ScaleKind} from "./drawing/scale";
import type * as Api from "../api/types";

export type Curve = Api.Curve;
export type Curves = Api.Curves;
export type Density = Api.CurveDensity;

/** The lengths of rungs, each once: brackets have some in common. A curve's rung is a place in this list. */
export const rungLengths = ({rungs}: Curves): number[] => [...new Set(rungs.map((rung) => rung.length))].sort((a, b) => a - b);

export type CurveX = "step" | "time";

export interface CurveOptions {
    readonly x: CurveX;
    readonly logX: boolean;
    readonly kind: ScaleKind;
    readonly clip: Clip;
    /** Weight of the past, 0–1: 0 shows values as they are. */
    readonly smooth: number;
    readonly startedAt: number;
    readonly best: {readonly trial: number; readonly name: string; readonly metric: number; readonly step: number} | null;
    /** A part of the x axis to show, in its own unit. */
    readonly zoom: readonly [number, number] | null;
    readonly small: boolean;
    /** The x axis reaches at least so far, in its own unit, so that plots beside each other have the same. */
    readonly reach?: number;
    /** By longest rung, or one colour a trial for a comparison. */
    readonly colour: "rung" | "trial";
}

export const EVENT_SHAPES: Record<Api.CurveEvent["what"], Shape> = {
    promoted: "triangle",
    paused: "pause",
    stopped: "cross",
    restarted: "restart",
    finished: "diamond",
};

/** Room of small plots for the labels of their values: the same in all of them, so that their x axes align. */
const SMALL_LABEL_ROOM = 64;

const rungOf = (curve: Curve) => curve.rung ?? -1;
const real = (value: number | null | undefined) => (value === null || value === undefined ? NaN : value);

/** Exponential mean that begins without a pull towards zero; gaps stay gaps. */
export function smoothed(values: readonly number[], weight: number): number[] {
    if (weight <= 0) return [...values];
    let sum = 0;
    let total = 0;
    return values.map((value) => {
        if (Number.isNaN(value)) return NaN;
        sum = sum * weight + value;
        total = total * weight + 1;
        return sum / total;
    });
}

/** Steps count from 1: the first bin of the daemon's, 0 to n, holds the steps 1 to n. */
function centred(density: Density): Density {
    return density.steps[0] === 0 ? {...density, steps: density.steps.map((step) => step + 0.5)} : density;
}

/** More curves than these would hide each other behind their marks. */
const FEW_CURVES = 12;

/** The curves whose promotions, pauses and ends are marked. */
export const markedCurves = ({trials}: Curves, best: number | undefined): readonly Curve[] =>
    trials.length <= FEW_CURVES ? trials : trials.filter((curve) => curve.trial === best);

export function curvesFigure(curves: Curves, counted: Density | null, options: CurveOptions, size: Size, look: Look): Figure {
    const {theme, say} = look;
    const density = counted && counted.counts.length > 0 ? centred(counted) : null;
    const timed = options.x === "time";
    const xs = curves.trials.map((curve) => (timed ? curve.time.map((time) => real(time) - options.startedAt) : [...curve.step]));
    const ys = curves.trials.map((curve) => smoothed(curve.last.map(real), options.smooth));
    const flat: number[] = [];
    curves.trials.forEach((curve, i) => {
        for (const value of ys[i]!) if (!Number.isNaN(value)) flat.push(value);
        for (let k = 0; k < curve.nonfinite.length; ++k) flat.push(NaN);
    });
    // Beside few curves the cut-offs belong to what there is to see; beside many the results reach them anyway.
    if (!density && curves.trials.length <= FEW_CURVES) for (const rung of curves.rungs) if (rung.cut_off !== null) flat.push(rung.cut_off);
    if (density && !timed) flat.push(density.values[0]!, density.values[density.values.length - 1]!);
    const axis = metricAxis(Float64Array.from(flat), options.kind, density && !timed ? "off" : options.clip);
    let low = Infinity;
    let high = -Infinity;
    for (const list of xs)
        for (const x of list)
            if (!Number.isNaN(x)) {
                low = Math.min(low, x);
                high = Math.max(high, x);
            }
    if (density && !timed) {
        low = Math.min(low, density.steps[0]!);
        high = Math.max(high, density.steps[density.steps.length - 1]!);
    }
    if (!timed) for (const rung of curves.rungs) high = Math.max(high, rung.length);
    high = Math.max(high, options.reach ?? -Infinity);
    if (low > high) [low, high] = [0, 1];
    if (!options.logX) low = Math.min(low, 0);
    const [from, to] = options.zoom ?? [low, high];
    const xScale: Scale = timed
        ? elapsed(from, to, durationText)
        : options.logX && from > 0
          ? log(from, to)
          : to - from >= 2
            ? whole(from, to)
            : linear(from, to);
    const count = Math.max(2, Math.round((size.height - 60) / 48));
    const measure = {textWidth: (text: string, px: number) => text.length * px * 0.58};
    const box = {
        left: Math.max(options.small ? SMALL_LABEL_ROOM : 0, labelRoom(measure, axis.scale, count)),
        top: 26,
        right: size.width - (options.small && curves.trials.length <= 1 ? 16 : 92),
        bottom: size.height - 44 - axis.strip,
    };
    const px = xOf(box, xScale);
    const py = metricY(axis, box);
    const rungs = Math.max(rungLengths(curves).length, ...curves.trials.map((curve) => rungOf(curve) + 1), 1);
    const colourOf = (curve: Curve) =>
        options.colour === "trial"
            ? theme.categories[curves.trials.indexOf(curve) % theme.categories.length]!
            : css(rungColour(Math.max(0, rungOf(curve)), rungs, theme.dark));

    const lines = curves.trials.map((_, i) => {
        const points = new Float32Array(xs[i]!.length * 2);
        xs[i]!.forEach((x, k) => {
            points[2 * k] = px(x);
            points[2 * k + 1] = Number.isNaN(ys[i]![k]!) ? NaN : py(ys[i]![k]!);
        });
        return points;
    });
    const total = lines.reduce((sum, points) => sum + points.length / 2, 0);
    const allX = new Float32Array(total);
    const allY = new Float32Array(total);
    const owner = new Uint16Array(total);
    const place = new Uint32Array(total);
    let filled = 0;
    lines.forEach((points, i) => {
        for (let k = 0; 2 * k < points.length; ++k, ++filled) {
            allX[filled] = points[2 * k]!;
            allY[filled] = points[2 * k + 1]!;
            owner[filled] = i;
            place[filled] = k;
        }
    });
    const grid = new HitGrid(allX, allY, size.width, size.height);
    const hitOf = (i: number, k: number): Hit | null => {
        const curve = curves.trials[i];
        if (!curve || !(k >= 0 && k < curve.step.length)) return null;
        return {
            trial: curve.trial,
            index: i,
            x: lines[i]![2 * k]!,
            y: lines[i]![2 * k + 1]!,
            title: say("plot.trial", {trial: curve.trial}),
            lines: [
                [curves.metric, metricText(curve.last[k])],
                [curves.unit, metricText(curve.step[k]!)],
                [say("plot.history.after"), durationText(real(curve.time[k]) - options.startedAt)],
                ...(rungOf(curve) >= 0
                    ? [[say("plot.curves.rung"), `${rungLengths(curves)[rungOf(curve)] ?? curve.rung} ${curves.unit}`] as [string, string]]
                    : []),
            ],
        };
    };
    const order = curves.trials.map((_, i) => i).sort((a, b) => rungOf(curves.trials[a]!) - rungOf(curves.trials[b]!));
    const bestIndex = curves.trials.findIndex((curve) => curve.trial === options.best?.trial);
    const crowded = curves.trials.length > FEW_CURVES || density !== null;

    /** There are fewer colours than trials that can be compared: a second round of them is dashed. */
    const dashed = (i: number) => options.colour === "trial" && i >= theme.categories.length;
    const drawCurve = (pen: Pen, i: number, width: number, alpha: number, colour = colourOf(curves.trials[i]!)) =>
        pen.line(lines[i]!, {stroke: colour, width, alpha, ...(dashed(i) ? {dash: [6, 4]} : {})});

    return {
        ...size,
        marks: curves.trials.length * 3,
        sentence: sentence(curves, density, options, look),
        draw(pen) {
            drawAxes(pen, theme, {box, y: axis.scale, yLabel: upwards(curves.metric), yCount: count});
            drawStrip(pen, axis, box, look);
            pen.clipped(box.left, box.top - 4, box.right - box.left + 6, box.bottom - box.top + 4 + axis.strip, () => {
                if (density && !timed) drawDensity(pen, density, px, py, look);
                for (const i of order) {
                    const curve = curves.trials[i]!;
                    if (curves.trials.length <= FEW_CURVES || i === bestIndex) drawEnvelope(pen, curve, xs[i]!, px, py, colourOf(curve));
                }
                for (const i of order) if (i !== bestIndex) drawCurve(pen, i, crowded ? 1.25 : 1.75, crowded ? 0.55 : 0.95);
                if (bestIndex >= 0) drawCurve(pen, bestIndex, 2.5, 1);
                // A single value has no line.
                for (const i of order) if (lines[i]!.length === 2) pen.mark("circle", lines[i]![0]!, lines[i]![1]!, 5, colourOf(curves.trials[i]!));
                if (!density) for (const curve of markedCurves(curves, options.best?.trial)) drawEvents(pen, curve, curves.trials.indexOf(curve));
                for (const i of order) {
                    for (const [step] of curves.trials[i]!.nonfinite)
                        pen.mark("cross", px(timed ? timeAt(curves.trials[i]!, step) : step), py(NaN), 7, theme.bad);
                }
            });
            drawAxes(pen, theme, {
                box: {...box, bottom: box.bottom + axis.strip},
                x: xScale,
                xLabel: rightwards(timed ? say("plot.history.time") : curves.unit),
            });
            // Beside labels of several trials there is no room for theirs.
            if (!timed && !(options.small && curves.trials.length > 1)) drawCutOffs(pen);
            drawEndLabels(pen);
        },
        drawStress(pen, stress) {
            const shown = curves.trials
                .map((curve, i) => ({curve, i}))
                .filter(({curve}) => stress.selected.has(curve.trial) || curve.trial === stress.hovered);
            if (shown.length === 0) return;
            pen.clipped(box.left, box.top - 4, box.right - box.left + 6, box.bottom - box.top + 4 + axis.strip, () => {
                for (const {curve, i} of shown) {
                    drawEnvelope(pen, curve, xs[i]!, px, py, theme.accent);
                    pen.line(lines[i]!, {stroke: theme.surface, width: 5});
                    pen.line(lines[i]!, {stroke: theme.accent, width: 2.5});
                    drawEvents(pen, curve, i, theme.accent);
                }
            });
            const places = shown.map(({i}) => lastOf(i)[1]);
            const moved = spreadLabels(places, 14, box.top, box.bottom);
            shown.forEach(({curve, i}, k) =>
                pen.text(say("plot.trial", {trial: curve.trial}), Math.min(lastOf(i)[0] + 8, box.right + 4), moved[k]!, {
                    fill: theme.accent,
                    size: 12,
                    weight: 650,
                    base: "middle",
                    halo: theme.surface,
                }),
            );
            if (stress.hit) pen.mark("circle", stress.hit.x, stress.hit.y, 8, theme.accent);
        },
        valueAtX: (x) => xScale.value((x - box.left) / (box.right - box.left)),
        hitAt(x, y) {
            const found = grid.nearest(x, y, 24);
            return found < 0 ? null : hitOf(owner[found]!, place[found]!);
        },
        moveBy(from, key) {
            if (curves.trials.length === 0) return null;
            if (!from) return hitOf(Math.max(0, bestIndex), 0);
            const i = from.index ?? 0;
            const points = lines[i]!;
            let k = 0;
            for (let each = 0; 2 * each < points.length; ++each)
                if (Math.abs(points[2 * each]! - from.x) <= Math.abs(points[2 * k]! - from.x)) k = each;
            const last = points.length / 2 - 1;
            if (key === "Home") return hitOf(i, 0);
            if (key === "End") return hitOf(i, last);
            if (key === "ArrowLeft" || key === "ArrowRight") return hitOf(i, Math.min(last, Math.max(0, k + (key === "ArrowRight" ? 1 : -1))));
            // Up and down: the next curve at this place of the axis.
            const step = key === "ArrowUp" ? -1 : 1;
            const byHeight = curves.trials.map((_, each) => each).sort((a, b) => lastOf(a)[1] - lastOf(b)[1]);
            const next = byHeight[byHeight.indexOf(i) + step];
            return next === undefined ? hitOf(i, k) : hitOf(next, Math.min(k, lines[next]!.length / 2 - 1));
        },
        table: () => ({
            columns: [
                say("plot.column.trial"),
                say("plot.curves.rung"),
                say("plot.column.state"),
                curves.unit,
                say("plot.curves.last"),
                say("plot.curves.lowest"),
                say("plot.curves.highest"),
            ],
            rows: curves.trials.map((curve) => {
                const finite = curve.last.map(real).filter((value) => !Number.isNaN(value));
                return [
                    curve.trial,
                    rungLengths(curves)[rungOf(curve)] ?? "",
                    curve.state,
                    curve.step[curve.step.length - 1] ?? 0,
                    finite[finite.length - 1] ?? null,
                    finite.length === 0 ? null : least(curve.min.map(real)),
                    finite.length === 0 ? null : -least(curve.max.map((value) => -real(value))),
                ];
            }),
        }),
        csv: () => ({
            columns: ["trial", curves.unit || "step", "time", curves.metric, "min", "max"],
            rows: curves.trials.flatMap((curve) =>
                [
                    ...curve.step.map((step, k) => [
                        curve.trial,
                        step,
                        curve.time[k] ?? null,
                        curve.last[k] ?? null,
                        curve.min[k] ?? null,
                        curve.max[k] ?? null,
                    ]),
                    ...curve.nonfinite.map(([step, word]) => [curve.trial, step, null, word, null, null]),
                ].sort((a, b) => (a[1] as number) - (b[1] as number)),
            ),
        }),
    };

    function lastOf(i: number): [number, number] {
        const points = lines[i]!;
        for (let k = points.length - 2; k >= 0; k -= 2) if (!Number.isNaN(points[k + 1]!)) return [points[k]!, points[k + 1]!];
        return [box.left, box.bottom];
    }

    function drawEvents(pen: Pen, curve: Curve, i: number, colour = colourOf(curve)): void {
        for (const event of curve.events) {
            const at = timed ? event.time - options.startedAt : event.step;
            const y = valueAt(lines[i]!, px(at));
            if (Number.isNaN(y)) continue;
            pen.mark(EVENT_SHAPES[event.what], px(at), y, 8, colour);
        }
    }

    /** A short dash at each rung's length, with what it is: results beyond it were stopped. */
    function drawCutOffs(pen: Pen): void {
        const shown = curves.rungs.flatMap((rung) => {
            const x = px(rung.length);
            const place = rung.cut_off === null ? NaN : axis.scale.at(rung.cut_off);
            // At the edge it would be a false number.
            return x >= box.left - 1 && x <= box.right + 1 && place >= 0 && place <= 1
                ? [{x, y: py(rung.cut_off!), length: rung.length, value: rung.cut_off!}]
                : [];
        });
        for (const {x, y} of shown) {
            pen.line([x - 12, y, x + 12, y], {stroke: theme.surface, width: 5});
            pen.line([x - 12, y, x + 12, y], {stroke: theme.ink, width: 2});
        }
        // Brackets have rungs of one length with a cut-off each: their labels would hide each other, so they have one.
        const labels = [...new Set(shown.map(({length}) => length))].map((length) => {
            const same = shown.filter((each) => each.length === length).sort((a, b) => a.value - b.value);
            const values = [...new Set([same[0]!, same[same.length - 1]!].map(({value}) => metricText(value)))];
            return {x: same[0]!.x, y: same.reduce((sum, each) => sum + each.y, 0) / same.length, length, value: values.join(" … ")};
        });
        const moved = spreadLabels(
            labels.map(({y}) => y - 1),
            13,
            box.top,
            box.bottom,
        );
        labels.forEach(({x, length, value}, i) => {
            const text = say("plot.curves.cut_off", {value, length});
            const style = {fill: theme.ink, size: options.small ? 10 : 11, base: "middle", halo: theme.surface} as const;
            if (x + 16 + pen.textWidth(text, style.size) <= size.width) pen.text(text, x + 16, moved[i]!, style);
            else pen.text(text, x - 16, moved[i]!, {...style, align: "right"});
        });
    }

    function drawEndLabels(pen: Pen): void {
        if (curves.trials.length <= 1 && options.small) return;
        const named = (crowded ? [bestIndex] : order).filter((i) => (ys[i] ?? []).some((y) => !Number.isNaN(y)));
        const places = named.map((i) => lastOf(i)[1]);
        const moved = spreadLabels(places, 14, box.top, box.bottom);
        named.forEach((i, k) =>
            pen.text(say("plot.trial", {trial: curves.trials[i]!.trial}), Math.min(lastOf(i)[0] + 8, box.right + 8), moved[k]!, {
                fill: colourOf(curves.trials[i]!),
                size: 12,
                weight: 620,
                base: "middle",
                halo: theme.surface,
            }),
        );
    }
}

const least = (values: readonly number[]) =>
    values.reduce((best, value) => (Number.isNaN(value) ? best : Number.isNaN(best) || value < best ? value : best), NaN);

function timeAt(curve: Curve, step: number): number {
    const index = curve.step.findIndex((each) => each >= step);
    return curve.time[index < 0 ? curve.time.length - 1 : index] ?? NaN;
}

/** The height of a line at a pixel, between its neighbours; NaN outside. */
export function valueAt(points: ArrayLike<number>, x: number): number {
    const count = points.length / 2;
    if (count === 0 || x < points[0]! - 0.5) return NaN;
    for (let k = 1; k < count; ++k) {
        const x1 = points[2 * k]!;
        if (x1 + 0.5 < x) continue;
        const x0 = points[2 * k - 2]!;
        const share = x1 > x0 ? Math.min(1, Math.max(0, (x - x0) / (x1 - x0))) : 1;
        return points[2 * k - 1]! + (points[2 * k + 1]! - points[2 * k - 1]!) * share;
    }
    return Math.abs(points[2 * count - 2]! - x) < 2 ? points[2 * count - 1]! : NaN;
}

/** The range of values that each drawn point stands for. */
function drawEnvelope(pen: Pen, curve: Curve, xs: readonly number[], px: (x: number) => number, py: (y: number) => number, colour: string): void {
    const outline: number[] = [];
    const back: number[] = [];
    for (let k = 0; k < xs.length; ++k) {
        const low = real(curve.min[k]);
        const high = real(curve.max[k]);
        if (Number.isNaN(low) || Number.isNaN(high)) continue;
        outline.push(px(xs[k]!), py(high));
        back.push(py(low), px(xs[k]!));
    }
    if (outline.length >= 4) pen.area([...outline, ...back.reverse()], colour, 0.14);
}

function drawDensity(pen: Pen, density: Density, px: (x: number) => number, py: (y: number) => number, {theme}: Look): void {
    const across = density.counts.length;
    const down = density.values.length - 1;
    if (across === 0 || down <= 0) return;
    let most = 1;
    for (const column of density.counts) for (const count of column) if (count > most) most = count;
    // Even steps on the screen: bins are looked up, so that log axes need no other grid.
    const left = px(density.steps[0]!);
    const right = px(density.steps[across]!);
    const top = py(density.values[down]!);
    const bottom = py(density.values[0]!);
    const raster = makeRaster(Math.max(1, right - left), Math.max(1, bottom - top));
    const colour = packed(parseColour(theme.dark ? "#9fb6ff" : "#31427a")) & 0xffffff;
    const scale = (theme.dark ? 190 : 170) / Math.log1p(most);
    const columnOf = lookUp(density.steps, left, right, raster.width, px);
    const rowOf = lookUp(density.values, top, bottom, raster.height, py);
    for (let y = 0; y < raster.height; ++y) {
        for (let x = 0; x < raster.width; ++x) {
            const count = density.counts[columnOf[x]!]?.[rowOf[y]!] ?? 0;
            if (count > 0) raster.pixels[y * raster.width + x] = (((12 + Math.log1p(count) * scale) << 24) | colour) >>> 0;
        }
    }
    pen.image(raster, left, top, right - left, bottom - top);
}

/** The bin of each pixel between two ends. */
function lookUp(edges: readonly number[], from: number, to: number, size: number, place: (value: number) => number): Int32Array {
    const bins = new Int32Array(size).fill(-1);
    for (let bin = 0; bin + 1 < edges.length; ++bin) {
        const a = ((place(edges[bin]!) - from) / (to - from)) * size;
        const b = ((place(edges[bin + 1]!) - from) / (to - from)) * size;
        for (let i = Math.max(0, Math.round(Math.min(a, b))); i < Math.min(size, Math.round(Math.max(a, b))); ++i) bins[i] = bin;
    }
    return bins;
}

function sentence(curves: Curves, density: Density | null, {best}: CurveOptions, {say}: Look): string {
    if (curves.trials.length === 0 && !density) return say("plot.curves.sentence_none", {metric: curves.metric});
    const main = density
        ? say("plot.curves.sentence_density", {metric: curves.metric, n: countText(density.trials), shown: curves.trials.length})
        : say("plot.curves.sentence", {metric: curves.metric, n: curves.trials.length});
    const outside = density ? density.below + density.above : 0;
    if (outside > 0) return `${main} ${say("plot.curves.sentence_outside", {n: countText(outside)})}`;
    return best === null
        ? main
        : `${main} ${say("plot.curves.sentence_best", {trial: best.trial, value: metricText(best.metric), metric: best.name, amount: `${best.step} ${curves.unit}`})}`;
}
