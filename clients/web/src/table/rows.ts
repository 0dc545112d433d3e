// Which rows a table shows, and in which order. Runs in a Web Worker, and in tests.
import {columnOf, wordOf, type Column, type Columns} from "../plot/data/columns";
import {lowerBound} from "../plot/drawing/domain";
import type {LengthChoice} from "../plot/data/compared";
import {keptTrials, type Filter} from "../plot/data/kept";

export interface Wish {
    /// "metric", "-hparams.lr,trial"
    readonly sort: string;
    /// A condition, and the trials that satisfy it: the daemon reads conditions.
    readonly where: string;
    readonly matching?: Uint32Array;
    readonly states: readonly string[];
    /// Only these trials, such as those that a plot's brush keeps.
    readonly trials?: Uint32Array;
    /// The filters of plots.
    readonly filter?: Filter & {readonly smallerIsBetter: boolean; readonly choice: LengthChoice};
}

export interface Answer {
    readonly rows: Uint32Array;
}

type Test = (row: number) => boolean;
const missing: Readonly<Record<string, number>> = {u8: 0xff, u16: 0xffff, u32: 0xffffffff};

export function findColumn(columns: Columns, name: string): Column | undefined {
    return columnOf(columns, name) ?? columnOf(columns, `hparams.${name}`);
}

/// Values in an order of their own: numbers as they are, words by their alphabet. Missing is NaN.
function sortValues(column: Column, rows: number): Float64Array {
    const values = new Float64Array(rows);
    let ranks: number[] | undefined;
    if (column.words) {
        const numbers = column.words.every((word) => typeof word === "number");
        const order = column.words
            .map((word, code) => ({word, code}))
            .sort((a, b) => (numbers ? (a.word as number) - (b.word as number) : String(a.word) < String(b.word) ? -1 : 1));
        ranks = [];
        order.forEach(({code}, rank) => {
            ranks![code] = rank;
        });
    }
    const gap = missing[column.type];
    for (let row = 0; row < rows; row += 1) {
        const value = column.data[row]!;
        values[row] = value === gap ? NaN : ranks ? (ranks[value] ?? NaN) : value;
    }
    return values;
}

/// Rows that fit beside a key of 32 bits into the 53 bits of a number.
const rowBits = 2 ** 21;
const mostPacked = rowBits;
const lastKey = 0xffffffff;

/// Rows by one key. Each value becomes its place among all values; place and row are packed into one number each, which sort
/// six times as fast as with a comparison.
function sortedByOne(rows: Uint32Array, values: Float64Array, down: boolean): Uint32Array {
    const places = values.filter((value) => value === value).sort();
    const packed = new Float64Array(rows.length);
    rows.forEach((row, index) => {
        const value = values[row]!;
        // Missing values stand at the end in both directions.
        const place = value !== value ? lastKey : lowerBound(places, value);
        packed[index] = (down && value === value ? lastKey - 1 - place : place) * rowBits + row;
    });
    packed.sort();
    return Uint32Array.from(packed, (each) => each % rowBits);
}

export function answer(columns: Columns, wish: Wish): Answer {
    const total = columns.filled;
    const tests: Test[] = [];
    const state = columnOf(columns, "state");
    if (wish.states.length > 0 && state) {
        const wanted = new Set(wish.states);
        tests.push((row) => wanted.has(wordOf(state, row)));
    }
    const trial = columnOf(columns, "trial");
    const filtered = wish.filter ? keptTrials(columns, wish.filter, wish.filter.smallerIsBetter, wish.filter.choice) : null;
    for (const chosen of [wish.trials, wish.matching, filtered]) {
        if (!chosen || !trial) continue;
        const wanted = new Set(chosen);
        tests.push((row) => wanted.has(trial.data[row]!));
    }
    const rows = new Uint32Array(total);
    let count = 0;
    for (let row = 0; row < total; row += 1) {
        if (tests.every((test) => test(row))) rows[count++] = row;
    }
    const found = rows.slice(0, count);
    const named = wish.sort
        .split(",")
        .filter((key) => key !== "")
        .flatMap((key) => {
            const down = key.startsWith("-");
            const column = findColumn(columns, down ? key.slice(1) : key);
            return column ? [{column, down}] : [];
        });
    const [only] = named;
    if (only && named.length === 1 && total <= mostPacked) return {rows: sortedByOne(found, sortValues(only.column, total), only.down)};
    const keys = named.map(({column, down}) => ({values: sortValues(column, total), sign: down ? -1 : 1}));
    if (keys.length > 0) {
        found.sort((a, b) => {
            for (const {values, sign} of keys) {
                const x = values[a]!;
                const y = values[b]!;
                if (x === y) continue;
                if (x !== x) {
                    if (y !== y) continue;
                    return 1; // Missing values stand at the end in both directions.
                }
                if (y !== y) return -1;
                return x < y ? -sign : sign;
            }
            return a - b;
        });
    }
    return {rows: found};
}
