/**
 * A parallel plot's axes: which columns, on which scale, and where each trial stands on each. Computed once per data,
 * so that a brush costs only a filter and counts. Pure.
 */
import {printExact} from "../../api/exact";
import {filterRows, type Brushes} from "../brush";
import {columnOf, exactOf, missingOf, numbersOf, type Column, type Columns} from "./columns";
import {nonfiniteText} from "./compared";
import {quantile, spread, type Clip} from "../drawing/domain";
import type {Declarations, Declared} from "./space";
import {bestFirst} from "./kept";
import {binned} from "./pair_counts";
import {category, makeScale, niceEnds, whole, type Scale} from "../drawing/scale";

export interface ParallelAxis {
    /** Column's name: hparams.lr, reached, metric. */
    readonly name: string;
    /** What people read: lr. */
    readonly label: string;
    readonly scale: Scale;
    /** 0–1 from bottom to top; below 0 where the trial has no finite value. */
    readonly positions: Float32Array;
    readonly bins: Uint8Array;
    readonly words: readonly string[] | null;
    /** What a trial has, exactly; null where it has nothing. */
    value(row: number): string | number | bigint | null;
    /** Trials without a finite value. */
    readonly missing: number;
}

export interface ParallelModel {
    readonly rows: number;
    readonly total: number;
    readonly trials: Uint32Array;
    readonly metric: Float64Array;
    /** Rung per trial, 255 before the first. */
    readonly rungs: Uint8Array;
    readonly rungCount: number;
    /** Rows, best first; rows without a finite metric last. */
    readonly order: Uint32Array;
    readonly axes: readonly ParallelAxis[];
    /** The names of the searches where the trials are of several; their numbers are then those of joinedColumns(). */
    readonly searches?: readonly string[] | undefined;
}

/** Where values without a place stand: under the axis. */
export const NO_PLACE = -0.07;
export const MOST_AXES = 14;

/** Whether a column has at least two different values. */
export function varies(column: Column, rows: number): boolean {
    const missing = missingOf(column.type);
    let first: number | undefined;
    for (let row = 0; row < rows; ++row) {
        const value = column.data[row]!;
        if (value === missing || value !== value) continue;
        if (first === undefined) first = value;
        else if (value !== first) return true;
    }
    return false;
}

/** Names of the hyperparameters that vary, as the columns have them; all where none does. */
export function varyingNames(columns: Columns): string[] {
    const all = columns.fields.filter((field) => field.name.startsWith("hparams."));
    const varying = all.filter((field) => varies(field, columns.filled));
    return (varying.length > 0 ? varying : all).map((field) => field.name);
}

export function labelOf(name: string): string {
    return name.startsWith("hparams.") ? name.slice(8) : name;
}

export interface ModelOptions {
    readonly smallerIsBetter: boolean;
    readonly metricLabel: string;
    readonly lengthLabel: string;
    readonly logMetric: boolean;
    readonly clip: Clip;
    /** What the experiment's file declares: axes show it all, also where no trial was. */
    readonly space: Declarations;
    /** How many rungs the experiment has, for their colours. */
    readonly rungCount: number;
    readonly searches?: readonly string[];
}

export function parallelModel(columns: Columns, names: readonly string[], options: ModelOptions): ParallelModel {
    const rows = columns.filled;
    const trial = columnOf(columns, "trial");
    const metricColumn = columnOf(columns, "metric");
    const rungColumn = columnOf(columns, "rung");
    const metric = metricColumn ? numbersOf(metricColumn, rows) : new Float64Array(rows).fill(NaN);
    const rungs = rungColumn ? Uint8Array.from(rungColumn.data.subarray(0, rows)) : new Uint8Array(rows);
    let rungCount = Math.max(1, options.rungCount);
    for (const rung of rungs) if (rung !== 255 && rung + 1 > rungCount) rungCount = rung + 1;
    const axes = names.flatMap((name) => {
        if (name === "metric")
            return [
                numberAxis(
                    name,
                    options.metricLabel,
                    metric,
                    (row) => (Number.isNaN(metric[row]!) ? nonfiniteText(columns, row) || null : metric[row]!),
                    options.logMetric,
                    options.clip,
                    false,
                ),
            ];
        const column = columnOf(columns, name);
        if (!column) return [];
        const label = name === "reached" ? options.lengthLabel : labelOf(name);
        if (column.words) return [wordAxis(name, label, column, rows, metric, options)];
        if (name === "reached") {
            const lengths = lengthAxis(name, label, column, rows);
            if (lengths) return [lengths];
        }
        const declared = options.space.get(name);
        return [
            rangeAxis(
                name,
                label,
                numbersOf(column, rows),
                (row) => (exactOf(column, row) ?? null) as number | bigint | null,
                declared?.kind === "range" ? declared : undefined,
                column.type !== "f64",
            ),
        ];
    });
    return {
        rows,
        total: columns.total,
        trials: trial ? Uint32Array.from(trial.data.subarray(0, rows)) : new Uint32Array(rows),
        metric,
        rungs,
        rungCount,
        order: bestFirst(metric, options.smallerIsBetter),
        axes,
        searches: options.searches,
    };
}

/** The trials whose values lie in the ranges of every brushed axis. */
export function brushedTrials(columns: Columns, brushes: Brushes, options: ModelOptions): number[] {
    const model = parallelModel(columns, Object.keys(brushes), options);
    const keep = new Uint8Array(model.rows).fill(1);
    filterRows(
        brushes,
        model.axes.map((axis) => axis.name),
        model.axes.map((axis) => axis.positions),
        keep,
    );
    return Array.from(model.trials).filter((_, row) => keep[row]);
}

