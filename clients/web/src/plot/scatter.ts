/** Any two columns against each other, one mark a trial. Pure. */
import {toldApart} from "../i18n/names";
import {drawAxes, labelRoom, rightwards, upwards, type Box} from "./drawing/axes";
import {drawCloud} from "./drawing/cloud";
import {rungColour, viridis, type Rgb} from "./drawing/colour";
import type {Figure, Hit, Look, Size} from "./drawing/figure";
import {HitGrid} from "./drawing/hit_grid";
import {countText, valueText} from "./drawing/number";
import type {ParallelAxis, ParallelModel} from "./data/parallel_model";
import type {Scale} from "./drawing/scale";

/** A part of both axes, in positions 0–1. */
export interface View {
    readonly x0: number;
    readonly x1: number;
    readonly y0: number;
    readonly y1: number;
}

export const WHOLE: View = {x0: 0, x1: 1, y0: 0, y1: 1};

export interface ScatterOptions {
    readonly x: ParallelAxis;
    readonly y: ParallelAxis;
    readonly colour: "rung" | "metric";
    readonly view: View;
    readonly keep: Uint8Array;
    readonly kept: number;
    readonly small: boolean;
}

const SHADES = 32;
/** For the word beside the strip of what is not finite. */
const NAN_ROOM = 34;

const ranked = new WeakMap<ParallelModel, Uint8Array>();

/** Shades by rank: 0 for the best. Computed once per model. */
export function rankCodes(model: ParallelModel): Uint8Array {
    const known = ranked.get(model);
    if (known) return known;
    const codes = new Uint8Array(model.rows);
    ranked.set(model, codes);
    for (let i = 0; i < model.rows; ++i) codes[model.order[i]!] = Math.min(SHADES - 1, Math.floor((i / Math.max(1, model.rows)) * SHADES));
    return codes;
}

export function rankPalette(dark: boolean): Rgb[] {
    return Array.from({length: SHADES}, (_, i) => (dark ? viridis(0.95 - 0.6 * (i / (SHADES - 1))) : viridis(0.75 * (i / (SHADES - 1)))));
}

export function rungPalette(model: ParallelModel, dark: boolean): Rgb[] {
    return Array.from({length: model.rungCount}, (_, rung) => rungColour(rung, model.rungCount, dark));
}

/** A scale that shows a part of another. */
export function partOf(scale: Scale, from: number, to: number): Scale {
    const size = to - from;
    return {
        ...scale,
        at: (value) => (scale.at(value) - from) / size,
        value: (position) => scale.value(from + position * size),
        ticks: (count) =>
            scale
                .ticks(Math.ceil(count / size))
                .map((tick) => ({...tick, at: (tick.at - from) / size}))
                .filter((tick) => tick.at >= -1e-6 && tick.at <= 1 + 1e-6),
    };
}

export interface ScatterFigure extends Figure {
    readonly box: Box;
}

