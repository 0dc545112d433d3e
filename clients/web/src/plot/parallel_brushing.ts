/** Brushes, reordering and keys over a parallel plot. */
import {useRef} from "preact/hooks";
import {dragged, press, withRanges, type Brushes, type Drag, type Range} from "./brush";
import type {PointerUse} from "./drawing/frame";
import type {ParallelFigure} from "./parallel";
import type {ParallelModel} from "./data/parallel_model";

export interface BrushingTarget {
    readonly model: ParallelModel;
    readonly brushes: Brushes;
    /** `done`: the drag is over; the address may change. */
    brush(brushes: Brushes, done: boolean): void;
    /** Moves the axis to another place. */
    reorder(from: number, to: number): void;
    flip(axis: number): void;
}

const KEY_STEP = 0.02;

export function useBrushing(target: BrushingTarget): (figure: ParallelFigure) => PointerUse {
    const drag = useRef<{axis: number; kind: Drag; ranges: readonly Range[]; moved: boolean} | null>(null);
    const title = useRef<{axis: number; x: number} | null>(null);
    const keyAxis = useRef(0);
    const last = useRef<Brushes>(target.brushes);
    const {model} = target;
    const nameOf = (axis: number) => model.axes[axis]!.name;
    const set = (axis: number, ranges: readonly Range[], done: boolean) => {
        last.current = withRanges(target.brushes, nameOf(axis), ranges);
        target.brush(last.current, done);
    };
    return (figure) => ({
        down(x, y) {
            if (y < figure.box.top - 10) {
                const axis = nearest(figure.axisX, x);
                if (axis < 0) return false;
                title.current = {axis, x};
                return true;
            }
            const axis = figure.axisAt(x);
            if (axis < 0 || y > figure.box.bottom + 12) return false;
            const ranges = target.brushes[nameOf(axis)] ?? [];
            const margin = 6 / (figure.box.bottom - figure.box.top);
            drag.current = {axis, ranges, moved: false, kind: press(ranges, figure.positionAt(axis, y), margin)};
            return true;
        },
        move(_x, y) {
            const now = drag.current;
            if (!now) return;
            now.moved = true;
            set(now.axis, dragged(now.ranges, now.kind, figure.positionAt(now.axis, y)), false);
        },
        up(x, y) {
            const pressed = title.current;
            title.current = null;
            if (pressed) {
                const to = nearest(figure.axisX, x);
                if (to >= 0 && to !== pressed.axis) target.reorder(pressed.axis, to);
                else if (Math.abs(x - pressed.x) < 4) target.flip(pressed.axis);
                return;
            }
            const now = drag.current;
            drag.current = null;
            if (!now) return;
            // A click without a drag removes the range under it.
            if (!now.moved)
                set(now.axis, now.kind.kind === "new" ? [] : now.ranges.filter((_, i) => i !== (now.kind as {index: number}).index), true);
            else set(now.axis, dragged(now.ranges, now.kind, figure.positionAt(now.axis, y)), true);
        },
        cursor: (x, y) => (y < figure.box.top - 10 ? (nearest(figure.axisX, x) >= 0 ? "grab" : "") : figure.axisAt(x) >= 0 ? "row-resize" : ""),
        key(event) {
            const count = model.axes.length;
            if (count === 0) return false;
            keyAxis.current = Math.min(keyAxis.current, count - 1);
            const axis = keyAxis.current;
            const ranges = [...(target.brushes[nameOf(axis)] ?? [])];
            const range = ranges[ranges.length - 1];
            const up = event.key === "ArrowUp" ? KEY_STEP : event.key === "ArrowDown" ? -KEY_STEP : 0;
            if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
                keyAxis.current = Math.min(count - 1, Math.max(0, axis + (event.key === "ArrowRight" ? 1 : -1)));
                return true;
            }
            if (event.key === "b") set(axis, [...ranges, {from: 0.4, to: 0.6}], true);
            else if (event.key === "f") target.flip(axis);
            else if (event.key === "<" && axis > 0) {
                target.reorder(axis, axis - 1);
                keyAxis.current = axis - 1;
            } else if (event.key === ">" && axis + 1 < count) {
                target.reorder(axis, axis + 1);
                keyAxis.current = axis + 1;
            } else if ((event.key === "Delete" || event.key === "Backspace") && range) set(axis, ranges.slice(0, -1), true);
            else if (up !== 0 && range) {
                // Up and down move the upper end, with Shift the lower one.
                const moved = event.shiftKey
                    ? {from: Math.min(range.to - KEY_STEP, range.from + up), to: range.to}
                    : {from: range.from, to: Math.max(range.from + KEY_STEP, range.to + up)};
                set(axis, [...ranges.slice(0, -1), moved], true);
            } else return false;
            return true;
        },
    });
}

function nearest(places: readonly number[], x: number): number {
    let best = -1;
    places.forEach((place, i) => {
        if (best < 0 || Math.abs(place - x) < Math.abs(places[best]! - x)) best = i;
    });
    const gap = places.length > 1 ? Math.abs(places[1]! - places[0]!) : 200;
    return best >= 0 && Math.abs(places[best]! - x) < gap / 2 ? best : -1;
}
