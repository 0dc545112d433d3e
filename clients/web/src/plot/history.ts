/** The best result so far, and all results behind it. Pure. */
import {drawAxes, labelRoom, rightwards, spreadLabels, timeRoom, upwards, xOf} from "./drawing/axes";
import {drawCloud} from "./drawing/cloud";
import {parseColour} from "./drawing/colour";
import type {Clip} from "./drawing/domain";
import {stepAlong, type Figure, type Hit, type Look, type Size} from "./drawing/figure";
import {HitGrid} from "./drawing/hit_grid";
import {drawStrip, metricAxis, metricY} from "./metric_axis";
import {countText, cutMiddle, durationText, metricText} from "./drawing/number";
import {elapsed, whole, type ScaleKind} from "./drawing/scale";
import {lineColours} from "./drawing/theme";
import type * as Api from "../api/types";

export type History = Api.History;

export type HistoryX = "time" | "trials" | "slot_seconds";

/** Results of all trials: where each stands on the x axis, and its metric. */
export interface Results {
    readonly trials: ArrayLike<number>;
    readonly x: Float64Array;
    readonly metric: Float64Array;
}

export interface HistoryOptions {
    readonly x: HistoryX;
    readonly kind: ScaleKind;
    readonly clip: Clip;
    readonly unit: string;
    readonly name: string;
    readonly small: boolean;
    readonly others: readonly {readonly name: string; readonly history: History}[];
}

const NOTHING: Results = {trials: [], x: new Float64Array(0), metric: new Float64Array(0)};

export function startOf(history: History): number {
    return history.started_at ?? history.points[0]?.time ?? history.end.time;
}

/** Where the budget ends on an axis, null where it has no such end. */
export function budgetOf({budget}: History, x: HistoryX): number | null {
    if (x === "slot_seconds") return budget?.max_slot_hours ? budget.max_slot_hours * 3600 : null;
    return x === "time" ? (budget?.max_time ?? null) : null;
}

export function historyX(history: History, point: {time: number; slot_seconds: number; trials: number}, x: HistoryX): number {
    return x === "time" ? point.time - startOf(history) : x === "trials" ? point.trials : point.slot_seconds;
}

