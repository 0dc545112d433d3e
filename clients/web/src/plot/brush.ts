/**
 * Brushes: ranges of positions 0–1 on named axes, several on each. Values outside every range of a brushed axis are
 * left out. Pure.
 */

export interface Range {
    readonly from: number;
    readonly to: number;
}

/** Ranges by axis name; each list is sorted, without overlaps. An axis without ranges is not brushed. */
export type Brushes = Readonly<Record<string, readonly Range[]>>;

/** Sorted, cut to 0–1, overlapping ones joined, empty ones dropped. */
export function normal(ranges: readonly Range[]): Range[] {
    const sorted = ranges
        .map(({from, to}) => ({from: Math.max(0, Math.min(from, to)), to: Math.min(1, Math.max(from, to))}))
        .filter(({from, to}) => to > from)
        .sort((a, b) => a.from - b.from);
    const joined: {from: number; to: number}[] = [];
    for (const range of sorted) {
        const last = joined[joined.length - 1];
        if (last && range.from <= last.to) last.to = Math.max(last.to, range.to);
        else joined.push({...range});
    }
    return joined;
}

export function withRanges(brushes: Brushes, axis: string, ranges: readonly Range[]): Brushes {
    const rest = Object.fromEntries(Object.entries(brushes).filter(([name]) => name !== axis));
    const kept = normal(ranges);
    return kept.length > 0 ? {...rest, [axis]: kept} : rest;
}

/** The index of the range around a position, -1 for none. */
export function rangeAt(ranges: readonly Range[], position: number, margin = 0): number {
    return ranges.findIndex(({from, to}) => position >= from - margin && position <= to + margin);
}

export type Drag =
    | {readonly kind: "new"; readonly start: number}
    | {readonly kind: "move"; readonly index: number; readonly start: number; readonly range: Range}
    | {readonly kind: "from" | "to"; readonly index: number; readonly range: Range};

/** What a press at a position begins: an edge of a range, the range itself, or a new one. */
export function press(ranges: readonly Range[], position: number, margin: number): Drag {
    for (let index = 0; index < ranges.length; ++index) {
        const range = ranges[index]!;
        const tight = Math.min(margin, (range.to - range.from) / 3);
        if (Math.abs(position - range.from) <= tight) return {kind: "from", index, range};
        if (Math.abs(position - range.to) <= tight) return {kind: "to", index, range};
    }
    const index = rangeAt(ranges, position);
    if (index >= 0) return {kind: "move", index, start: position, range: ranges[index]!};
    return {kind: "new", start: position};
}

/** The ranges while a drag is at a position. Always computed from the ranges at the press. */
export function dragged(ranges: readonly Range[], drag: Drag, position: number): Range[] {
    const at = Math.min(1, Math.max(0, position));
    const others = (index: number) => ranges.filter((_, other) => other !== index);
    switch (drag.kind) {
        case "new":
            return normal([...ranges, {from: drag.start, to: at}]);
        case "from":
            return normal([...others(drag.index), {from: at, to: drag.range.to}]);
        case "to":
            return normal([...others(drag.index), {from: drag.range.from, to: at}]);
        case "move": {
            const size = drag.range.to - drag.range.from;
            const from = Math.min(1 - size, Math.max(0, drag.range.from + position - drag.start));
            return normal([...others(drag.index), {from, to: from + size}]);
        }
    }
}

/**
 * Keeps the rows whose positions lie in the ranges of every brushed axis. `positions[a]` belongs to `axes[a]`; rows
 * without a place on a brushed axis are left out. Returns how many are kept. Cost: one pass an axis.
 */
export function filterRows(
    brushes: Brushes,
    axes: readonly string[],
    positions: readonly Float32Array[],
    keep: Uint8Array,
    rows = keep.length,
): number {
    for (let a = 0; a < axes.length; ++a) {
        const ranges = brushes[axes[a]!];
        if (!ranges || ranges.length === 0) continue;
        const places = positions[a]!;
        if (ranges.length === 1) {
            // Half a pixel of rounding: positions are stored with 24 bits.
            const from = ranges[0]!.from - 1e-6;
            const to = ranges[0]!.to + 1e-6;
            for (let row = 0; row < rows; ++row) {
                if (!(places[row]! >= from && places[row]! <= to)) keep[row] = 0;
            }
        } else {
            for (let row = 0; row < rows; ++row) {
                if (keep[row] && !ranges.some(({from, to}) => places[row]! >= from - 1e-6 && places[row]! <= to + 1e-6)) {
                    keep[row] = 0;
                }
            }
        }
    }
    let count = 0;
    for (let row = 0; row < rows; ++row) count += keep[row]!;
    return count;
}

/** For the address: lr:0.1-0.25,0.5-0.6;width:0-0.3. parse(print(b)) equals b to four digits. */
export function print(brushes: Brushes): string {
    const short = (position: number) => String(Number(position.toFixed(4)));
    return Object.entries(brushes)
        .map(([axis, ranges]) => `${encodeURIComponent(axis)}:${ranges.map(({from, to}) => `${short(from)}-${short(to)}`).join(",")}`)
        .join(";");
}

/** Damaged parts are left out. */
export function parse(text: string): Brushes {
    let brushes: Brushes = {};
    for (const part of text.split(";")) {
        const [name, list] = part.split(":");
        if (!name || !list) continue;
        const ranges = list
            .split(",")
            .map((each) => each.split("-").map(Number))
            .filter((ends) => ends.length === 2)
            .map(([from, to]) => ({from: from!, to: to!}))
            .filter(({from, to}) => from - from === 0 && to - to === 0);
        try {
            brushes = withRanges(brushes, decodeURIComponent(name), ranges);
        } catch {
            // A percent sign that encodes nothing.
        }
    }
    return brushes;
}