export function scatterFigure(model: ParallelModel, options: ScatterOptions, size: Size, look: Look): ScatterFigure {
    const {theme, say} = look;
    const {x, y, view, keep, small} = options;
    const xScale = partOf(x.scale, view.x0, view.x1);
    const yScale = partOf(y.scale, view.y0, view.y1);
    const measure = {textWidth: (text: string, px: number) => text.length * px * 0.58};
    const yCount = Math.max(2, Math.round((size.height - 60) / 48));
    const strip = y.missing > 0 ? 14 : 0;
    const box = {
        left: Math.max(strip > 0 ? NAN_ROOM : 0, Math.min(size.width * 0.35, labelRoom(measure, yScale, yCount))),
        top: 26,
        right: size.width - 16,
        bottom: size.height - 42 - strip,
    };
    const width = box.right - box.left;
    const height = box.bottom - box.top;
    const xs = new Float32Array(model.rows);
    const ys = new Float32Array(model.rows);
    const scaleX = width / (view.x1 - view.x0);
    const scaleY = height / (view.y1 - view.y0);
    for (let row = 0; row < model.rows; ++row) {
        const px = x.positions[row]!;
        const py = y.positions[row]!;
        // Values without a place stand at the edge, left or below.
        xs[row] = px < 0 ? box.left - 5 : box.left + (px - view.x0) * scaleX;
        ys[row] = py < 0 ? box.bottom + 9 : box.bottom - (py - view.y0) * scaleY;
        if (keep[row] === 0 || xs[row]! < box.left - 6 || xs[row]! > box.right + 1 || ys[row]! < box.top - 1 || ys[row]! > box.bottom + 10)
            xs[row] = NaN;
    }
    const told = toldApart(
        model.axes.map((axis) => axis.label),
        Math.floor(width / 6.6) - 2,
    ).get(x.label);
    const nameOfX = told && told.shared !== "" ? `…${told.own}` : x.label;
    let grid: HitGrid | null = null;
    const codes = options.colour === "rung" ? model.rungs : rankCodes(model);
    const palette = options.colour === "rung" ? rungPalette(model, theme.dark) : rankPalette(theme.dark);
    const hitOf = (row: number): Hit => ({
        trial: model.trials[row]!,
        index: row,
        x: xs[row]!,
        y: ys[row]!,
        title: say("plot.trial", {trial: model.trials[row]!}),
        lines: [
            [x.label, valueText(x.value(row))],
            [y.label, valueText(y.value(row))],
            ...(x.name === "metric" || y.name === "metric"
                ? []
                : model.axes.filter((axis) => axis.name === "metric").map((axis) => [axis.label, valueText(axis.value(row))] as const)),
        ],
    });
    return {
        ...size,
        box,
        marks: options.kept,
        sentence: say("plot.scatter.sentence", {n: countText(options.kept), y: y.label, x: x.label}),
        draw(pen) {
            drawAxes(pen, theme, {box, y: yScale, yLabel: small ? "" : upwards(y.label), yCount});
            drawAxes(pen, theme, {
                box: {...box, bottom: box.bottom + strip},
                x: xScale,
                xLabel: rightwards(nameOfX),
                xCount: Math.max(2, Math.round(width / 70)),
            });
            if (strip > 0) {
                pen.rect(box.left, box.bottom + 3, width, strip - 2, theme.bad, 2, theme.dark ? 0.14 : 0.08);
                pen.text(say("plot.nan"), box.left - 8, box.bottom + 9, {fill: theme.bad, size: 10, align: "right", base: "middle"});
            }
            drawCloud(
                pen,
                {...box, bottom: box.bottom + strip},
                {
                    xs,
                    ys,
                    codes,
                    palette,
                    alpha: model.rows > 400 ? 0.6 : 0.8,
                    size: small ? (model.rows > 400 ? 3 : 4.5) : model.rows > 400 ? 4 : 6.5,
                    rows: model.rows,
                },
            );
        },
        drawStress(pen, stress) {
            for (let row = 0; row < model.rows; ++row) {
                const trial = model.trials[row]!;
                if (trial !== stress.hovered && !stress.selected.has(trial)) continue;
                if (xs[row]! === xs[row]!) {
                    pen.mark("circle", xs[row]!, ys[row]!, small ? 6 : 8, theme.accent);
                    pen.mark("ring", xs[row]!, ys[row]!, small ? 11 : 15, theme.accent);
                }
            }
        },
        hitAt(px, py) {
            grid ??= new HitGrid(xs, ys, size.width, size.height);
            const row = grid.nearest(px, py, 12);
            return row < 0 ? null : hitOf(row);
        },
        moveBy(from, key) {
            // In the order of the metric: the best first.
            const shown = from?.index === undefined ? -1 : model.order.indexOf(from.index);
            const step = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
            for (
                let i = key === "Home" ? 0 : key === "End" ? model.rows - 1 : shown + (shown < 0 ? 1 : step);
                i >= 0 && i < model.rows;
                i += key === "End" ? -1 : key === "Home" ? 1 : step
            ) {
                const row = model.order[i]!;
                if (xs[row]! === xs[row]!) return hitOf(row);
            }
            return from;
        },
        table: () => ({
            columns: [say("plot.column.trial"), x.label, y.label],
            rows: Array.from(model.order)
                .filter((row) => keep[row])
                .map((row) => [model.trials[row]!, x.value(row), y.value(row)]),
        }),
    };
}
