/** The rung ladder: how a search with early stopping decides, in one picture. Pure. */
import {css, rungColour} from "../drawing/colour";
import type {Figure, Hit, Look, Size, Stress, Table} from "../drawing/figure";
import {
    above,
    layOut,
    LEFT_ROOM,
    pathOf,
    resultX,
    trainingX,
    type Ladder,
    type Layout,
    type ResultState,
    type RungResult,
    type Strip,
} from "./ladder_layout";
import {countText, metricText, shareText, tickText} from "../drawing/number";
import {fitText, type Pen, type Shape} from "../drawing/pen";

export interface LadderOptions {
    readonly unit: string;
}

const SHAPES: Record<ResultState, Shape> = {
    promoted: "circle",
    waiting: "ring",
    stopped: "cross",
    finished: "diamond",
    failed: "triangle",
};

export function ladderFigure(ladder: Ladder, options: LadderOptions, size: Size, look: Look): Figure {
    const layout = layOut(ladder, size.width, size.height);
    const {say, theme} = look;
    const marks = layout.strips.reduce((sum, strip) => sum + strip.rung.results.length, 0);
    return {
        ...size,
        marks,
        sentence: sentence(ladder, options, look),
        draw(pen) {
            drawRows(pen, layout, options, look);
            for (const strip of layout.strips) drawFunnel(pen, layout, strip, look);
            drawEdges(pen, layout, look, null);
            for (const strip of layout.strips) drawStrip(pen, strip, look);
            for (const strip of layout.strips) drawKeepLine(pen, strip, look);
            for (const column of layout.columns) {
                if (ladder.brackets.length > 1) {
                    pen.text(fitText(pen, column.bracket.name, column.right - column.left, 12), column.left, layout.top - 16, {
                        fill: theme.ink,
                        size: 12,
                        weight: 600,
                        base: "middle",
                    });
                }
            }
        },
        drawStress(pen, stress) {
            drawStress(pen, layout, stress, look);
        },
        hitAt: (x, y) => hitAt(layout, x, y, ladder, options, look),
        moveBy: (from, key) => moveBy(layout, from, key, ladder, options, look),
        table: () => table(ladder, say),
    };
}

/** 27 epochs, 1 epoch. */
export function lengthText(length: number, unit: string): string {
    return `${tickText(length, 0)} ${length === 1 && /[a-z]s$/.test(unit) ? unit.slice(0, -1) : unit}`;
}

function colourOf(strip: Strip, state: ResultState, look: Look): string {
    const {theme} = look;
    if (state === "stopped") return theme.faint;
    if (state === "failed") return theme.bad;
    return css(rungColour(strip.row, strip.rows, theme.dark));
}

function drawRows(pen: Pen, layout: Layout, {unit}: LadderOptions, {theme, say}: Look): void {
    const right = Math.max(...layout.columns.map((column) => column.right), LEFT_ROOM);
    layout.lengths.forEach((length, row) => {
        const bottom = Math.round(layout.bottom - row * layout.rowHeight) + 0.5;
        pen.line([0, bottom, right, bottom], {stroke: theme.grid});
        const middle = bottom - layout.rowHeight * 0.42;
        pen.text(fitText(pen, lengthText(length, unit), LEFT_ROOM - 14, 12), 0, layout.columns.length === 1 ? middle - 8 : middle, {
            fill: theme.ink,
            size: 12,
            weight: 600,
            base: "middle",
        });
        // Brackets begin at different lengths, so that one row is another rung in each.
        if (layout.columns.length === 1) pen.text(say("plot.ladder.rung", {rung: row}), 0, middle + 8, {fill: theme.muted, size: 11, base: "middle"});
    });
    pen.text(say("plot.ladder.best_left"), LEFT_ROOM, layout.bottom + 5, {fill: theme.muted, size: 11, base: "top"});
}

/** What a rung keeps grows into the rung above: a faint band from the kept results to the next strip. */
function drawFunnel(pen: Pen, layout: Layout, strip: Strip, {theme}: Look): void {
    const next = above(layout, strip);
    if (!next || !(strip.keepX > strip.box.left)) return;
    const bottom = strip.middle - 14;
    const top = next.middle + 14;
    const count = next.rung.results.length + next.rung.training.length;
    if (count === 0) return;
    const end = next.rung.training.length
        ? trainingX(next, next.rung.training.length - 1) + next.pitch / 2
        : resultX(next, count - 1) + next.pitch / 2;
    pen.area(
        [strip.box.left, bottom, strip.keepX, bottom, Math.max(end, next.box.left + 4), top, next.box.left, top],
        css(rungColour(next.row, next.rows, theme.dark)),
        theme.dark ? 0.09 : 0.06,
    );
}

