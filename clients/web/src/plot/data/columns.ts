/**
 * Trials as columns: the answer of `columns`, binary or JSON, as typed arrays. Pure. A binary
 * answer fills the arrays chunk by chunk, so that plots draw while it loads.
 */

import {parseExact, printExact} from "../../api/exact";

/** i64 lies in a Float64Array here; what that would round stands in `integers`. */
export type ColumnType = "f64" | "i64" | "u32" | "u16" | "u8";
type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array;

export interface Field {
    readonly name: string;
    readonly type: ColumnType;
    /** What codes stand for; absent for numbers. */
    readonly words?: readonly unknown[];
}

export interface Column extends Field {
    readonly data: Numbers;
    /** By row: integers above 2^53. Only of i64, only where there are any. */
    readonly integers?: Map<number, bigint>;
}

export interface Columns {
    readonly lsn: number;
    /** Rows that the arrays have room for, and how many the experiment has in all. */
    readonly rows: number;
    readonly total: number;
    /** Rows that are filled. */
    filled: number;
    readonly fields: readonly Column[];
    /** Where the column `result` was measured, and where else it could be. */
    readonly length?: number | null;
    readonly lengths?: readonly ComparedLength[];
    /** The texts that the condition of the request joins by `and`. */
    readonly terms?: readonly string[];
}

export interface ComparedLength {
    readonly length: number;
    readonly results: number;
}

export interface Header {
    readonly length?: number | null;
    readonly lengths?: readonly ComparedLength[];
    readonly terms?: readonly string[];
    readonly lsn: number;
    readonly rows: number;
    readonly total: number;
    readonly chunk_rows: number;
    readonly fields: readonly Field[];
}

const BYTES: Record<ColumnType, number> = {f64: 8, i64: 8, u32: 4, u16: 2, u8: 1};
const MISSING: Record<ColumnType, number> = {f64: NaN, i64: NaN, u32: 0xffffffff, u16: 0xffff, u8: 0xff};

export function makeArray(type: ColumnType, length: number): Numbers {
    switch (type) {
        case "f64":
        case "i64":
            return new Float64Array(length);
        case "u32":
            return new Uint32Array(length);
        case "u16":
            return new Uint16Array(length);
        case "u8":
            return new Uint8Array(length);
    }
}

export function missingOf(type: ColumnType): number {
    return MISSING[type];
}

export function emptyColumns(header: Header): Columns {
    const fields = header.fields.map((field) => ({
        ...field,
        data: makeArray(field.type, header.rows).fill(MISSING[field.type]),
        ...(field.type === "i64" ? {integers: new Map<number, bigint>()} : {}),
    }));
    return {
        lsn: header.lsn,
        rows: header.rows,
        total: header.total,
        filled: 0,
        fields,
        length: lengthOf(header.length),
        lengths: (header.lengths ?? []).map(({length, results}) => ({length: Number(length), results})),
        terms: header.terms ?? [],
    };
}

/** Lengths above 2^53 are texts in JSON. */
const lengthOf = (length: number | string | null | undefined) => (length === null || length === undefined ? null : Number(length));

const padded = (bytes: number) => (bytes + 7) & ~7;

/** Decodes a stream of pieces of any size. `push` returns true when new rows are there. */
export class ColumnDecoder {
    columns: Columns | null = null;
    private pieces: Uint8Array = new Uint8Array(0);
    private chunkRows = 0;

    push(piece: Uint8Array): boolean {
        const joined = new Uint8Array(this.pieces.length + piece.length);
        joined.set(this.pieces);
        joined.set(piece, this.pieces.length);
        this.pieces = joined;
        if (!this.columns && !this.readHeader()) return false;
        let grown = false;
        while (this.readChunk()) grown = true;
        return grown;
    }

    /** Throws where the answer ends early or goes on behind its last row. */
    finish(): Columns {
        if (!this.columns) throw new Error("The columns end before their header does.");
        if (this.columns.filled !== this.columns.rows || this.pieces.length > 0) {
            throw new Error(`The columns end after ${this.columns.filled} of ${this.columns.rows} trials.`);
        }
        return this.columns;
    }

    private readHeader(): boolean {
        const end = this.pieces.indexOf(10);
        if (end < 0) return false;
        const header = parseExact<Header>(new TextDecoder().decode(this.pieces.subarray(0, end)));
        if (!(header.rows >= 0) || !Array.isArray(header.fields) || header.fields.some((field) => !(field.type in BYTES))) {
            throw new Error("The columns have a header that this page cannot read. Reload the page.");
        }
        this.columns = emptyColumns(header);
        this.chunkRows = header.chunk_rows || 16384;
        this.pieces = this.pieces.slice(end + 1);
        return true;
    }

    private readChunk(): boolean {
        const columns = this.columns!;
        const rows = Math.min(this.chunkRows, columns.rows - columns.filled);
        if (rows <= 0) return false;
        const size = columns.fields.reduce((sum, field) => sum + padded(rows * BYTES[field.type]), 0);
        if (this.pieces.length < size) return false;
        let at = 0;
        for (const field of columns.fields) {
            const bytes = rows * BYTES[field.type];
            const copy = this.pieces.slice(at, at + bytes);
            if (field.type === "i64") setIntegers(field, new BigInt64Array(copy.buffer as ArrayBuffer, 0, rows), columns.filled);
            else field.data.set(view(field.type, copy.buffer as ArrayBuffer, rows), columns.filled);
            at += padded(bytes);
        }
        this.pieces = this.pieces.slice(size);
        columns.filled += rows;
        return true;
    }
}

