/** Mean of the metric over two parameters: cells with results only, nothing is invented between them. Pure. */
import {drawAxes, labelRoom, rightwards, upwards} from "./drawing/axes";
import {css, viridis} from "./drawing/colour";
import type {Figure, Hit, Look, Size} from "./drawing/figure";
import {quantile} from "./drawing/domain";
import {countText, metricText} from "./drawing/number";
import type {ParallelAxis, ParallelModel} from "./data/parallel_model";

export interface Cells {
    readonly across: number;
    readonly down: number;
    readonly counts: Uint32Array;
    /** NaN where a cell is empty. */
    readonly means: Float64Array;
}

/**
 * Means per cell; trials without a finite metric or a place on an axis are left out. Values beyond `ends` count as the
 * end, so that one diverged trial does not decide over its cell.
 */
export function binMeans(
    x: ParallelAxis,
    y: ParallelAxis,
    metric: Float64Array,
    keep: Uint8Array,
    across: number,
    down: number,
    ends: {readonly lo: number; readonly hi: number} = {lo: -Infinity, hi: Infinity},
): Cells {
    const counts = new Uint32Array(across * down);
    const means = new Float64Array(across * down);
    for (let row = 0; row < metric.length; ++row) {
        const value = metric[row]!;
        const px = x.positions[row]!;
        const py = y.positions[row]!;
        if (!keep[row] || value - value !== 0 || px < 0 || py < 0) continue;
        const cell = Math.min(down - 1, Math.floor(py * down)) * across + Math.min(across - 1, Math.floor(px * across));
        ++counts[cell]!;
        means[cell]! += Math.min(ends.hi, Math.max(ends.lo, value));
    }
    for (let cell = 0; cell < counts.length; ++cell) means[cell] = counts[cell] ? means[cell]! / counts[cell]! : NaN;
    return {across, down, counts, means};
}

const cellsOf = (axis: ParallelAxis, rows: number) => (axis.words ? axis.words.length : Math.max(4, Math.min(24, Math.round(Math.sqrt(rows) / 1.6))));

