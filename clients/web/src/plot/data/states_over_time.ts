/** How many trials were in which state over time, stacked. Pure. */
import {drawAxes, labelRoom, rightwards, spreadLabels, timeRoom, xOf, yOf} from "../drawing/axes";
import {lowerBound, upperBound} from "../drawing/domain";
import type {Figure, Look, Size} from "../drawing/figure";
import {countText, durationText} from "../drawing/number";
import {elapsed, whole} from "../drawing/scale";

export interface Lives {
    readonly created: Float64Array;
    /** NaN where the trial has not started, or not ended. */
    readonly started: Float64Array;
    readonly ended: Float64Array;
    readonly state: readonly string[];
}

/** From the bottom up: what is done for good lies at the bottom. */
const ENDS = ["COMPLETED", "STOPPED", "FAILED", "CANCELED"] as const;
export const LAYERS = [...ENDS, "RUNNING", "PAUSED", "PENDING"] as const;
export type Layer = (typeof LAYERS)[number];

export const opacityOf = (layer: Layer) => (layer === "PENDING" ? 0.28 : layer === "PAUSED" ? 0.45 : layer === "STOPPED" ? 0.5 : 0.75);

/** How many trials ran on average between edges[i] and edges[i + 1]. */
export interface Running {
    readonly edges: readonly number[];
    readonly trials: readonly number[];
}

function runningAt({edges, trials}: Running, time: number): number {
    const bin = upperBound(edges, time) - 1;
    return Math.round(trials[Math.min(trials.length - 1, bin)] ?? 0);
}

/**
 * counts[layer][i] of the moment `times[i]`. A trial is pending from its creation to its first start; until its end it
 * runs or is paused, then it is in its last state. Without `running`, pauses count as running.
 */
export function countStates(lives: Lives, times: ArrayLike<number>, running: Running | null = null): Record<Layer, Float64Array> {
    const counts = Object.fromEntries(LAYERS.map((layer) => [layer, new Float64Array(times.length)])) as Record<Layer, Float64Array>;
    const created = lives.created.slice().sort();
    const started = lives.started.filter((time) => !Number.isNaN(time)).sort();
    const allEnds = lives.ended.filter((time) => !Number.isNaN(time)).sort();
    const neverStarted = lives.ended.filter((time, row) => !Number.isNaN(time) && Number.isNaN(lives.started[row]!)).sort();
    for (const end of ENDS) {
        const ends = lives.ended.filter((time, row) => !Number.isNaN(time) && lives.state[row] === end).sort();
        for (let i = 0; i < times.length; ++i) counts[end][i] = upperBound(ends, times[i]!);
    }
    for (let i = 0; i < times.length; ++i) {
        const begun = upperBound(started, times[i]!);
        const over = upperBound(allEnds, times[i]!);
        const lost = upperBound(neverStarted, times[i]!);
        const open = Math.max(0, begun - (over - lost));
        counts.RUNNING[i] = running ? Math.min(open, runningAt(running, times[i]!)) : open;
        counts.PAUSED[i] = open - counts.RUNNING[i]!;
        counts.PENDING[i] = Math.max(0, upperBound(created, times[i]!) - begun - lost);
    }
    return counts;
}