/** An edge from each promoted result to the same trial on the next rung. */
function drawEdges(pen: Pen, layout: Layout, {theme}: Look, trials: ReadonlySet<number> | null): void {
    for (const strip of layout.strips) {
        const next = above(layout, strip);
        // More than a few dozen edges are a haze; the band behind them says the same.
        if (!next || (trials === null && (next.grain !== "mark" || next.rung.results.length + next.rung.training.length > 45))) continue;
        const places = new Map<number, number>();
        next.rung.results.forEach((result, index) => places.set(result.trial, resultX(next, index)));
        next.rung.training.forEach((trial, index) => places.set(trial, trainingX(next, index)));
        const rowColour = css(rungColour(next.row, next.rows, theme.dark));
        strip.rung.results.forEach((result, index) => {
            const to = places.get(result.trial);
            if (to === undefined || (trials && !trials.has(result.trial))) return;
            pen.line(curve(resultX(strip, index), strip.middle - 7, to, next.middle + 7), {
                stroke: rowColour,
                width: 1,
                alpha: strip.grain === "mark" ? 0.5 : 0.28,
            });
        });
    }
}

/** An S from one rung to the next, as points. */
function curve(x1: number, y1: number, x2: number, y2: number): number[] {
    const points: number[] = [];
    for (let i = 0; i <= 20; ++i) {
        const t = i / 20;
        const s = t * t * (3 - 2 * t);
        points.push(x1 + (x2 - x1) * s, y1 + (y2 - y1) * t);
    }
    return points;
}

function drawStrip(pen: Pen, strip: Strip, look: Look): void {
    const {theme, say} = look;
    const {rung, middle} = strip;
    if (rung.results.length === 0 && rung.training.length === 0) {
        pen.text(say("plot.ladder.no_result"), strip.box.left, middle, {fill: theme.muted, size: 11, base: "middle"});
    }
    if (strip.grain === "bin") drawBins(pen, strip, look);
    else rung.results.forEach((result, index) => drawResult(pen, strip, result, index, look));
    const running = theme.states["running"]!;
    rung.training.forEach((_, index) => {
        const x = trainingX(strip, index);
        if (strip.grain === "mark") pen.mark("half", x, middle, strip.size, running);
        else pen.rect(x - strip.pitch / 2, middle - 5, Math.max(1, strip.pitch - 0.5), 10, running);
    });
}

function drawResult(pen: Pen, strip: Strip, result: RungResult, index: number, look: Look): void {
    const x = resultX(strip, index);
    const colour = colourOf(strip, result.state, look);
    if (strip.grain === "mark") {
        const size = result.state === "stopped" ? strip.size * 0.8 : strip.size;
        pen.mark(SHAPES[result.state], x, strip.middle, size, colour, look.theme.surface);
        return;
    }
    const half = result.state === "stopped" ? 4 : 9;
    pen.rect(x - strip.size / 2, strip.middle - half, strip.size, half * 2, colour, 0, result.state === "waiting" ? 0.4 : 1);
}

/** One column for several results: the heights are the shares of promoted, waiting and stopped. */
function drawBins(pen: Pen, strip: Strip, look: Look): void {
    const results = strip.rung.results;
    const columns = Math.max(1, Math.floor((results.length * strip.pitch) / 2));
    for (let column = 0; column < columns; ++column) {
        const from = Math.floor((column * results.length) / columns);
        const to = Math.max(from + 1, Math.floor(((column + 1) * results.length) / columns));
        let kept = 0;
        let waiting = 0;
        for (let i = from; i < to; ++i) {
            const state = results[i]!.state;
            if (state === "promoted" || state === "finished") ++kept;
            else if (state === "waiting") ++waiting;
        }
        const x = strip.box.left + column * 2;
        const total = to - from;
        const tall = 20;
        const bottom = strip.middle + tall / 2;
        const keptTall = (tall * kept) / total;
        const waitTall = (tall * waiting) / total;
        pen.rect(x, bottom - tall, 2, tall, look.theme.faint, 0, 0.35);
        if (waitTall > 0) pen.rect(x, bottom - keptTall - waitTall, 2, waitTall, colourOf(strip, "waiting", look), 0, 0.4);
        if (keptTall > 0) pen.rect(x, bottom - keptTall, 2, keptTall, colourOf(strip, "promoted", look));
    }
}

