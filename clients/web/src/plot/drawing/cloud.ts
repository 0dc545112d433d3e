/** Many marks of one kind: drawn one by one where they are few, as pixels where they are many. Pure. */
import type {Box} from "./axes";
import {css, packed, type Rgb} from "./colour";
import type {Pen} from "./pen";
import {makeRaster, stampMarks} from "./raster";

/** Above this many, marks are pixels: a canvas would need tens of milliseconds. */
export const MOST_SINGLE_MARKS = 4000;

export interface Cloud {
    /** Pixels of the plot; NaN: no mark. */
    readonly xs: Float32Array;
    readonly ys: Float32Array;
    /** One colour a mark by index into `palette`, or the first for all. */
    readonly codes?: Uint8Array;
    readonly palette: readonly Rgb[];
    readonly keep?: Uint8Array;
    readonly alpha: number;
    /** Width of a mark in CSS pixels. */
    readonly size: number;
    readonly rows: number;
}

export function drawCloud(pen: Pen, box: Box, cloud: Cloud): void {
    const {xs, ys, codes, palette, keep, alpha, size, rows} = cloud;
    const pad = Math.ceil(size);
    if (rows <= MOST_SINGLE_MARKS) {
        const colours = palette.map((colour) => css(colour, alpha));
        pen.clipped(box.left - pad, box.top - pad, box.right - box.left + 2 * pad, box.bottom - box.top + 2 * pad, () => {
            for (let row = 0; row < rows; ++row) {
                if ((keep && !keep[row]) || !(xs[row]! - xs[row]! === 0 && ys[row]! - ys[row]! === 0)) continue;
                pen.mark("circle", xs[row]!, ys[row]!, size, colours[codes ? codes[row]! : 0] ?? colours[0]!);
            }
        });
        return;
    }
    const ratio = Math.min(2, Math.max(1, Math.round(globalThis.devicePixelRatio ?? 1)));
    const width = box.right - box.left + 2 * pad;
    const height = box.bottom - box.top + 2 * pad;
    const raster = makeRaster(width * ratio, height * ratio);
    const left = new Float32Array(rows);
    const top = new Float32Array(rows);
    for (let row = 0; row < rows; ++row) {
        left[row] = (xs[row]! - box.left + pad) * ratio;
        top[row] = (ys[row]! - box.top + pad) * ratio;
    }
    const colours = palette.map((colour) => packed(colour));
    const single = codes ? new Uint32Array(rows) : colours[0]!;
    if (codes && typeof single !== "number") for (let row = 0; row < rows; ++row) single[row] = colours[codes[row]!] ?? colours[0]!;
    // Denser clouds get weaker marks, so that the dense parts still differ.
    const weaker = Math.min(1, Math.sqrt((width * height) / (rows * 9)));
    stampMarks(raster, left, top, single, Math.max(2, Math.round(size * 0.7 * ratio)), Math.max(0.06, alpha * weaker), keep, rows);
    pen.image(raster, box.left - pad, box.top - pad, width, height);
}
