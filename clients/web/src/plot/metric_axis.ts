/** The axis of a metric: range, clipping, and the strip for what is not finite. Pure. */
import type {Box} from "./drawing/axes";
import {spread, sortedFinite, type Clip, type Spread} from "./drawing/domain";
import type {Look} from "./drawing/figure";
import type {Pen} from "./drawing/pen";
import {makeScale, niceEnds, type Scale, type ScaleKind} from "./drawing/scale";

export interface MetricAxis {
    readonly scale: Scale;
    readonly spread: Spread;
    /** Pixels below the box that the strip of NaN takes, 0 without any. */
    readonly strip: number;
}

export const STRIP = 18;

export function metricAxis(values: ArrayLike<number>, kind: ScaleKind, clip: Clip): MetricAxis {
    const found = spread(values, clip, kind === "log");
    const [lo, hi] = kind === "linear" && !found.clipped ? niceEnds(found.lo, found.hi, 6) : [found.lo, found.hi];
    const scale = makeScale(kind, lo, hi, kind === "quantile" || kind === "log" ? sortedFinite(values) : []);
    return {scale, spread: found, strip: found.nan + found.inf + found.negativeInf > 0 ? STRIP : 0};
}

/** The pixel of a value: outliers at the edge of the box, NaN and infinity in the strip below it. */
export function metricY(axis: MetricAxis, box: Box): (value: number) => number {
    const height = box.bottom - box.top;
    const strip = box.bottom + STRIP * 0.5 + 3;
    return (value) => {
        if (value - value !== 0) return strip;
        const at = axis.scale.at(value);
        return box.bottom - Math.min(1, Math.max(0, Number.isNaN(at) ? 0 : at)) * height;
    };
}

export function drawStrip(pen: Pen, axis: MetricAxis, box: Box, {theme, say}: Look): void {
    if (axis.strip === 0) return;
    const y = box.bottom + 3;
    pen.rect(box.left, y, box.right - box.left, STRIP - 3, theme.bad, 2, theme.dark ? 0.14 : 0.08);
    pen.text(say("plot.nan"), box.left - 8, y + STRIP / 2 - 1, {fill: theme.bad, size: 11, align: "right", base: "middle"});
}