/** The line between what goes on and what does not, with its rule in words. */
function drawKeepLine(pen: Pen, strip: Strip, {theme, say}: Look): void {
    const {rung, box, middle} = strip;
    const y = middle + 22;
    const note = {fill: theme.muted, size: 11, base: "middle", halo: theme.surface} as const;
    if (strip.top) {
        if (rung.results.length > 0) {
            pen.text(
                fitText(pen, say("plot.ladder.full", {n: rung.results.length, best: metricText(rung.results[0]!.metric)}), box.right - box.left, 11),
                box.left,
                y,
                note,
            );
        }
        return;
    }
    if (rung.results.length === 0) return;
    if (rung.keep === 0) {
        pen.text(fitText(pen, rung.rule, box.right - box.left, 11), box.left, y, note);
        return;
    }
    const x = Math.round(strip.keepX) + 0.5;
    pen.line([x, middle - 17, x, middle + 27], {stroke: theme.ink, width: 1.25});
    pen.line([box.left, middle - 17, x, middle - 17], {stroke: theme.ink, width: 1.25});
    pen.line([box.left + 0.5, middle - 17, box.left + 0.5, middle - 12], {stroke: theme.ink, width: 1.25});
    const keeps = say("plot.ladder.keeps", {keep: countText(rung.keep), size: countText(rung.size)});
    const cut = rung.cut_off === null ? keeps : `${keeps} · ${say("plot.ladder.cut_off", {value: metricText(rung.cut_off)})}`;
    const room = box.right + 14 - x;
    const text = pen.textWidth(cut, 11) <= room ? cut : keeps;
    if (pen.textWidth(text, 11) <= room) pen.text(text, x + 6, y, note);
    else pen.text(fitText(pen, text, x - box.left + 80, 11), x - 6, y, {...note, align: "right"});
}

function drawStress(pen: Pen, layout: Layout, stress: Stress, look: Look): void {
    const {theme, say} = look;
    const trials = new Set([...stress.selected, ...(stress.hovered === null ? [] : [stress.hovered])]);
    let labels = 0;
    for (const trial of trials) {
        const path = pathOf(layout, trial);
        for (let i = 0; i + 1 < path.length; ++i) {
            pen.line(curve(path[i]!.x, path[i]!.y - 7, path[i + 1]!.x, path[i + 1]!.y + 7), {stroke: theme.accent, width: 2.5});
        }
        for (const {strip, x, y} of path) {
            pen.frame(
                x - strip.size / 2 - 4,
                y - strip.size / 2 - 4,
                strip.size + 8,
                strip.size + 8,
                {stroke: theme.accent, width: 2.5},
                strip.size / 2 + 4,
            );
        }
        const last = path[path.length - 1];
        if (last && stress.selected.has(trial) && labels++ < 8) {
            pen.text(say("plot.trial", {trial}), last.x, last.y - 15, {
                fill: theme.accent,
                size: 12,
                weight: 650,
                align: "center",
                base: "bottom",
                halo: theme.surface,
            });
        }
    }
}

function hitOf(strip: Strip, index: number, training: boolean, ladder: Ladder, {unit}: LadderOptions, {say}: Look): Hit {
    const {rung} = strip;
    if (training) {
        const trial = rung.training[index]!;
        return {
            trial,
            index,
            x: trainingX(strip, index),
            y: strip.middle,
            title: say("plot.trial", {trial}),
            lines: [
                [say("plot.ladder.rung", {rung: rung.rung}), lengthText(rung.length, unit)],
                ["", say("plot.ladder.training")],
            ],
        };
    }
    const result = rung.results[index]!;
    const lines: [string, string][] = [
        [ladder.metric, result.nonfinite ?? metricText(result.metric)],
        [say("plot.ladder.rank"), say("plot.ladder.rank_of", {rank: index + 1, size: rung.results.length})],
    ];
    if (!strip.top && rung.cut_off !== null) lines.push([say("plot.ladder.cut_off_name"), metricText(rung.cut_off)]);
    lines.push([lengthText(rung.length, unit), say(`plot.ladder.is_${result.state}`)]);
    return {trial: result.trial, index, x: resultX(strip, index), y: strip.middle, title: say("plot.trial", {trial: result.trial}), lines};
}

function hitAt(layout: Layout, x: number, y: number, ladder: Ladder, options: LadderOptions, look: Look): Hit | null {
    const strip = layout.strips.find(({box, middle}) => x >= box.left - 6 && x <= box.right + 6 && Math.abs(y - middle) <= 18);
    if (!strip) return null;
    const place = (x - strip.box.left) / strip.pitch;
    const index = Math.floor(place);
    if (index >= 0 && index < strip.rung.results.length) return hitOf(strip, index, false, ladder, options, look);
    const busy = index - strip.rung.results.length - 1;
    return busy >= 0 && busy < strip.rung.training.length ? hitOf(strip, busy, true, ladder, options, look) : null;
}

