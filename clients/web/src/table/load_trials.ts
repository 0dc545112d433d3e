// All trials of an experiment as columns.
import {getRaw} from "../api/client";
import {parseExact} from "../api/exact";
import {ColumnDecoder, columnOf, fromJson, makeArray, missingOf, type Column, type Columns} from "../plot/data/columns";

const binary = "application/vnd.hpsearch.columns";

export async function readColumns(path: string, signal: AbortSignal): Promise<Columns> {
    const response = await getRaw(path, {Accept: `${binary}, application/json;q=0.5`}, signal);
    if (!(response.headers.get("Content-Type") ?? "").includes(binary) || !response.body) return fromJson(parseExact(await response.text()));
    const decoder = new ColumnDecoder();
    const reader = response.body.getReader();
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return decoder.finish();
        decoder.push(value);
    }
}

/// Columns of `extra` for the trials of `first`. Both answers may be of different moments.
function joined(first: Columns, extra: Columns): Columns {
    const trials = columnOf(first, "trial");
    const others = columnOf(extra, "trial");
    if (!trials || !others) return first;
    const rowOf = new Map<number, number>();
    for (let row = 0; row < extra.filled; row += 1) rowOf.set(others.data[row]!, row);
    const known = new Set(first.fields.map((field) => field.name));
    const added = extra.fields
        .filter((field) => !known.has(field.name))
        .map((field): Column => {
            const data = makeArray(field.type, first.rows).fill(missingOf(field.type));
            const integers = new Map<number, bigint>();
            for (let row = 0; row < first.filled; row += 1) {
                const other = rowOf.get(trials.data[row]!);
                if (other === undefined) continue;
                data[row] = field.data[other]!;
                const exact = field.integers?.get(other);
                if (exact !== undefined) integers.set(row, exact);
            }
            return {...field, data, ...(field.integers ? {integers} : {})};
        });
    return {...first, fields: [...first.fields, ...added]};
}

/// A search with more trials is shown in pages that the daemon sorts.
export const mostTrials = 100_000;

/// `length`: where `result` was measured; undefined for the daemon's choice.
export async function loadTrials(id: number, extra: readonly string[], length: number | undefined, signal: AbortSignal): Promise<Columns> {
    const path = `experiments/${id}/columns`;
    const [first, more] = await Promise.all([
        readColumns(length === undefined ? path : `${path}?length=${length}`, signal),
        extra.length === 0 ? undefined : readColumns(`${path}?fields=trial,${extra.map(encodeURIComponent).join(",")}`, signal),
    ]);
    return more ? joined(first, more) : first;
}
