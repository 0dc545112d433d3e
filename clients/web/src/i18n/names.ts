// Names beside each other: each keeps what tells it from the others, and gives up what it has in common with them.
import {shortened} from "./format";

export interface ToldApart {
    /// The part that differs from other names; a short name is kept whole.
    readonly own: string;
    /// The part before it, which other names share.
    readonly shared: string;
}

/// A shorter beginning is not worth a line of its own.
const leastShared = 4;

function sharedLength(a: string, b: string): number {
    let length = 0;
    while (length < a.length && a[length] === b[length]) length += 1;
    return length;
}

/// The last place within `length` letters where a word begins, after one of `signs`; 0 for none.
function wordBefore(name: string, length: number, signs: RegExp): number {
    for (let place = length; place > 0; place -= 1) if (signs.test(name[place - 1]!) && /\p{L}/u.test(name[place] ?? "")) return place;
    return 0;
}

/// Where a name may be cut: before the words in which it differs from each of the others, sorted ones around it.
function cutsOf(sorted: readonly string[], at: number): Set<number> {
    const name = sorted[at]!;
    const cuts = new Set<number>();
    for (const step of [-1, 1]) {
        let length = name.length;
        let last = -1;
        for (let other = at + step; other >= 0 && other < sorted.length; other += step) {
            length = Math.min(length, sharedLength(name, sorted[other]!));
            if (length < leastShared) break;
            if (length === last) continue;
            last = length;
            for (const signs of [/[./]/, /[-_./ ]/]) cuts.add(wordBefore(name, length, signs));
        }
    }
    return cuts;
}

/// A name that has no such place loses letters, but never those in which it differs.
function cutInside(name: string, names: readonly string[], most: number): string {
    const cut = shortened(name, most);
    const alike = names.filter((other) => other !== name && shortened(other, most) === cut);
    if (cut === name || alike.length === 0) return cut;
    const from = Math.max(0, Math.max(...alike.map((other) => sharedLength(name, other))) - Math.floor(most / 3));
    const part = [...name.slice(from)].slice(0, most - 2).join("");
    return `…${part}${from + part.length < name.length ? "…" : ""}`;
}

/// Names of at most `most` letters stay as they are.
export function toldApart(names: readonly string[], most: number): ReadonlyMap<string, ToldApart> {
    const sorted = [...new Set(names)].sort();
    return new Map(
        sorted.map((name, at): [string, ToldApart] => {
            if (name.length <= most) return [name, {own: name, shared: ""}];
            const cuts = [...cutsOf(sorted, at)].filter((cut) => cut >= leastShared).sort((a, b) => a - b);
            // As little as makes it fit, so that names of one group begin alike.
            const cut = cuts.find((each) => name.length - each <= most) ?? cuts.at(-1) ?? 0;
            const own = name.slice(cut);
            return [
                name,
                {
                    own:
                        own.length <= most
                            ? own
                            : cut > 0
                              ? cutInside(
                                    own,
                                    sorted.map((each) => each.slice(cut)),
                                    most * 2,
                                )
                              : cutInside(name, sorted, most),
                    shared: name.slice(0, cut),
                },
            ];
        }),
    );
}