export function historyFigure(history: History, results: Results | null, options: HistoryOptions, size: Size, look: Look): Figure {
    const {theme, say} = look;
    const {x} = options;
    const cloud = results ?? NOTHING;
    const lines = [{name: options.name, history}, ...options.others];
    const values = [
        ...lines.flatMap((line) => line.history.points.map((point) => point.metric)),
        ...(history.target === null ? [] : [history.target]),
    ];
    const all = new Float64Array(values.length + cloud.metric.length);
    all.set(values);
    all.set(cloud.metric, values.length);
    const axis = metricAxis(all, options.kind, options.clip);
    const budget = budgetOf(history, x);
    const ends = lines.map((line) => historyX(line.history, line.history.end, x));
    const most = Math.max(...ends, budget ?? 0, x === "trials" ? 1 : 1e-3);
    const xScale = x === "trials" ? whole(0, most) : elapsed(0, most, durationText);
    const measure = {textWidth: (text: string, px: number) => text.length * px * 0.58};
    const count = Math.max(2, Math.round((size.height - 60) / 48));
    const labels = lines.map((line) =>
        line.history.points.length > 0 ? metricText(line.history.points[line.history.points.length - 1]!.metric) : "",
    );
    // Names stand beside their values where there is room; colours and the legend tell the lines apart elsewhere.
    const mostRoom = size.width * 0.3;
    const letters = Math.min(18, Math.floor((mostRoom - 16) / 7.5) - Math.max(...labels.map((text) => text.length)) - 1);
    const names = options.others.length > 0 && letters >= 6 ? lines.map((line, i) => `${cutMiddle(line.name, letters)} ${labels[i]}`) : labels;
    const endRoom = Math.min(mostRoom, Math.max(timeRoom(size.width).right, ...names.map((text) => text.length * 7.5 + 16)));
    const box = {
        left: Math.max(timeRoom(size.width).left, labelRoom(measure, axis.scale, count)),
        top: 26,
        right: size.width - endRoom,
        bottom: size.height - 44 - axis.strip,
    };
    const px = xOf(box, xScale);
    const py = metricY(axis, box);
    const xs = Float32Array.from(cloud.x, px);
    const ys = Float32Array.from(cloud.metric, py);
    const grid = new HitGrid(xs, ys, size.width, size.height);
    const colours = lineColours(theme);
    const own = history.points;
    const last = own[own.length - 1];
    // The own points first: keys move along these.
    const points = lines.flatMap((line) => line.history.points.map((point) => ({line, point})));

    const pointHit = (index: number): Hit | null => {
        if (!points[index]) return null;
        const {line, point} = points[index];
        const trial = say("plot.trial", {trial: point.trial});
        return {
            // Trials of another search can be neither chosen nor opened here.
            trial: line === lines[0] ? point.trial : -1,
            index,
            x: pointXs[index]!,
            y: pointYs[index]!,
            title: options.others.length > 0 ? `${line.name}: ${trial}` : trial,
            lines: [
                [history.metric, metricText(point.metric)],
                [say("plot.length"), `${point.length} ${options.unit}`],
                [say("plot.history.after"), durationText(point.time - startOf(line.history))],
                [say("plot.history.slot_time"), durationText(point.slot_seconds)],
            ],
        };
    };
    const pointXs = Float32Array.from(points, ({line, point}) => px(historyX(line.history, point, x)));
    const pointYs = Float32Array.from(points, ({point}) => py(point.metric));
    const pointGrid = new HitGrid(pointXs, pointYs, size.width, size.height);

    return {
        ...size,
        marks: cloud.metric.length + values.length,
        sentence:
            options.others.length > 0
                ? say("plot.history.sentence_all", {
                      metric: history.metric,
                      list: lines.map(({name}, i) => `${name} ${labels[i] || "–"}`).join(", "),
                  })
                : last
                  ? say("plot.history.sentence", {
                        metric: history.metric,
                        best: metricText(last.metric),
                        trial: last.trial,
                        time: durationText(last.time - startOf(history)),
                        n: own.length,
                        trials: countText(history.end.trials),
                    })
                  : say("plot.history.sentence_none", {metric: history.metric}),
        draw(pen) {
            const xName = x === "time" ? say("plot.history.time") : x === "trials" ? say("plot.history.trials") : say("plot.history.slots");
            drawAxes(pen, theme, {box, y: axis.scale, yLabel: upwards(history.metric), yCount: count});
            drawStrip(pen, axis, box, look);
            drawCloud(
                pen,
                {...box, bottom: box.bottom + axis.strip},
                {
                    xs,
                    ys,
                    palette: [parseColour(theme.faint)],
                    alpha: cloud.metric.length > 300 ? 0.35 : 0.5,
                    size: cloud.metric.length > 300 ? 3 : 4.5,
                    rows: xs.length,
                },
            );
            drawAxes(pen, theme, {box: {...box, bottom: box.bottom + axis.strip}, x: xScale, xLabel: rightwards(xName)});
            const note = {fill: theme.muted, size: 11, halo: theme.surface} as const;
            if (history.target !== null) {
                const y = py(history.target);
                pen.line([box.left, y, box.right, y], {stroke: theme.states["completed"]!, dash: [5, 4]});
                pen.text(say("plot.history.target", {value: metricText(history.target)}), box.left + 4, y - 4, {...note, base: "bottom"});
            }
            if (budget !== null) {
                const at = px(budget);
                pen.line([at, box.top, at, box.bottom], {stroke: theme.muted, dash: [2, 3]});
                pen.text(say("plot.history.budget"), at - 4, box.top, {...note, align: "right", base: "top"});
            }
            const places: number[] = [];
            [...lines].reverse().forEach((line, back) => {
                const i = lines.length - 1 - back;
                const steps: number[] = [];
                for (const point of line.history.points) {
                    const at = px(historyX(line.history, point, x));
                    if (steps.length > 0) steps.push(at, steps[steps.length - 1]!);
                    steps.push(at, py(point.metric));
                }
                if (steps.length > 0) steps.push(px(ends[i]!), steps[steps.length - 1]!);
                places[i] = steps.length > 0 ? steps[steps.length - 1]! : NaN;
                const colour = colours[i % colours.length]!;
                pen.line(steps, {stroke: colour, width: i === 0 ? 2 : 1.5});
                if (i === 0 && own.length <= 200)
                    for (let k = 0; k < own.length; ++k) pen.mark("circle", pointXs[k]!, pointYs[k]!, k === own.length - 1 ? 8 : 5, colour);
            });
            const shown = places.map((_, i) => i).filter((i) => !Number.isNaN(places[i]!));
            const moved = spreadLabels(
                shown.map((i) => places[i]!),
                15,
                box.top,
                box.bottom,
            );
            shown.forEach((i, k) =>
                pen.text(names[i]!, px(ends[i]!) + 8, moved[k]!, {fill: colours[i % colours.length]!, size: 12, weight: 620, base: "middle"}),
            );
        },
        drawStress(pen, stress) {
            for (let row = 0; row < cloud.trials.length; ++row) {
                const trial = cloud.trials[row]!;
                if (stress.selected.has(trial) || trial === stress.hovered) pen.mark("ring", xs[row]!, ys[row]!, 11, theme.accent);
            }
            if (stress.hit) pen.mark("ring", stress.hit.x, stress.hit.y, 12, theme.ink);
        },
        hitAt(at, y) {
            const point = pointGrid.nearest(at, y, 14);
            if (point >= 0) return pointHit(point);
            const row = grid.nearest(at, y, 10);
            if (row < 0) return null;
            return {
                trial: cloud.trials[row]!,
                x: xs[row]!,
                y: ys[row]!,
                title: say("plot.trial", {trial: cloud.trials[row]!}),
                lines: [[history.metric, metricText(cloud.metric[row]!)]],
            };
        },
        moveBy: (from, key) => stepAlong(own.length, from, key, pointHit),
        table: () => ({
            columns: [
                ...(options.others.length > 0 ? [say("tab.label")] : []),
                say("plot.column.trial"),
                history.metric,
                say("plot.length"),
                say("plot.history.after"),
                say("plot.history.slot_time"),
                say("plot.history.trials"),
            ],
            rows: points.map(({line, point}) => [
                ...(options.others.length > 0 ? [line.name] : []),
                point.trial,
                point.metric,
                point.length,
                durationText(point.time - startOf(line.history)),
                durationText(point.slot_seconds),
                point.trials,
            ]),
        }),
    };
}
