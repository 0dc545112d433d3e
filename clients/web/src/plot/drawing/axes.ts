/** Quiet axes: thin grid, short labels, the name and the unit once. Pure. */
import type {Pen} from "./pen";
import {fitText} from "./pen";
import type {Scale} from "./scale";
import type {Theme} from "./theme";

export interface Box {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
}

export const TICK_SIZE = 11;

/** Room beside plots that have time in common and stand below each other: the same, so that a time is at one place in all. */
export const timeRoom = (width: number) => ({left: 44, right: width < 500 ? 98 : 128});

export interface Axes {
    readonly box: Box;
    readonly x?: Scale;
    readonly y?: Scale;
    readonly xLabel?: string;
    readonly yLabel?: string;
    readonly xGrid?: boolean;
    readonly yGrid?: boolean;
    readonly yCount?: number;
    readonly xCount?: number;
}

export const xOf = (box: Box, scale: Scale) => (value: number) => box.left + scale.at(value) * (box.right - box.left);
export const yOf = (box: Box, scale: Scale) => (value: number) => box.bottom - scale.at(value) * (box.bottom - box.top);

/** Room for the labels of a vertical axis. */
export function labelRoom(pen: Pick<Pen, "textWidth">, scale: Scale, count: number): number {
    const widths = scale.ticks(count).map((tick) => pen.textWidth(tick.label, TICK_SIZE));
    return Math.ceil(Math.max(16, ...widths)) + 10;
}

export function drawAxes(pen: Pen, theme: Theme, axes: Axes): void {
    const {box, x, y} = axes;
    const width = box.right - box.left;
    const height = box.bottom - box.top;
    if (y) {
        let lastY = Infinity;
        for (const tick of y.ticks(axes.yCount ?? Math.max(2, Math.round(height / 48)))) {
            const at = Math.round(box.bottom - tick.at * height) + 0.5;
            if (axes.yGrid !== false && tick.label) pen.line([box.left, at, box.right, at], {stroke: theme.grid});
            if (tick.label && lastY - at > 13) {
                pen.text(tick.label, box.left - 8, at, {fill: theme.muted, size: TICK_SIZE, align: "right", base: "middle"});
                lastY = at;
            }
        }
    }
    if (x) {
        let lastX = -Infinity;
        for (const tick of x.ticks(axes.xCount ?? Math.max(2, Math.round(width / 90)))) {
            const at = Math.round(box.left + tick.at * width) + 0.5;
            if (at < box.left - 1 || at > box.right + 1) continue;
            if (axes.xGrid) pen.line([at, box.top, at, box.bottom], {stroke: theme.grid});
            if (!tick.label) {
                pen.line([at, box.bottom, at, box.bottom + 3], {stroke: theme.rule});
                continue;
            }
            pen.line([at, box.bottom, at, box.bottom + 5], {stroke: theme.rule});
            const half = pen.textWidth(tick.label, TICK_SIZE) / 2;
            if (at - half < lastX + 8) continue;
            pen.text(tick.label, at, box.bottom + 8, {fill: theme.muted, size: TICK_SIZE, align: "center", base: "top"});
            lastX = at + half;
        }
        pen.line([box.left, box.bottom + 0.5, box.right, box.bottom + 0.5], {stroke: theme.rule});
    }
    if (axes.yLabel) {
        pen.text(fitText(pen, axes.yLabel, box.right, TICK_SIZE), 0, box.top - 12, {fill: theme.muted, size: TICK_SIZE, base: "bottom", weight: 500});
    }
    if (axes.xLabel) {
        pen.text(fitText(pen, axes.xLabel, width, TICK_SIZE), box.right, box.bottom + 24, {
            fill: theme.muted,
            size: TICK_SIZE,
            align: "right",
            base: "top",
            weight: 500,
        });
    }
}

/** Signs of direction: "↑ loss", "epochs →". */
export const upwards = (name: string) => `↑ ${name}`;
export const rightwards = (name: string) => `${name} →`;

/** Moves labels apart so that none overlaps; keeps their order. Places are changed in the result only. */
export function spreadLabels(places: readonly number[], gap: number, low: number, high: number): number[] {
    const order = places.map((_, i) => i).sort((a, b) => places[a]! - places[b]!);
    const moved = [...places];
    let last = low - gap;
    for (const i of order) {
        moved[i] = Math.max(places[i]!, last + gap);
        last = moved[i]!;
    }
    let next = high + gap;
    for (const i of [...order].reverse()) {
        moved[i] = Math.min(moved[i]!, next - gap);
        next = moved[i]!;
    }
    return moved;
}
