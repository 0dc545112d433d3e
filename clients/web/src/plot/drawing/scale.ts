/** Scales: values to positions 0–1 along an axis and back, with the ticks that people read. Pure. */
import {lowerBound, quantile, widened} from "./domain";
import {cutMiddle, tickText} from "./number";

export type ScaleKind = "linear" | "log" | "quantile";

export interface Tick {
    /** 0–1 along the axis. */
    readonly at: number;
    readonly value: number;
    /** Empty for a minor tick. */
    readonly label: string;
}

/** One axis' mapping. Positions outside 0–1 are values outside the ends; NaN has no place. */
export interface Scale {
    readonly kind: ScaleKind | "category" | "time";
    readonly lo: number;
    readonly hi: number;
    at(value: number): number;
    value(position: number): number;
    /** About `count` labels; never more than twice as many. */
    ticks(count: number): Tick[];
}

/** Steps of 1, 2 or 5 times a power of ten. */
export function niceStep(size: number, count: number): number {
    const raw = size / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(raw));
    const rest = raw / power;
    return (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10) * power;
}

export function decimalsOf(step: number): number {
    return Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
}

/** Round ends outwards to whole steps, so that the first and last tick are the axis' ends. */
export function niceEnds(lo: number, hi: number, count: number): [number, number] {
    const [low, high] = widened(lo, hi);
    const step = niceStep(high - low, count);
    return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

export function linear(from: number, to: number): Scale {
    const [lo, hi] = widened(from, to);
    const size = hi - lo;
    return {
        kind: "linear",
        lo,
        hi,
        at: (value) => (value - lo) / size,
        value: (position) => lo + position * size,
        ticks(count) {
            const step = niceStep(size, count);
            const decimals = decimalsOf(step);
            const ticks: Tick[] = [];
            for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; ++i) {
                const value = i === 0 ? 0 : i * step;
                ticks.push({at: (value - lo) / size, value, label: tickText(value, decimals)});
            }
            return ticks;
        },
    };
}

/** Whole numbers only: no tick of half a step. */
export function whole(from: number, to: number): Scale {
    const scale = linear(from, to);
    return {
        ...scale,
        ticks(count) {
            return scale
                .ticks(count)
                .filter((tick) => Number.isInteger(Number(tick.value.toPrecision(12))))
                .map((tick) => ({...tick, label: tickText(tick.value, 0)}));
        },
    };
}

/** The least value on a log axis: far from where doubles lose their digits. */
const LEAST = 1e-300;

export function log(from: number, to: number): Scale {
    const [lo, hi] = widened(Math.max(from, LEAST), Math.max(to, LEAST), true);
    const low = Math.log(lo);
    const size = Math.log(hi) - low;
    const at = (value: number) => (value > 0 ? (Math.log(value) - low) / size : value <= 0 ? -Infinity : NaN);
    return {
        kind: "log",
        lo,
        hi,
        at,
        value: (position) => Math.exp(low + position * size),
        ticks(count) {
            const decades = size / Math.LN10;
            if (decades < 1) {
                return linear(lo, hi)
                    .ticks(count)
                    .map((tick) => ({...tick, at: at(tick.value)}));
            }
            const every = Math.max(1, Math.ceil(decades / Math.max(1, count)));
            const factors = decades * 3 <= count + 1 ? [1, 2, 5] : [1];
            // Of the powers of ten that could have labels, the ones that are most.
            const first = Math.ceil(Math.log10(lo) - 1e-9);
            const last = Math.floor(Math.log10(hi) + 1e-9);
            let offset = 0;
            const labels = (from: number) => Math.max(0, Math.floor((last - from) / every) - Math.ceil((first - from) / every) + 1);
            for (let other = 1; other < every; ++other) if (labels(other) > labels(offset)) offset = other;
            const ticks: Tick[] = [];
            for (let power = Math.floor(Math.log10(lo)); power <= Math.ceil(Math.log10(hi)); ++power) {
                for (let digit = 1; digit < 10; ++digit) {
                    const value = Number(`${digit}e${power}`);
                    const position = at(value);
                    if (position < -1e-9 || position > 1 + 1e-9) continue;
                    const labelled = factors.includes(digit) && (power - offset) % every === 0;
                    if (!labelled && decades > 8) continue;
                    ticks.push({at: position, value, label: labelled ? tickText(value, Math.max(0, -power)) : ""});
                }
            }
            return ticks;
        },
    };
}