/** Few lengths, as rungs have them: one place each. Null where there are many. */
function lengthAxis(name: string, label: string, column: Column, rows: number): ParallelAxis | null {
    const missing = missingOf(column.type);
    const seen = new Set<number>();
    for (let row = 0; row < rows; ++row) {
        if (column.data[row] !== missing) seen.add(column.data[row]!);
        if (seen.size > 12) return null;
    }
    const lengths = [...seen].sort((a, b) => a - b);
    const place = new Map(lengths.map((length, index) => [length, index]));
    const words = lengths.map((length) => String(length));
    const scale = category(
        words,
        Int32Array.from(words, (_, index) => index),
    );
    const positions = new Float32Array(rows);
    let none = 0;
    for (let row = 0; row < rows; ++row) {
        const index = place.get(column.data[row]!);
        if (index === undefined) {
            positions[row] = NO_PLACE;
            ++none;
        } else positions[row] = scale.at(index) + (scatter(row, 7) - 0.5) * (0.3 / lengths.length);
    }
    return {
        name,
        label,
        scale,
        positions,
        bins: binned(positions),
        words,
        missing: none,
        value: (row) => (exactOf(column, row) ?? null) as number | null,
    };
}

/** From the least to the greatest declared value; further where trials have values outside, as points of the file may. */
function rangeAxis(
    name: string,
    label: string,
    numbers: Float64Array,
    value: ParallelAxis["value"],
    declared: Extract<Declared, {kind: "range"}> | undefined,
    wholeNumbers: boolean,
): ParallelAxis {
    if (!declared) return numberAxis(name, label, numbers, value, false, "off", wholeNumbers);
    const found = spread(numbers, "off", false);
    const lo = found.finite > 0 ? Math.min(declared.low, found.lo) : declared.low;
    const hi = found.finite > 0 ? Math.max(declared.high, found.hi) : declared.high;
    const scale = declared.log && lo > 0 ? makeScale("log", lo, hi, []) : declared.whole ? whole(lo, hi) : makeScale("linear", lo, hi, []);
    return placed(name, label, numbers, value, scale, found.finite);
}

function numberAxis(
    name: string,
    label: string,
    numbers: Float64Array,
    value: ParallelAxis["value"],
    log: boolean,
    clip: Clip,
    wholeNumbers: boolean,
): ParallelAxis {
    const found = spread(numbers, clip, log);
    const [lo, hi] = log || found.clipped ? [found.lo, found.hi] : niceEnds(found.lo, found.hi, 6);
    // Round ends only where they don't waste the axis.
    const tight = (found.hi - found.lo) / (hi - lo) > 0.8;
    const scale = log
        ? makeScale("log", lo, hi, [])
        : wholeNumbers
          ? whole(tight ? lo : found.lo, tight ? hi : found.hi)
          : makeScale("linear", tight ? lo : found.lo, tight ? hi : found.hi, []);
    return placed(name, label, numbers, value, scale, found.finite);
}

function placed(name: string, label: string, numbers: Float64Array, value: ParallelAxis["value"], scale: Scale, finite: number): ParallelAxis {
    const positions = new Float32Array(numbers.length);
    for (let row = 0; row < numbers.length; ++row) {
        const number = numbers[row]!;
        positions[row] = number - number !== 0 ? NO_PLACE : Math.min(1, Math.max(0, scale.at(number)));
    }
    return {name, label, scale, positions, bins: binned(positions), words: null, missing: numbers.length - finite, value};
}

/** Categories stand in their own order where the file has one, else in that of their median metric, best at the top. Trials of one category spread around its place. */
function wordAxis(
    name: string,
    label: string,
    column: Column,
    rows: number,
    metric: Float64Array,
    {smallerIsBetter, space}: ModelOptions,
): ParallelAxis {
    const words = column.words!.map((word) => (typeof word === "string" ? word : printExact(word)));
    const groups: number[][] = words.map(() => []);
    for (let row = 0; row < rows; ++row) {
        const code = column.data[row]!;
        if (code < words.length && metric[row]! - metric[row]! === 0) groups[code]!.push(metric[row]!);
    }
    const medians = groups.map((group) => quantile(Float64Array.from(group).sort(), 0.5));
    const rank = (code: number) => (Number.isNaN(medians[code]!) ? Infinity : smallerIsBetter ? medians[code]! : -medians[code]!);
    const declared = space.get(name);
    const ordered = declared?.kind === "choices" && declared.ordered;
    const codes = words.map((_, code) => code);
    if (!ordered) codes.sort((a, b) => rank(b) - rank(a) || b - a);
    const order = new Int32Array(words.length);
    codes.forEach((code, index) => {
        order[code] = index;
    });
    const scale = category(words, order);
    const positions = new Float32Array(rows);
    let missing = 0;
    const seed = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) | 0, 0);
    const room = words.length > 1 ? 0.55 / words.length : 0.06;
    for (let row = 0; row < rows; ++row) {
        const code = column.data[row]!;
        if (code >= words.length) {
            positions[row] = NO_PLACE;
            ++missing;
        } else positions[row] = scale.at(code) + (scatter(row, seed) - 0.5) * room;
    }
    return {name, label, scale, positions, bins: binned(positions), words, missing, value: (row) => words[column.data[row]!] ?? null};
}

/** A fixed number in 0–1 for a row, another for each axis: equal ones would draw parallel stripes between two axes. */
export function scatter(row: number, axis: number): number {
    let x = Math.imul(row + 1, 0x9e3779b1) ^ Math.imul(axis + 1, 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
    return ((x ^ (x >>> 13)) >>> 0) / 4294967296;
}