export function statesFigure(
    lives: Lives,
    running: Running | null,
    from: number,
    to: number,
    name: (state: string) => string,
    size: Size,
    look: Look,
): Figure {
    const {theme, say} = look;
    const steps = Math.max(2, Math.min(400, Math.round(size.width / 2)));
    const times = Float64Array.from({length: steps + 1}, (_, i) => from + ((to - from) * i) / steps);
    const counts = countStates(lives, times, running);
    const most = Math.max(1, ...Array.from(times, (_, i) => LAYERS.reduce((sum, layer) => sum + counts[layer][i]!, 0)));
    const yScale = whole(0, most);
    const xScale = elapsed(0, Math.max(1e-3, to - from), durationText);
    const seen = LAYERS.filter((layer) => counts[layer].some((count) => count > 0));
    const measure = {textWidth: (text: string, px: number) => text.length * px * 0.58};
    const box = {
        left: Math.max(timeRoom(size.width).left, labelRoom(measure, yScale, 4)),
        top: 26,
        right:
            size.width -
            Math.max(
                timeRoom(size.width).right,
                ...seen
                    .filter((layer) => counts[layer][steps]! > 0)
                    .map((layer) => `${name(layer)} ${countText(counts[layer][steps]!)}`.length * 6.8 + 14),
            ),
        bottom: size.height - 44,
    };
    const px = xOf(box, xScale);
    const py = yOf(box, yScale);
    const colour = (layer: Layer) => theme.states[layer.toLowerCase()]!;
    const floor = (layer: Layer, i: number) => {
        let sum = 0;
        for (const each of LAYERS) {
            if (each === layer) break;
            sum += counts[each][i]!;
        }
        return sum;
    };
    return {
        ...size,
        marks: seen.length * 2,
        sentence: say("plot.states.sentence", {
            list: seen.map((layer) => `${countText(counts[layer][steps]!)} ${name(layer).toLowerCase()}`).join(", "),
            time: durationText(to - from),
        }),
        draw(pen) {
            drawAxes(pen, theme, {
                box,
                y: yScale,
                yLabel: `↑ ${say("plot.history.trials")}`,
                yCount: Math.max(2, Math.round((box.bottom - box.top) / 44)),
            });
            const middles: number[] = [];
            for (const layer of seen) {
                const points: number[] = [];
                for (let i = 0; i <= steps; ++i) points.push(px(times[i]! - from), py(floor(layer, i) + counts[layer][i]!));
                for (let i = steps; i >= 0; --i) points.push(px(times[i]! - from), py(floor(layer, i)));
                pen.area(points, colour(layer), opacityOf(layer));
                middles.push(py(floor(layer, steps) + counts[layer][steps]! / 2));
            }
            drawAxes(pen, theme, {box, x: xScale, xLabel: rightwards(say("plot.history.time"))});
            const labelled = seen.filter((layer) => counts[layer][steps]! > 0);
            const moved = spreadLabels(
                labelled.map((layer) => middles[seen.indexOf(layer)]!),
                15,
                box.top,
                box.bottom,
            );
            labelled.forEach((layer, i) =>
                pen.text(`${name(layer)} ${countText(counts[layer][steps]!)}`, box.right + 8, moved[i]!, {
                    fill: colour(layer),
                    size: 11,
                    weight: 560,
                    base: "middle",
                }),
            );
        },
        drawStress(pen, {hit}) {
            if (hit) pen.line([hit.x, box.top, hit.x, box.bottom], {stroke: theme.muted, width: 1});
        },
        hitAt(x, y) {
            if (x < box.left || x > box.right || y < box.top - 10 || y > box.bottom + 10) return null;
            const index = Math.min(steps, Math.max(0, lowerBound(times, from + xScale.value((x - box.left) / (box.right - box.left)))));
            return momentHit(index);
        },
        moveBy(hit, key) {
            const step = key === "ArrowRight" || key === "ArrowUp" ? 4 : -4;
            const now = hit?.index ?? (step > 0 ? 0 : steps);
            return momentHit(key === "Home" ? 0 : key === "End" ? steps : Math.min(steps, Math.max(0, now + step)));
        },
        table: () => ({
            columns: [say("plot.history.after"), ...seen.map(name)],
            rows: Array.from({length: 41}, (_, i) => Math.round((i * steps) / 40)).map((i) => [
                durationText(times[i]! - from),
                ...seen.map((layer) => counts[layer][i]!),
            ]),
        }),
    };
    function momentHit(index: number) {
        return {
            trial: -1,
            index,
            x: px(times[index]! - from),
            y: box.top + 20,
            title: durationText(times[index]! - from),
            lines: [...seen].reverse().map((layer) => [name(layer), countText(counts[layer][index]!)] as const),
        };
    }
}