/** Positions by rank: every part of the axis holds equally many values. `sorted`: finite, ascending. */
export function byQuantile(sorted: ArrayLike<number>): Scale {
    const knots = new Float64Array(257);
    for (let i = 0; i < knots.length; ++i) {
        const value = quantile(sorted, i / (knots.length - 1));
        knots[i] = Number.isNaN(value) ? i / (knots.length - 1) : value;
    }
    const last = knots.length - 1;
    const lo = knots[0]!;
    const hi = knots[last]!;
    const at = (value: number): number => {
        if (Number.isNaN(value)) return NaN;
        if (value < lo) return -Infinity;
        if (value > hi) return Infinity;
        const index = lowerBound(knots, value);
        if (index === 0) return 0;
        const step = knots[index]! - knots[index - 1]!;
        return (index - 1 + (step > 0 ? (value - knots[index - 1]!) / step : 0)) / last;
    };
    return {
        kind: "quantile",
        lo,
        hi,
        at,
        value: (position) => quantile(knots, position),
        ticks(count) {
            const ticks: Tick[] = [];
            const parts = Math.max(1, Math.min(count, 10));
            for (let i = 0; i <= parts; ++i) {
                const value = quantile(knots, i / parts);
                const size = Math.abs(value);
                const decimals = size === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(size)));
                ticks.push({at: i / parts, value, label: tickText(value, decimals)});
            }
            return ticks;
        },
    };
}

/** Categories as evenly spaced places; `order[code]` is the place of a code. */
export function category(words: readonly string[], order: ArrayLike<number>): Scale {
    const count = Math.max(1, words.length);
    const codes = new Array<number>(words.length);
    for (let code = 0; code < words.length; ++code) codes[order[code]!] = code;
    const place = (index: number) => (index + 0.5) / count;
    return {
        kind: "category",
        lo: 0,
        hi: count - 1,
        at: (code) => (code >= 0 && code < words.length ? place(order[code]!) : NaN),
        value: (position) => codes[Math.min(count - 1, Math.max(0, Math.floor(position * count)))] ?? 0,
        ticks(most) {
            const every = Math.max(1, Math.ceil(count / Math.max(1, most)));
            const ticks: Tick[] = [];
            for (let index = 0; index < words.length; index += every) {
                const code = codes[index]!;
                ticks.push({at: place(index), value: code, label: cutMiddle(words[code]!, 24)});
            }
            return ticks;
        },
    };
}

const TIME_STEPS = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000,
];

/** Seconds since a start: ticks on whole seconds, minutes, hours, days. */
export function elapsed(from: number, to: number, text: (seconds: number) => string): Scale {
    const scale = linear(from, to);
    return {
        ...scale,
        kind: "time",
        ticks(count) {
            const size = scale.hi - scale.lo;
            if (size < 3) {
                return scale.ticks(count).map((tick) => ({...tick, label: `${tick.label} s`}));
            }
            const step = TIME_STEPS.find((each) => size / each <= count * 1.5) ?? niceStep(size, count);
            const ticks: Tick[] = [];
            for (let i = Math.ceil(scale.lo / step - 1e-9); i * step <= scale.hi + step * 1e-9; ++i) {
                ticks.push({at: scale.at(i * step), value: i * step, label: text(i * step)});
            }
            return ticks;
        },
    };
}

export function makeScale(kind: ScaleKind, lo: number, hi: number, sorted: ArrayLike<number>): Scale {
    if (kind === "log" && hi > 0) return log(lo > 0 ? lo : firstPositive(sorted, hi), hi);
    if (kind === "quantile") return byQuantile(sorted);
    return linear(lo, hi);
}

function firstPositive(sorted: ArrayLike<number>, otherwise: number): number {
    const index = lowerBound(sorted, Number.MIN_VALUE);
    return index < sorted.length ? sorted[index]! : otherwise / 10;
}