/** Left and right along a rung; up and down follow the trial, else go to the nearest mark of the next rung. */
function moveBy(layout: Layout, from: Hit | null, key: string, ladder: Ladder, options: LadderOptions, look: Look): Hit | null {
    const filled = layout.strips.filter((strip) => strip.rung.results.length > 0);
    if (filled.length === 0) return null;
    const strip = from ? filled.find((each) => Math.abs(each.middle - from.y) < 1 && from.x >= each.box.left && from.x <= each.box.right) : undefined;
    if (!from || !strip) return hitOf(filled[0]!, 0, false, ladder, options, look);
    const last = strip.rung.results.length - 1;
    const now = from.index ?? 0;
    if (key === "Home") return hitOf(strip, 0, false, ladder, options, look);
    if (key === "End") return hitOf(strip, last, false, ladder, options, look);
    if ((key === "ArrowLeft" && now === 0) || (key === "ArrowRight" && now >= last)) {
        const beside = layout.columns.findIndex(({bracket}) => bracket.bracket === strip.bracket) + (key === "ArrowLeft" ? -1 : 1);
        const bracket = layout.columns[beside]?.bracket.bracket;
        const next = filled.find((each) => each.bracket === bracket);
        return next ? hitOf(next, 0, false, ladder, options, look) : hitOf(strip, now, false, ladder, options, look);
    }
    if (key === "ArrowLeft" || key === "ArrowRight") return hitOf(strip, now + (key === "ArrowLeft" ? -1 : 1), false, ladder, options, look);
    const step = key === "ArrowUp" ? 1 : -1;
    const next = filled.find((each) => each.bracket === strip.bracket && each.rung.rung === strip.rung.rung + step);
    if (!next) return hitOf(strip, now, false, ladder, options, look);
    const same = next.rung.results.findIndex((result) => result.trial === from.trial);
    const nearest = Math.min(next.rung.results.length - 1, Math.max(0, Math.floor((from.x - next.box.left) / next.pitch)));
    return hitOf(next, same >= 0 ? same : nearest, false, ladder, options, look);
}

export function counts(ladder: Ladder): Record<ResultState | "training", number> {
    const sum = {promoted: 0, waiting: 0, stopped: 0, finished: 0, failed: 0, training: 0};
    for (const bracket of ladder.brackets) {
        for (const rung of bracket.rungs) {
            sum.training += rung.training.length;
            for (const result of rung.results) ++sum[result.state];
        }
    }
    return sum;
}

function sentence(ladder: Ladder, {unit}: LadderOptions, {say}: Look): string {
    const first = ladder.brackets.reduce((sum, bracket) => sum + (bracket.rungs[0]?.results.length ?? 0), 0);
    if (first === 0) return say("plot.ladder.sentence_none");
    const tops = ladder.brackets.map((bracket) => bracket.rungs[bracket.rungs.length - 1]!).filter(Boolean);
    const full = tops.reduce((sum, rung) => sum + rung.results.length, 0);
    const lengths = lengthsText(ladder, unit);
    const {stopped, waiting, training} = counts(ladder);
    const rest = (
        [
            ["stopped", stopped],
            ["waiting", waiting],
            ["training", training],
        ] as const
    )
        .filter(([, count]) => count > 0)
        .map(([name, count]) => say(`plot.ladder.sentence_${name}`, {n: countText(count)}));
    const main = say("plot.ladder.sentence", {first: countText(first), lengths, full: countText(full), share: shareText(full / first)});
    return rest.length > 0 ? `${main} ${say("plot.ladder.sentence_rest", {list: rest.join(", ")})}` : main;
}

function lengthsText(ladder: Ladder, unit: string): string {
    const lengths = [...new Set(ladder.brackets.flatMap((bracket) => bracket.rungs.map((rung) => rung.length)))].sort((a, b) => a - b);
    return `${lengths.map((length) => tickText(length, 0)).join(", ")} ${unit}`;
}

function table(ladder: Ladder, say: Look["say"]): Table {
    return {
        columns: ["bracket", "rung", "length", "rank", "trial", "metric", "state", "keep", "size", "cut_off"].map((name) =>
            say(`plot.column.${name}`),
        ),
        rows: ladder.brackets.flatMap((bracket) =>
            bracket.rungs.flatMap((rung) =>
                rung.results.map((result, index) => [
                    bracket.bracket,
                    rung.rung,
                    rung.length,
                    index + 1,
                    result.trial,
                    result.metric ?? result.nonfinite,
                    result.state,
                    rung.keep,
                    rung.size,
                    rung.cut_off,
                ]),
            ),
        ),
    };
}
