/** Which value of a trial is compared: what it measured at one length, or, by choice, its best at any. Pure. */
import {columnOf, makeArray, missingOf, wordOf, type Column, type Columns} from "./columns";

/** A length, "any", or undefined for the one that the daemon chooses: the longest with enough results. */
export type LengthChoice = number | "any" | undefined;

export function readLength(text: string | undefined): LengthChoice {
    if (text === "any") return "any";
    const length = Number(text);
    return text !== undefined && Number.isInteger(length) && length > 0 ? length : undefined;
}

/**
 * The trials that are compared, with that value as their `metric`. A trial without a result there is left out; one that
 * reported NaN or infinity instead stays, as NaN, and `nonfinite` says what it was.
 */
export function comparedColumns(columns: Columns, choice: LengthChoice): Columns {
    const value = columnOf(columns, choice === "any" ? "metric" : "result");
    const odd = columnOf(columns, "nonfinite");
    if (!value) return columns;
    const rows: number[] = [];
    for (let row = 0; row < columns.filled; ++row) {
        if (!Number.isNaN(value.data[row]!) || (odd && odd.data[row] !== missingOf(odd.type))) rows.push(row);
    }
    const picked = (column: Column, name = column.name): Column => {
        const data = makeArray(column.type, rows.length);
        rows.forEach((row, index) => {
            data[index] = column.data[row]!;
        });
        const integers =
            column.integers &&
            new Map(rows.flatMap((row, index): [number, bigint][] => (column.integers!.has(row) ? [[index, column.integers!.get(row)!]] : [])));
        return {...column, name, data, ...(integers ? {integers} : {})};
    };
    const fields = columns.fields.filter((field) => field.name !== "metric" && field.name !== "result").map((field) => picked(field));
    return {...columns, rows: rows.length, filled: rows.length, fields: [...fields, picked(value, "metric")]};
}

/** "NaN", "inf" or "-inf" of a trial that reported it; "" of others. */
export function nonfiniteText(columns: Columns, row: number): string {
    const column = columnOf(columns, "nonfinite");
    const word = column ? wordOf(column, row) : "";
    return word === "nan" ? "NaN" : word;
}
