/** What ran on every slot, and when. Pure. */
import {drawAxes, rightwards, xOf} from "./drawing/axes";
import {css, mix, parseColour} from "./drawing/colour";
import type {Figure, Hit, Look, Size} from "./drawing/figure";
import {countText, durationText, shareText} from "./drawing/number";
import {fitText, hatch, type Pen, type Shape} from "./drawing/pen";
import {elapsed} from "./drawing/scale";
import {isLane} from "./timeline_lanes";
import type * as Api from "../api/types";

export type Slot = Api.TimelineSlot;
export type Bar = Api.TimelineBar;
export type Outcome = Bar["outcome"];
type Taken = Api.TimelineTaken;
export type Timeline = Api.Timeline;

/** Where the worker was not there, within a window. */
export function absences(timeline: Timeline, worker: number): readonly (readonly [number, number])[] {
    const there = timeline.presences.filter((each) => each.worker === worker);
    if (there.length === 0) return [];
    const gaps: [number, number][] = [];
    let from = timeline.from;
    for (const each of there) {
        if (each.from > from) gaps.push([from, Math.min(each.from, timeline.to)]);
        from = Math.max(from, each.to ?? timeline.to);
    }
    if (from < timeline.to) gaps.push([from, timeline.to]);
    return gaps.filter(([begin, end]) => end > begin);
}

/** The share of the window in which a slot could have run something and ran nothing. */
export function idleShare(timeline: Timeline, slot: Slot): number {
    const size = timeline.to - timeline.from;
    const gaps = absences(timeline, slot.worker);
    const rested =
        size <= 0
            ? 0
            : timeline.quarantines
                  .filter((each) => each.worker === slot.worker)
                  .reduce(
                      (sum, each) =>
                          sum +
                          Math.max(0, Math.min(each.to ?? timeline.now, timeline.to) - Math.max(each.from, timeline.from)) -
                          gaps.reduce((both, [a, b]) => both + Math.max(0, Math.min(b, each.to ?? timeline.now) - Math.max(a, each.from)), 0),
                      0,
                  ) / size;
    return Math.max(0, 1 - slot.busy - slot.taken - slot.away - Math.min(rested, 1));
}

export const OUTCOMES: readonly Outcome[] = ["running", "finished", "paused", "stopped", "failed", "lost", "preempted", "canceled"];
/** Troubles have a mark besides their colour. */
const SHAPES: Partial<Record<Outcome, Shape>> = {failed: "triangle", lost: "diamond", preempted: "square", canceled: "cross"};

/** Lower rows have no room for slanted lines. */
const HATCHED = 8;
const TOP = 14;
const BOTTOM = 44;
const HEAD = 20;

const workersOf = (timeline: Timeline) => [...new Set(timeline.slots.map((slot) => slot.worker))];

export function rowHeight(timeline: Timeline): number {
    return Math.max(5, Math.min(24, Math.floor(1100 / Math.max(1, timeline.slots.length))));
}

export function timelineHeight(timeline: Timeline): number {
    return TOP + BOTTOM + workersOf(timeline).length * HEAD + Math.max(2, timeline.slots.length) * rowHeight(timeline);
}

export interface TimelineFigure extends Figure {
    readonly left: number;
    readonly right: number;
    readonly rowsTop: number;
}

