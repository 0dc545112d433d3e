/** One of the figures of an attempt, over its time. Pure. */
import type {Utilization} from "../api/types";
import {drawAxes, xOf, yOf} from "./drawing/axes";
import type {Figure, Look, Size} from "./drawing/figure";
import {durationText} from "./drawing/number";
import {elapsed, linear} from "./drawing/scale";

export type Column = readonly (number | null)[];

export function utilizationFigure(used: Utilization, name: string, values: Column, size: Size, {theme, say}: Look): Figure {
    const from = used.at[0]! - used.seconds[0]!;
    const times = used.at.map((at) => at - from);
    const box = {left: 44, top: 26, right: size.width - 20, bottom: size.height - 28};
    const x = elapsed(0, times.at(-1)!, durationText);
    const y = linear(0, Math.max(...values.map(Number)));
    // A value is the mean of its seconds, so one alone is seen, too.
    const points = values.flatMap((value, row) => {
        const height = value === null ? NaN : yOf(box, y)(value);
        return [times[row]! - used.seconds[row]!, times[row]!].flatMap((time) => [xOf(box, x)(time), height]);
    });
    return {
        ...size,
        marks: values.length,
        sentence: name,
        draw(pen) {
            drawAxes(pen, theme, {box, x, y, yLabel: name});
            pen.line(points, {stroke: theme.accent});
        },
        table: () => ({columns: [say("plot.history.time"), name], rows: values.map((value, row) => [times[row]!, value])}),
    };
}
