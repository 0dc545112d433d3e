/** Which trials the filters of an experiment's plots keep: "best k %" and "reached rung r or longer". Pure. */
import {columnOf, numbersOf, type Columns} from "./columns";
import {comparedColumns, type LengthChoice} from "./compared";

export interface Filter {
    /** 0–1; 1 keeps all. */
    readonly bestShare: number;
    /** From 0, which keeps all. */
    readonly fromRung: number;
}

export const keepsAll = (filter: Filter): boolean => filter.bestShare >= 1 && filter.fromRung === 0;

/** Sets keep[row] to whether the row stays. `order`: rows, best first; `rungs`: 255 before the first. */
export function keepFiltered(filter: Filter, order: Uint32Array, rungs: ArrayLike<number>, keep: Uint8Array): void {
    if (filter.bestShare < 1) {
        keep.fill(0);
        const count = Math.ceil(order.length * filter.bestShare);
        for (let i = 0; i < count; ++i) keep[order[i]!] = 1;
    } else keep.fill(1);
    if (filter.fromRung === 0) return;
    for (let row = 0; row < keep.length; ++row) if (rungs[row] === 255 || rungs[row]! < filter.fromRung) keep[row] = 0;
}

const ROW_LIMIT = 2 ** 20;

/** Rows in the order of their metric, best first; NaN and infinity last. Cost: 20 ms at 100,000. */
export function bestFirst(metric: Float64Array, smallerIsBetter: boolean): Uint32Array {
    const sign = smallerIsBetter ? 1 : -1;
    if (metric.length > ROW_LIMIT) {
        const keys = metric.map((value) => (value - value !== 0 ? Infinity : sign * value));
        return Uint32Array.from(keys, (_, row) => row).sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b));
    }
    // The 32 bits of a float, made to sort like the number, with the row behind them: plain numbers sort much faster.
    const float = new Float32Array(1);
    const bits = new Int32Array(float.buffer);
    const keys = new Float64Array(metric.length);
    for (let row = 0; row < metric.length; ++row) {
        const value = metric[row]!;
        float[0] = value - value !== 0 ? Infinity : sign * value;
        const raw = bits[0]!;
        keys[row] = (raw < 0 ? -(raw & 0x7fffffff) : raw) * ROW_LIMIT + row;
    }
    keys.sort();
    return Uint32Array.from(keys, (key) => key - Math.floor(key / ROW_LIMIT) * ROW_LIMIT);
}

/** The kept rows of columns with `metric` and `rung`, best first. */
function keptRows(columns: Columns, filter: Filter, smallerIsBetter: boolean): Uint32Array {
    const metric = columnOf(columns, "metric");
    const rung = columnOf(columns, "rung");
    const numbers = metric ? numbersOf(metric, columns.filled) : new Float64Array(columns.filled).fill(NaN);
    const order = bestFirst(numbers, smallerIsBetter);
    const keep = new Uint8Array(columns.filled);
    keepFiltered(filter, order, rung ? rung.data : new Uint8Array(columns.filled), keep);
    return order.filter((row) => keep[row]);
}

/** The fields of columns that keptTrials() needs. */
export const KEPT_FIELDS = "trial,result,metric,nonfinite,rung";

/** The kept trials, best first, of those that are compared; null where nothing is filtered. On every page the same. */
export function keptTrials(columns: Columns | null, filter: Filter, smallerIsBetter: boolean, choice: LengthChoice): readonly number[] | null {
    if (!columns || keepsAll(filter)) return null;
    const compared = comparedColumns(columns, choice);
    const trials = columnOf(compared, "trial");
    return trials ? Array.from(keptRows(compared, filter, smallerIsBetter), (row) => trials.data[row]!) : null;
}

/** Up to `most` of trials that stand best first: the best twenty, and the others evenly. */
export function someOf(trials: readonly number[], most: number): number[] {
    if (trials.length <= most) return [...trials];
    const best = trials.slice(0, 20);
    const rest = trials.slice(20);
    return [...best, ...Array.from({length: most - 20}, (_, i) => rest[Math.floor((i * rest.length) / (most - 20))]!)];
}