const NO_INTEGER = -(2n ** 63n);

function setIntegers(column: Column, values: BigInt64Array, from: number): void {
    for (let row = 0; row < values.length; ++row) {
        const value = values[row]!;
        const number = Number(value);
        column.data[from + row] = value === NO_INTEGER ? NaN : number;
        if (!Number.isSafeInteger(number) && value !== NO_INTEGER) column.integers!.set(from + row, value);
    }
}

function view(type: Exclude<ColumnType, "i64">, buffer: ArrayBuffer, rows: number): Numbers {
    switch (type) {
        case "f64":
            return new Float64Array(buffer, 0, rows);
        case "u32":
            return new Uint32Array(buffer, 0, rows);
        case "u16":
            return new Uint16Array(buffer, 0, rows);
        case "u8":
            return new Uint8Array(buffer, 0, rows);
    }
}

interface JsonColumns {
    readonly length?: number | string | null;
    readonly lengths?: readonly ComparedLength[];
    readonly terms?: readonly string[];
    readonly lsn: number;
    readonly rows: number;
    readonly total: number;
    readonly fields: readonly {readonly name: string; readonly type: string; readonly words?: readonly unknown[]}[];
    readonly columns: readonly (readonly (number | bigint | string | boolean | null)[])[];
}

/** The JSON form; a column of texts without `words` gets them here. */
export function fromJson(answer: JsonColumns): Columns {
    const fields = answer.fields.map((field, index): Column => {
        const values = answer.columns[index] ?? [];
        const known = field.type in BYTES ? (field.type as ColumnType) : undefined;
        if (!field.words && values.some((value) => typeof value === "string" || typeof value === "boolean")) {
            const words: unknown[] = [];
            const codes = new Map<unknown, number>();
            const data = new Uint16Array(values.length).fill(MISSING.u16);
            values.forEach((value, row) => {
                if (value === null) return;
                if (!codes.has(value)) codes.set(value, words.push(value) - 1);
                data[row] = codes.get(value)!;
            });
            return {name: field.name, type: "u16", words, data};
        }
        const integers = new Map<number, bigint>();
        const type = known ?? (field.words ? "u16" : values.some((value) => typeof value === "bigint") ? "i64" : "f64");
        const data = makeArray(type, values.length);
        for (let row = 0; row < values.length; ++row) {
            const value = values[row];
            if (typeof value === "bigint") integers.set(row, value);
            data[row] = value === null || value === undefined ? MISSING[type] : Number(value);
        }
        return {name: field.name, type, ...(field.words ? {words: field.words} : {}), data, ...(type === "i64" ? {integers} : {})};
    });
    const rows = fields[0]?.data.length ?? answer.rows;
    return {
        lsn: answer.lsn,
        rows,
        total: answer.total,
        filled: rows,
        fields,
        length: lengthOf(answer.length),
        lengths: answer.lengths ?? [],
        terms: answer.terms ?? [],
    };
}

/** The binary form of columns, for tests and for saving what a page holds. */
export function encode(columns: Columns, chunkRows = 16384): Uint8Array {
    const fields = columns.fields.map(({name, type, words}) => ({name, type, ...(words ? {words} : {})}));
    const text = printExact({lsn: columns.lsn, rows: columns.rows, total: columns.total, chunk_rows: chunkRows, fields});
    const line = new TextEncoder().encode(text);
    const parts: Uint8Array[] = [new Uint8Array(padded(line.length + 1)).fill(32)];
    parts[0]!.set(line);
    parts[0]![parts[0]!.length - 1] = 10;
    for (let row = 0; row < columns.rows; row += chunkRows) {
        for (const field of columns.fields) {
            const cut = field.data.slice(row, Math.min(row + chunkRows, columns.rows));
            const raw =
                field.type !== "i64"
                    ? cut
                    : BigInt64Array.from(
                          cut,
                          (value, index) => field.integers?.get(row + index) ?? (Number.isNaN(value) ? NO_INTEGER : BigInt(value)),
                      );
            const bytes = new Uint8Array(raw.buffer, raw.byteOffset, raw.byteLength);
            const whole = new Uint8Array(padded(bytes.length));
            whole.set(bytes);
            parts.push(whole);
        }
    }
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

export function columnOf(columns: Columns, name: string): Column | undefined {
    return columns.fields.find((field) => field.name === name);
}

/** Numbers of a column with NaN where missing; codes and whole numbers too. */
export function numbersOf(column: Column, rows = column.data.length): Float64Array {
    const numbers = new Float64Array(rows);
    const missing = MISSING[column.type];
    for (let row = 0; row < rows; ++row) {
        const value = column.data[row]!;
        numbers[row] = value === missing ? NaN : value;
    }
    return numbers;
}

/** The word of a row, "" where missing. */
export function wordOf(column: Column, row: number): string {
    const code = column.data[row]!;
    if (!column.words || code === MISSING[column.type]) return "";
    const word = column.words[code];
    return typeof word === "string" ? word : printExact(word);
}

/** What stands in a cell, exactly: undefined where it is missing. */
export function exactOf(column: Column, row: number): unknown {
    const value = column.data[row]!;
    if (value !== value || value === MISSING[column.type]) return undefined;
    return column.words ? column.words[value] : (column.integers?.get(row) ?? value);
}