export function contourFigure(
    model: ParallelModel,
    x: ParallelAxis,
    y: ParallelAxis,
    keep: Uint8Array,
    smallerIsBetter: boolean,
    size: Size,
    look: Look,
): Figure {
    const {theme, say} = look;
    const metricAxis = model.axes.find((axis) => axis.name === "metric");
    const cells = binMeans(x, y, model.metric, keep, cellsOf(x, model.rows), cellsOf(y, model.rows), metricAxis?.scale);
    const metricLabel = metricAxis?.label ?? "";
    const measure = {textWidth: (text: string, px: number) => text.length * px * 0.58};
    const yCount = Math.max(2, Math.round((size.height - 60) / 48));
    const box = {left: Math.min(size.width * 0.35, labelRoom(measure, y.scale, yCount)), top: 26, right: size.width - 110, bottom: size.height - 44};
    const filled = cells.means.filter((mean) => !Number.isNaN(mean)).sort();
    const low = quantile(filled, 0.02);
    const high = quantile(filled, 0.98);
    const most = cells.counts.reduce((a, b) => Math.max(a, b), 1);
    // Better is stronger: dark on light, bright on dark.
    const shade = (mean: number) => {
        const worse = high > low ? Math.min(1, Math.max(0, (smallerIsBetter ? mean - low : high - mean) / (high - low))) : 0;
        return css(theme.dark ? viridis(1 - 0.85 * worse) : viridis(worse));
    };
    const width = (box.right - box.left) / cells.across;
    const height = (box.bottom - box.top) / cells.down;
    let best = -1;
    for (let cell = 0; cell < cells.means.length; ++cell) {
        const mean = cells.means[cell]!;
        if (!Number.isNaN(mean) && (best < 0 || (smallerIsBetter ? mean < cells.means[best]! : mean > cells.means[best]!))) best = cell;
    }
    const range = (axis: ParallelAxis, index: number, count: number) =>
        axis.words
            ? (axis.words[axis.scale.value((index + 0.5) / count)] ?? "")
            : `${metricText(Number(axis.scale.value(index / count).toPrecision(3)))} – ${metricText(Number(axis.scale.value((index + 1) / count).toPrecision(3)))}`;
    const hitOf = (cell: number): Hit | null => {
        if (cell < 0 || !(cells.counts[cell]! > 0)) return null;
        const column = cell % cells.across;
        const row = Math.floor(cell / cells.across);
        return {
            trial: -1,
            index: cell,
            x: box.left + (column + 0.5) * width,
            y: box.bottom - (row + 0.5) * height,
            title: say("plot.contour.mean", {metric: metricLabel, value: metricText(cells.means[cell]!)}),
            lines: [
                [say("plot.history.trials"), countText(cells.counts[cell]!)],
                [x.label, range(x, column, cells.across)],
                [y.label, range(y, row, cells.down)],
            ],
        };
    };
    return {
        ...size,
        marks: filled.length,
        sentence:
            best < 0
                ? say("plot.contour.sentence_none")
                : say("plot.contour.sentence", {
                      metric: metricLabel,
                      value: metricText(cells.means[best]!),
                      n: countText(cells.counts[best]!),
                      x: x.label,
                      xs: range(x, best % cells.across, cells.across),
                      y: y.label,
                      ys: range(y, Math.floor(best / cells.across), cells.down),
                  }),
        draw(pen) {
            drawAxes(pen, theme, {box, y: y.scale, yLabel: upwards(y.label), yCount, yGrid: false});
            for (let cell = 0; cell < cells.means.length; ++cell) {
                if (!(cells.counts[cell]! > 0)) continue;
                const alpha = 0.3 + 0.7 * (Math.log1p(cells.counts[cell]!) / Math.log1p(most));
                pen.rect(
                    box.left + (cell % cells.across) * width + 0.5,
                    box.bottom - (Math.floor(cell / cells.across) + 1) * height + 0.5,
                    width - 1,
                    height - 1,
                    shade(cells.means[cell]!),
                    1.5,
                    alpha,
                );
            }
            drawAxes(pen, theme, {box, x: x.scale, xLabel: rightwards(x.label)});
            if (filled.length > 0) {
                const bar = {left: box.right + 20, width: 10, top: box.top + 8, height: Math.min(160, box.bottom - box.top - 16)};
                for (let i = 0; i < 40; ++i) {
                    const mean = low + ((high - low) * i) / 39;
                    const share = smallerIsBetter ? i / 40 : 1 - (i + 1) / 40;
                    pen.rect(bar.left, bar.top + bar.height * share, bar.width, bar.height / 40 + 0.7, shade(mean));
                }
                const note = {fill: theme.muted, size: 11, base: "middle"} as const;
                pen.text(metricText(Number((smallerIsBetter ? low : high).toPrecision(3))), bar.left + 16, bar.top + 4, note);
                pen.text(metricText(Number((smallerIsBetter ? high : low).toPrecision(3))), bar.left + 16, bar.top + bar.height - 4, note);
                pen.text(say("plot.contour.legend", {metric: metricLabel.length > 10 ? "" : metricLabel}), bar.left - 4, bar.top - 12, {
                    ...note,
                    weight: 500,
                });
            }
        },
        drawStress(pen, {hit}) {
            if (hit?.index === undefined) return;
            pen.frame(
                box.left + (hit.index % cells.across) * width,
                box.bottom - (Math.floor(hit.index / cells.across) + 1) * height,
                width,
                height,
                {stroke: theme.ink, width: 2},
                2,
            );
        },
        hitAt(px, py) {
            if (px < box.left || px >= box.right || py <= box.top || py > box.bottom) return null;
            return hitOf(Math.floor((box.bottom - py) / height) * cells.across + Math.floor((px - box.left) / width));
        },
        moveBy(from, key) {
            const now = from?.index ?? best;
            const step =
                key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : key === "ArrowUp" ? cells.across : key === "ArrowDown" ? -cells.across : 0;
            if (!from || step === 0) return hitOf(best);
            for (let cell = now + step; cell >= 0 && cell < cells.counts.length; cell += step) if (cells.counts[cell]! > 0) return hitOf(cell);
            return from;
        },
        table: () => ({
            columns: [x.label, y.label, say("plot.history.trials"), say("plot.contour.mean_name", {metric: metricLabel})],
            rows: Array.from(cells.counts, (_, cell) => cell)
                .filter((cell) => cells.counts[cell]! > 0)
                .map((cell) => [
                    range(x, cell % cells.across, cells.across),
                    range(y, Math.floor(cell / cells.across), cells.down),
                    cells.counts[cell]!,
                    cells.means[cell]!,
                ]),
        }),
    };
}
