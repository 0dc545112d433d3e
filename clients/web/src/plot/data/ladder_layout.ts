/**
 * Where the parts of a rung ladder lie. Rungs climb from short (bottom) to long (top); each rung is a strip of results
 * in metric order, best at the left. Where there is room, all rungs have one pitch: then what a rung keeps is as wide
 * as the rung above. Pure.
 */
import type {Box} from "../drawing/axes";
import type * as Api from "../../api/types";

export type RungResult = Api.RungResult;
export type ResultState = RungResult["state"];
export type Rung = Api.LadderRung;
export type Bracket = Api.LadderBracket;
export type Ladder = Api.RungLadder;

/** How results are drawn: a mark each, a thin bar each, or one column of pixels for several. */
export type Grain = "mark" | "bar" | "bin";

export interface Strip {
    readonly bracket: number;
    readonly rung: Rung;
    /** 0 for the shortest length of the whole ladder. */
    readonly row: number;
    readonly rows: number;
    /** Whether this is the last rung of its bracket. */
    readonly top: boolean;
    readonly box: Box;
    readonly middle: number;
    readonly pitch: number;
    readonly grain: Grain;
    readonly size: number;
    /** The right end of what is kept, NaN where the rung has no rule yet. */
    readonly keepX: number;
}

export interface Layout {
    readonly strips: readonly Strip[];
    readonly lengths: readonly number[];
    readonly columns: readonly {readonly bracket: Bracket; readonly left: number; readonly right: number}[];
    readonly rowHeight: number;
    readonly bottom: number;
    readonly top: number;
}

export const LEFT_ROOM = 84;
const topRoom = (brackets: number) => (brackets > 1 ? 34 : 4);
const BOTTOM_ROOM = 20;
const GAP = 40;
/** Room behind the last result for the words of the rule. */
const TAIL = 8;
export const MOST_PITCH = 22;

/** Lengths of all rungs, short to long. */
export function lengthsOf(ladder: Ladder): number[] {
    return [...new Set(ladder.brackets.flatMap((bracket) => bracket.rungs.map((rung) => rung.length)))].sort((a, b) => a - b);
}

export function ladderHeight(ladder: Ladder | null): number {
    return topRoom(ladder?.brackets.length ?? 1) + BOTTOM_ROOM + Math.max(1, ladder ? lengthsOf(ladder).length : 4) * 84;
}

/** x of a result's middle; `index` is its place in metric order. */
export function resultX(strip: Strip, index: number): number {
    return strip.box.left + (index + 0.5) * strip.pitch;
}

export function layOut(ladder: Ladder, width: number, height: number): Layout {
    const lengths = lengthsOf(ladder);
    const top = topRoom(ladder.brackets.length);
    const rowHeight = (height - top - BOTTOM_ROOM) / Math.max(1, lengths.length);
    const brackets = ladder.brackets;
    const room = width - LEFT_ROOM - 12 - GAP * Math.max(0, brackets.length - 1);
    const most = brackets.map((bracket) => Math.max(1, ...bracket.rungs.map((rung) => count(rung))));
    // Wide brackets get more room, but small ones stay readable.
    const weights = most.map((each) => Math.sqrt(each));
    const sum = weights.reduce((a, b) => a + b, 0) || 1;
    const least = Math.min(150, room / Math.max(1, brackets.length));
    const spare = Math.max(0, room - least * brackets.length);
    const strips: Strip[] = [];
    const columns: {bracket: Bracket; left: number; right: number}[] = [];
    let left = LEFT_ROOM;
    brackets.forEach((bracket, b) => {
        const right = left + least + (spare * weights[b]!) / sum;
        columns.push({bracket, left, right});
        const usable = right - left - TAIL;
        const common = Math.min(MOST_PITCH, usable / most[b]!);
        bracket.rungs.forEach((rung, index) => {
            const row = lengths.indexOf(rung.length);
            const all = Math.max(1, count(rung));
            const pitch = common >= 7 ? common : Math.min(MOST_PITCH, usable / all);
            const bottom = height - BOTTOM_ROOM - row * rowHeight;
            const box = {left, right, top: bottom - rowHeight, bottom};
            strips.push({
                bracket: bracket.bracket,
                rung,
                row,
                rows: lengths.length,
                top: index === bracket.rungs.length - 1,
                box,
                middle: bottom - rowHeight * 0.42,
                pitch,
                grain: pitch >= 7 ? "mark" : pitch >= 2.5 ? "bar" : "bin",
                size: pitch >= 7 ? Math.min(13, pitch - 2) : Math.max(1, pitch - 1),
                keepX: index === bracket.rungs.length - 1 ? NaN : left + Math.min(rung.keep, rung.results.length) * pitch,
            });
        });
        left = right + GAP;
    });
    return {strips, lengths, columns, rowHeight, top, bottom: height - BOTTOM_ROOM};
}

function count(rung: Rung): number {
    // A training trial takes a place behind the results and a gap of one.
    return rung.results.length + (rung.training.length > 0 ? rung.training.length + 1 : 0);
}

/** The strip of one bracket's rung above another. */
export function above(layout: Layout, strip: Strip): Strip | undefined {
    return layout.strips.find((each) => each.bracket === strip.bracket && each.rung.rung === strip.rung.rung + 1);
}

/** Where a trial stands: its place on each strip, short to long. Training trials stand behind the results. */
export function pathOf(layout: Layout, trial: number): {strip: Strip; index: number; x: number; y: number; training: boolean}[] {
    const path: {strip: Strip; index: number; x: number; y: number; training: boolean}[] = [];
    for (const strip of [...layout.strips].sort((a, b) => a.bracket - b.bracket || a.row - b.row)) {
        const index = strip.rung.results.findIndex((result) => result.trial === trial);
        const busy = strip.rung.training.indexOf(trial);
        if (index >= 0) path.push({strip, index, x: resultX(strip, index), y: strip.middle, training: false});
        else if (busy >= 0) {
            path.push({strip, index: busy, x: trainingX(strip, busy), y: strip.middle, training: true});
        }
    }
    return path;
}

export function trainingX(strip: Strip, index: number): number {
    return resultX(strip, strip.rung.results.length + 1 + index);
}