/** `all`: a slot is busy whoever holds it, as the page of a worker has it; else it is when this search does. */
export function timelineFigure(
    timeline: Timeline,
    startedAt: number,
    brush: readonly [number, number] | null,
    size: Size,
    look: Look,
    all = false,
): TimelineFigure {
    const {theme, say} = look;
    const tall = rowHeight(timeline);
    const rows = new Map<string, number>();
    const busyOf = (slot: Slot) => slot.busy + (all ? slot.taken : 0);
    const heads: {y: number; name: string; busy: number; lanes: boolean}[] = [];
    let y = TOP;
    for (const worker of workersOf(timeline)) {
        const slots = timeline.slots.filter((slot) => slot.worker === worker);
        heads.push({
            y,
            name: slots[0]!.name || `${worker}`,
            busy: slots.reduce((sum, slot) => sum + busyOf(slot), 0) / slots.length,
            lanes: slots.every(isLane),
        });
        y += HEAD;
        for (const slot of slots) {
            rows.set(`${worker}.${slot.slot}`, y);
            y += tall;
        }
    }
    const box = {left: size.width < 560 ? 34 : 64, top: TOP, right: size.width - 58, bottom: y};
    const scale = elapsed(timeline.from - startedAt, Math.max(timeline.to, timeline.from + 1e-3) - startedAt, durationText);
    const px = xOf(box, scale);
    const at = (time: number) => Math.min(box.right, Math.max(box.left, px(time - startedAt)));
    const colourOf = (outcome: Outcome) => theme.states[outcome] ?? theme.faint;
    const bars = timeline.bars ?? [];
    const mean = timeline.slots.length === 0 ? 0 : timeline.slots.reduce((sum, slot) => sum + busyOf(slot), 0) / timeline.slots.length;
    const meanOf = (share: (slot: Slot) => number) =>
        timeline.slots.length === 0 ? 0 : timeline.slots.reduce((sum, slot) => sum + share(slot), 0) / timeline.slots.length;
    const takenName = (taken: Taken) =>
        taken.experiment === null ? say("plot.timeline.another_workspace") : say("plot.timeline.experiment", {id: taken.experiment});
    const takenHit = (x: number, py: number): Hit | null => {
        const found = timeline.taken.find((each) => {
            const top = rows.get(`${each.worker}.${each.slot}`);
            return top !== undefined && py >= top && py < top + tall && x >= at(each.from) && x <= at(each.to ?? timeline.now);
        });
        return found
            ? {
                  trial: -1,
                  x,
                  y: py,
                  title: takenName(found),
                  lines: [
                      [say("plot.timeline.began"), durationText(found.from - startedAt)],
                      [say("plot.timeline.took"), durationText((found.to ?? timeline.now) - found.from)],
                  ],
              }
            : null;
    };
    const hitOf = (index: number): Hit | null => {
        const bar = bars[index];
        if (!bar) return null;
        const top = rows.get(`${bar.worker}.${bar.slot}`) ?? 0;
        return {
            trial: bar.trial,
            index,
            x: (at(bar.from) + at(bar.to ?? timeline.now)) / 2,
            y: top + tall / 2,
            title: say("plot.trial", {trial: bar.trial}),
            lines: [
                [say("plot.timeline.attempt"), String(bar.attempt)],
                [say("plot.column.state"), say(`plot.timeline.is_${bar.outcome}`)],
                [say("plot.timeline.began"), durationText(bar.from - startedAt)],
                [say("plot.timeline.took"), durationText((bar.to ?? timeline.now) - bar.from)],
            ],
        };
    };
    return {
        ...size,
        left: box.left,
        right: box.right,
        rowsTop: TOP,
        marks: bars.length + timeline.slots.length,
        sentence:
            timeline.slots.length === 0
                ? say("plot.timeline.sentence_none")
                : timeline.slots.every(isLane)
                  ? say("plot.timeline.sentence_lanes", {n: timeline.slots.length})
                  : all
                    ? say("plot.timeline.sentence_worker", {
                          time: durationText(timeline.to - timeline.from),
                          share: shareText(mean),
                          none: shareText(meanOf((slot) => idleShare(timeline, slot))),
                      })
                    : say("plot.timeline.sentence", {
                          slots: countText(timeline.slots.length),
                          workers: heads.length,
                          share: shareText(mean),
                          time: durationText(timeline.to - timeline.from),
                          taken: shareText(meanOf((slot) => slot.taken)),
                          none: shareText(meanOf((slot) => idleShare(timeline, slot))),
                          idle: idleText(timeline, say),
                      }),
        draw(pen) {
            drawAxes(pen, theme, {box, x: scale, xLabel: rightwards(say("plot.history.time")), xGrid: true});
            for (const head of heads) {
                pen.text(fitText(pen, head.name, box.right - 120, 12), 0, head.y + HEAD - 8, {
                    fill: theme.ink,
                    size: 12,
                    weight: 600,
                    base: "middle",
                });
                if (!head.lanes)
                    pen.text(say("plot.timeline.busy", {share: shareText(head.busy)}), box.right + 52, head.y + HEAD - 8, {
                        fill: theme.muted,
                        size: 11,
                        align: "right",
                        base: "middle",
                    });
            }
            timeline.slots.forEach((slot) => {
                const top = rows.get(`${slot.worker}.${slot.slot}`)!;
                pen.rect(box.left, top + 1, box.right - box.left, tall - 2, theme.grid, 2, theme.dark ? 0.8 : 1);
                if (isLane(slot)) return;
                if (tall >= HATCHED) hatch(pen, box.left, top + 1, box.right - box.left, tall - 2, {stroke: theme.rule, alpha: 0.55});
                if (tall < 12) return;
                pen.text(box.left < 50 ? String(slot.slot) : say("plot.timeline.slot", {slot: slot.slot!}), box.left - 8, top + tall / 2, {
                    fill: theme.muted,
                    size: 11,
                    align: "right",
                    base: "middle",
                });
                pen.text(shareText(busyOf(slot)), box.right + 8, top + tall / 2, {
                    fill: idleShare(timeline, slot) > 0.5 ? theme.bad : theme.muted,
                    size: 11,
                    base: "middle",
                });
            });
            for (const each of timeline.quarantines) drawQuarantine(pen, each);
            for (const worker of workersOf(timeline)) drawAbsences(pen, worker);
            if (!timeline.bins) for (const each of timeline.taken) drawTaken(pen, each);
            if (timeline.bins) drawBins(pen);
            else for (const bar of bars) drawBar(pen, bar);
            if (brush) drawBrush(pen, brush);
        },
        drawStress(pen, stress) {
            bars.forEach((bar, index) => {
                const hovered = stress.hit?.index === index;
                if (!hovered && bar.trial !== stress.hovered && !stress.selected.has(bar.trial)) return;
                const top = rows.get(`${bar.worker}.${bar.slot}`);
                if (top === undefined || (bar.to ?? timeline.now) < timeline.from || bar.from > timeline.to) return;
                pen.frame(
                    at(bar.from),
                    top + 1,
                    Math.max(3, at(bar.to ?? timeline.now) - at(bar.from)),
                    tall - 2,
                    {stroke: theme.ink, width: hovered ? 2 : 1.5},
                    2,
                );
            });
        },
        hitAt(x, py) {
            for (let index = bars.length - 1; index >= 0; --index) {
                const bar = bars[index]!;
                const top = rows.get(`${bar.worker}.${bar.slot}`);
                if (top === undefined || py < top || py >= top + tall) continue;
                if (x >= at(bar.from) - 1 && x <= Math.max(at(bar.to ?? timeline.now), at(bar.from) + 3)) return hitOf(index);
            }
            return takenHit(x, py) ?? binHit(x, py);
        },
        moveBy(from, key) {
            if (bars.length === 0) return null;
            const now = from?.index;
            if (now === undefined) return hitOf(0);
            const order = bars.map((_, index) => index).sort((a, b) => rowOf(bars[a]!) - rowOf(bars[b]!) || bars[a]!.from - bars[b]!.from);
            const place = order.indexOf(now);
            if (key === "ArrowLeft" || key === "ArrowRight")
                return hitOf(order[Math.min(order.length - 1, Math.max(0, place + (key === "ArrowRight" ? 1 : -1)))]!);
            const wanted = rowOf(bars[now]!);
            const rowsBeside = order.filter((index) => (key === "ArrowUp" ? rowOf(bars[index]!) < wanted : rowOf(bars[index]!) > wanted));
            const row = rowsBeside.length === 0 ? wanted : rowOf(bars[key === "ArrowUp" ? rowsBeside[rowsBeside.length - 1]! : rowsBeside[0]!]!);
            const beside = rowsBeside.filter((index) => rowOf(bars[index]!) === row);
            const nearest = beside.reduce(
                (best, index) => (Math.abs(bars[index]!.from - bars[now]!.from) < Math.abs(bars[best]!.from - bars[now]!.from) ? index : best),
                beside[0] ?? now,
            );
            return hitOf(nearest);
        },
        table: () =>
            timeline.bins
                ? {
                      columns: [
                          say("plot.timeline.worker"),
                          say("plot.timeline.slot_name"),
                          say("plot.timeline.busy_name"),
                          say("plot.timeline.taken_name"),
                          say("plot.timeline.idle_name"),
                      ],
                      rows: timeline.slots.map((slot) => [slot.name, slot.slot, slot.busy, slot.taken, idleShare(timeline, slot)]),
                  }
                : {
                      columns: [
                          say("plot.timeline.worker"),
                          say("plot.timeline.slot_name"),
                          say("plot.column.trial"),
                          say("plot.timeline.attempt"),
                          say("plot.timeline.began"),
                          say("plot.timeline.took"),
                          say("plot.column.state"),
                      ],
                      rows: bars.map((bar) => [
                          timeline.slots.find((slot) => slot.worker === bar.worker)?.name ?? bar.worker,
                          bar.slot,
                          bar.trial,
                          bar.attempt,
                          durationText(bar.from - startedAt),
                          durationText((bar.to ?? timeline.now) - bar.from),
                          bar.outcome,
                      ]),
                  },
        valueAtX: (x) => scale.value((x - box.left) / (box.right - box.left)) + startedAt,
    };

    function rowOf(bar: Bar): number {
        return rows.get(`${bar.worker}.${bar.slot}`) ?? -1;
    }

    function drawBar(pen: Pen, bar: Bar): void {
        const top = rows.get(`${bar.worker}.${bar.slot}`);
        const end = bar.to ?? timeline.now;
        if (top === undefined || end < timeline.from || bar.from > timeline.to) return;
        const left = at(bar.from);
        const width = Math.max(1, at(end) - left - (tall >= 12 ? 1 : 0));
        const colour = colourOf(bar.outcome);
        pen.rect(left, top + 1, width, tall - 2, theme.surface);
        pen.rect(left, top + 1, width, tall - 2, colour, tall >= 12 ? 2 : 0, 0.88);
        const shape = SHAPES[bar.outcome];
        if (tall < 14) return;
        if (shape && width >= 14) pen.mark(shape, left + width - 8, top + tall / 2, 8, theme.surface);
        const text = String(bar.trial);
        if (pen.textWidth(text, 11) + 10 <= width - (shape ? 14 : 0))
            pen.text(text, left + 5, top + tall / 2, {fill: theme.surface, size: 11, weight: 560, base: "middle"});
    }

    /** On the worker's slots where nothing ran, and as a line under its name where something did. */
    function drawQuarantine(pen: Pen, {worker, from, to}: Timeline["quarantines"][number]): void {
        const left = at(from);
        const width = Math.max(2, at(to ?? timeline.now) - left);
        const colour = theme.states["waiting"]!;
        const mine = timeline.slots.filter((slot) => slot.worker === worker).map((slot) => rows.get(`${worker}.${slot.slot}`)!);
        if (mine.length === 0) return;
        pen.rect(left, Math.min(...mine) - 3, width, 3, colour);
        for (const top of mine) {
            pen.rect(left, top + 1, width, tall - 2, theme.surface);
            if (tall >= HATCHED) hatch(pen, left, top + 1, width, tall - 2, {stroke: colour, width: 1.5}, 4);
            else pen.rect(left, top + 1, width, tall - 2, colour, 0, 0.35);
        }
    }

    /** Where its worker was not there, a slot has no row to be idle in. */
    function drawAbsences(pen: Pen, worker: number): void {
        const mine = timeline.slots.filter((slot) => slot.worker === worker).map((slot) => rows.get(`${worker}.${slot.slot}`)!);
        for (const [from, to] of absences(timeline, worker)) {
            for (const top of mine) {
                pen.rect(at(from), top + 1, Math.max(1, at(to) - at(from)), tall - 2, theme.surface);
                pen.line([at(from), top + tall / 2, at(to), top + tall / 2], {stroke: theme.rule, alpha: 0.8});
            }
        }
    }

    /** What others held: grey, with the number of the experiment where there is room. */
    function drawTaken(pen: Pen, taken: Taken): void {
        const top = rows.get(`${taken.worker}.${taken.slot}`);
        const end = taken.to ?? timeline.now;
        if (top === undefined || end < timeline.from || taken.from > timeline.to) return;
        const left = at(taken.from);
        const width = Math.max(1, at(end) - left);
        pen.rect(left, top + 1, width, tall - 2, theme.surface);
        pen.rect(left, top + 1, width, tall - 2, theme.faint, tall >= 12 ? 2 : 0, 0.55);
        if (tall < 14) return;
        const text = fitText(pen, takenName(taken), width - 10, 11);
        if (width > 40 && text.length > 2) pen.text(text, left + 5, top + tall / 2, {fill: theme.ink, size: 11, base: "middle"});
    }

    function drawBins(pen: Pen): void {
        const {edges, busy, taken} = timeline.bins!;
        const low = parseColour(theme.grid);
        const high = parseColour(theme.accent);
        const shades = Array.from({length: 11}, (_, i) => css(mix(low, high, i / 10)));
        timeline.slots.forEach((slot, index) => {
            const top = rows.get(`${slot.worker}.${slot.slot}`)!;
            const others = taken[index] ?? [];
            for (let i = 0; i < others.length; ++i) {
                if (others[i]! > 0.05)
                    pen.rect(
                        at(edges[i]!),
                        top + 0.5,
                        Math.max(1, at(edges[i + 1]!) - at(edges[i]!)),
                        Math.max(1, tall - 1),
                        theme.faint,
                        0,
                        0.55 * Math.min(1, others[i]!),
                    );
            }
            const row = busy[index] ?? [];
            // Bins of one shade in a row are one rectangle.
            for (let i = 0; i < row.length; ) {
                const shade = Math.round(Math.min(1, row[i]!) * 10);
                let j = i + 1;
                while (j < row.length && Math.round(Math.min(1, row[j]!) * 10) === shade) ++j;
                if (shade > 0) pen.rect(at(edges[i]!), top + 0.5, Math.max(1, at(edges[j]!) - at(edges[i]!)), Math.max(1, tall - 1), theme.surface);
                if (shade > 0) pen.rect(at(edges[i]!), top + 0.5, Math.max(1, at(edges[j]!) - at(edges[i]!)), Math.max(1, tall - 1), shades[shade]!);
                i = j;
            }
        });
    }

    function binHit(x: number, py: number): Hit | null {
        if (!timeline.bins || x < box.left || x > box.right) return null;
        const index = timeline.slots.findIndex((slot) => {
            const top = rows.get(`${slot.worker}.${slot.slot}`)!;
            return py >= top && py < top + tall;
        });
        if (index < 0) return null;
        const {edges, busy, taken} = timeline.bins;
        const time = scale.value((x - box.left) / (box.right - box.left)) + startedAt;
        const bin = Math.max(0, edges.findIndex((edge) => edge > time) - 1);
        const slot = timeline.slots[index]!;
        return {
            trial: -1,
            x,
            y: py,
            title: `${slot.name}, ${say("plot.timeline.slot", {slot: slot.slot ?? "–"})}`,
            lines: [
                [durationText((edges[bin] ?? 0) - startedAt), say("plot.timeline.busy", {share: shareText(busy[index]?.[bin] ?? 0)})],
                ["", say("plot.timeline.taken", {share: shareText(taken[index]?.[bin] ?? 0)})],
            ],
        };
    }

    function drawBrush(pen: Pen, [from, to]: readonly [number, number]): void {
        pen.rect(at(from), box.top, Math.max(1, at(to) - at(from)), box.bottom - box.top, theme.accent, 0, 0.14);
        for (const x of [at(from), at(to)]) pen.line([x, box.top, x, box.bottom], {stroke: theme.accent, width: 1.5});
    }
}

/** The slot that idled most, in words. */
function idleText(timeline: Timeline, say: Look["say"]): string {
    const most = timeline.slots.reduce<Slot | null>(
        (found, slot) => (!found || idleShare(timeline, slot) > idleShare(timeline, found) ? slot : found),
        null,
    );
    return most && idleShare(timeline, most) > 0.005
        ? say("plot.timeline.most_idle", {slot: most.slot ?? "–", worker: most.name, share: shareText(idleShare(timeline, most))})
        : say("plot.timeline.none_idle");
}
