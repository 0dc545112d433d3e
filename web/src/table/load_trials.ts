// All trials of an experiment as columns.
import {get, getRaw, Problem} from "../api/client";
import type {Trial} from "../api/types";
import {ColumnDecoder, columnOf, fromJson, makeArray, missingOf, type Column, type Columns} from "../plot/columns";
import {flatHparams} from "../state/hparams";

const binary = "application/vnd.hpsearch.columns";

async function read(path: string, signal: AbortSignal, onRows?: (columns: Columns) => void): Promise<Columns> {
    const response = await getRaw(path, {Accept: `${binary}, application/json;q=0.5`}, signal);
    if (!(response.headers.get("Content-Type") ?? "").includes(binary) || !response.body) return fromJson(await response.json());
    const decoder = new ColumnDecoder();
    const reader = response.body.getReader();
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return decoder.finish();
        if (decoder.push(value)) onRows?.(decoder.columns!);
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
    const added = extra.fields.filter((field) => !known.has(field.name)).map((field): Column => {
        const data = makeArray(field.type, first.rows).fill(missingOf(field.type));
        for (let row = 0; row < first.filled; row += 1) {
            const other = rowOf.get(trials.data[row]!);
            if (other !== undefined) data[row] = field.data[other]!;
        }
        return {...field, data};
    });
    return {...first, fields: [...first.fields, ...added]};
}

const fieldOf: Readonly<Record<string, (trial: Trial) => number | string | null>> = {
    trial: (each) => each.trial,
    state: (each) => each.state,
    metric: (each) => each.best_metric ?? each.metric,
    last: (each) => each.metric,
    at: (each) => each.best_step,
    length: (each) => each.length,
    reached: (each) => each.reached,
    bracket: (each) => each.reason.bracket ?? null,
    rung: (each) => each.reason.rung ?? null,
    attempts: (each) => each.attempts,
    restarts: (each) => each.restarts,
    slot_seconds: (each) => each.slot_seconds,
    created_at: (each) => each.created_at,
    ended_at: (each) => each.ended_at,
    worker: (each) => each.worker,
    failure: (each) => (each.last_failure === "" ? null : each.last_failure),
    reason: (each) => each.reason.text,
};

/// Trials one page after another: what a daemon without `columns` has.
async function readPages(id: number, signal: AbortSignal): Promise<Columns> {
    const trials: Trial[] = [];
    let after: number | null = null;
    do {
        const page: {trials: Trial[]; next: number | null} = await get(`experiments/${id}/trials?limit=500${after === null ? "" : `&after=${after}`}`, signal);
        trials.push(...page.trials);
        after = page.next;
    } while (after !== null);
    const hparams = trials.map((trial) => Object.fromEntries(flatHparams(trial.hparams)));
    const names = [...new Set(hparams.flatMap((each) => Object.keys(each)))].filter((name) =>
        new Set(hparams.map((each) => JSON.stringify(each[name]))).size > 1 || trials.length === 1);
    const scalar = (value: unknown) => (value === undefined || value === null ? null : typeof value === "number" || typeof value === "string" ? value : JSON.stringify(value));
    const fields = [
        ...Object.entries(fieldOf).map(([name, value]) => ({name, values: trials.map(value)})),
        ...names.map((name) => ({name: `hparams.${name}`, values: hparams.map((each) => scalar(each[name]))})),
    ];
    return fromJson({lsn: 0, rows: trials.length, total: trials.length, fields: fields.map(({name}) => ({name, type: "auto"})), columns: fields.map(({values}) => values)});
}

/// Of more trials than this a page has a sample, and says so.
export const mostTrials = 100_000;

export async function loadTrials(id: number, extra: readonly string[], trials: number, signal: AbortSignal, onRows?: (columns: Columns) => void): Promise<Columns> {
    const sample = trials > mostTrials ? `sample=${mostTrials}` : "";
    const path = `experiments/${id}/columns`;
    try {
        const [first, more] = await Promise.all([
            read(sample === "" ? path : `${path}?${sample}`, signal, extra.length === 0 ? onRows : undefined),
            extra.length === 0 ? undefined : read(`${path}?fields=trial,${extra.map(encodeURIComponent).join(",")}${sample === "" ? "" : `&${sample}`}`, signal),
        ]);
        return more ? joined(first, more) : first;
    } catch (cause) {
        if (cause instanceof Problem && cause.status === 404 && cause.code === "not_found" && !/experiment/.test(cause.message)) return readPages(id, signal);
        throw cause;
    }
}
