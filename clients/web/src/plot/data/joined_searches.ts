/** Trials of several searches in one plot: on which axes, from where to where, compared at which length. Pure. */
import {printExact} from "../../api/exact";
import {columnOf, exactOf, fromJson, type Columns} from "./columns";
import {isNumber, type Declarations, type Declared} from "./space";

/** A trial's number over all searches; it stays the same while the searches go on. */
const joinedTrial = (trial: number, search: number, searches: number): number => trial * searches + search;

/** The search of such a number, by its place, and its number there. */
export const ownTrial = (joined: number, searches: number): readonly [search: number, trial: number] => [
    joined % searches,
    Math.floor(joined / searches),
];

/** More make a length no better: as the daemon chooses the length at which it compares the trials of one search. */
const enoughResults = 10;

/** The longest length at which all searches have enough results, else the one with the most; undefined where there is none. */
export function commonLength(all: readonly Columns[]): number | undefined {
    const resultsOf = ({lengths}: Columns, length: number) => lengths?.find((each) => each.length === length)?.results ?? 0;
    return (all[0]?.lengths ?? [])
        .map(({length}) => ({length, results: Math.min(enoughResults, ...all.map((each) => resultsOf(each, length)))}))
        .filter(({results}) => results > 0)
        .sort((a, b) => b.results - a.results || b.length - a.length)[0]?.length;
}

/** One axis for what several files declare of a hyperparameter: it shows all that any of them does. */
function joined(all: readonly Declared[]): Declared {
    const ranges = all.filter((each) => each.kind === "range");
    if (ranges.length > 0)
        return {
            kind: "range",
            low: Math.min(...ranges.map(({low}) => low)),
            high: Math.max(...ranges.map(({high}) => high)),
            log: ranges.some(({log}) => log),
            whole: ranges.every(({whole}) => whole),
        };
    const choices = all.filter((each) => each.kind === "choices");
    return choices.length > 0 ? {kind: "choices", ordered: choices.every(({ordered}) => ordered)} : {kind: "constant"};
}

/** The hyperparameters that more than half of the searches have. */
export function joinedSpace(spaces: readonly Declarations[]): Declarations {
    const names = new Set(spaces.flatMap((space) => [...space.keys()]));
    return new Map(
        [...names].flatMap((name): [string, Declared][] => {
            const all = spaces.flatMap((space) => space.get(name) ?? []);
            return all.length * 2 > spaces.length ? [[name, joined(all)]] : [];
        }),
    );
}

/** The words of all, each once; numbers in their order. */
function joinedWords(all: readonly unknown[]): unknown[] {
    const words = [...new Map(all.map((word) => [printExact(word), word])).values()];
    return words.every(isNumber) ? words.sort((a, b) => Number(a) - Number(b)) : words;
}

/**
 * The rows of all searches, one search after the other, numbered anew. A hyperparameter that is a range in one file and
 * texts in another is left out: both have no place on one axis.
 */
export function joinedColumns(all: readonly Columns[], space: Declarations, withMetric: boolean): Columns {
    const trials = all.flatMap((each, search) =>
        Array.from(columnOf(each, "trial")!.data.subarray(0, each.filled), (trial) => joinedTrial(trial, search, all.length)),
    );
    const fields: {name: string; type: string; words?: readonly unknown[]}[] = [{name: "trial", type: "u32"}];
    const columns: (number | bigint | null)[][] = [trials];
    const own = withMetric
        ? ([
              ["metric", "range"],
              ["nonfinite", "choices"],
          ] as const)
        : [];
    for (const [name, kind] of [...own, ...Array.from(space, ([name, {kind}]) => [name, kind] as const)]) {
        const parts = all.map((each) => columnOf(each, name));
        const values = all.flatMap(({filled}, search) => Array.from({length: filled}, (_, row) => parts[search] && exactOf(parts[search], row)));
        if (kind !== "range") {
            const words = joinedWords(parts.flatMap((part) => part?.words ?? []));
            const codes = new Map(words.map((word, code) => [printExact(word), code]));
            fields.push({name, type: "u16", words});
            columns.push(values.map((value) => (value === undefined ? null : codes.get(printExact(value))!)));
        } else if (values.every((value) => value === undefined || isNumber(value))) {
            fields.push({name, type: "f64"});
            columns.push(values.map((value) => (isNumber(value) ? value : null)));
        }
    }
    return fromJson({lsn: 0, rows: trials.length, total: all.reduce((sum, {total}) => sum + total, 0), fields, columns});
}
