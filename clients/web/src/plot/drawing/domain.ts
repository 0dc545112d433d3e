/** Where values lie: ranges, quantiles, how many are not finite and how many a clipped axis leaves out. Pure. */

export interface Spread {
    /** The axis' ends. lo < hi always, also for no value and for one. */
    readonly lo: number;
    readonly hi: number;
    /** Finite values below lo and above hi; 0 unless clipped. */
    readonly below: number;
    readonly above: number;
    readonly finite: number;
    readonly nan: number;
    readonly inf: number;
    readonly negativeInf: number;
    /** Whether the ends are the 1 % and 99 % quantiles. */
    readonly clipped: boolean;
}

export type Clip = "auto" | "on" | "off";

/** Sorted copy of the finite values. Cost: O(n log n), 10 ms at 100,000. */
export function sortedFinite(values: ArrayLike<number>, keep?: Uint8Array): Float64Array {
    const finite = new Float64Array(values.length);
    let count = 0;
    for (let i = 0; i < values.length; ++i) {
        const value = values[i]!;
        if ((!keep || keep[i]) && value - value === 0) finite[count++] = value;
    }
    return finite.subarray(0, count).sort();
}

/** Linear between neighbours; NaN of nothing. `share` in 0–1. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
    if (sorted.length === 0) return NaN;
    const place = Math.min(Math.max(share, 0), 1) * (sorted.length - 1);
    const low = Math.floor(place);
    const high = Math.min(low + 1, sorted.length - 1);
    return sorted[low]! + (sorted[high]! - sorted[low]!) * (place - low);
}

/**
 * The range of an axis. `auto` clips where outliers would squash the rest into a quarter of the axis.
 * `positive` leaves values of 0 and below out of the range, as a log axis has to.
 */
export function spread(values: ArrayLike<number>, clip: Clip = "auto", positive = false): Spread {
    let nan = 0;
    let inf = 0;
    let negativeInf = 0;
    for (let i = 0; i < values.length; ++i) {
        const value = values[i]!;
        if (Number.isNaN(value)) ++nan;
        else if (value === Infinity) ++inf;
        else if (value === -Infinity) ++negativeInf;
    }
    const all = sortedFinite(values);
    const sorted = positive ? all.subarray(lowerBound(all, Number.MIN_VALUE)) : all;
    const rest = {finite: all.length, nan, inf, negativeInf};
    if (sorted.length === 0) {
        return {lo: positive ? 0.1 : 0, hi: 1, below: all.length, above: 0, clipped: false, ...rest};
    }
    const first = sorted[0]!;
    const last = sorted[sorted.length - 1]!;
    const q1 = quantile(sorted, 0.01);
    const q99 = quantile(sorted, 0.99);
    const size = (lo: number, hi: number) => (positive ? Math.log(hi / lo) : hi - lo);
    const squashed = sorted.length >= 20 && q99 > q1 && size(first, last) > 4 * size(q1, q99);
    const clipped = q99 > q1 && (clip === "on" || (clip === "auto" && squashed));
    const [lo, hi] = widened(clipped ? q1 : first, clipped ? q99 : last, positive);
    const below = all.length - sorted.length + lowerBound(sorted, lo);
    const above = sorted.length - upperBound(sorted, hi);
    return {lo, hi, below, above, clipped, ...rest};
}

/** Ends that differ: a single value gets a twentieth of its size to either side. */
export function widened(lo: number, hi: number, positive = false): [number, number] {
    if (hi > lo) return [lo, hi];
    if (positive) return [lo / 2, lo * 2];
    const margin = lo === 0 ? 1 : Math.abs(lo) * 0.05;
    return [lo - margin, lo + margin];
}

/** The first index whose value is not below `value`. */
export function lowerBound(sorted: ArrayLike<number>, value: number): number {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle]! < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** The first index whose value is above `value`. */
export function upperBound(sorted: ArrayLike<number>, value: number): number {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle]! <= value) low = middle + 1;
        else high = middle;
    }
    return low;
}
