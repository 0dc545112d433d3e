// Pages of trials in the daemon's order: what the table shows of searches that are too large to be held in a browser.
import {useEffect, useRef, useState} from "preact/hooks";
import {get, Problem} from "../api/client";
import {printExact} from "../api/exact";
import {numberOf, type Trial} from "../api/shapes";
import {fromJson, type Columns} from "../plot/data/columns";
import {flatHparams} from "../state/hparams";

const pageRows = 500;

export interface PageWish {
    readonly sort: string;
    readonly where: string;
    readonly states: readonly string[];
}

export interface PagedTrials {
    readonly columns: Columns | undefined;
    /// How many trials fit the wish; undefined until the first page is there.
    readonly matched: number | undefined;
    readonly problem: Problem | undefined;
    readonly loading: boolean;
    readonly more: () => void;
}

const cellOf: Readonly<Record<string, (trial: Trial) => number | string | null>> = {
    trial: (each) => each.trial,
    state: (each) => each.state,
    metric: (each) => (each.best_metric === null ? null : numberOf(each.best_metric)),
    last: (each) => (each.metric === null ? null : numberOf(each.metric)),
    nonfinite: (each) => (typeof each.metric === "object" && each.metric !== null ? each.metric.class.replace("+", "") : null),
    at: (each) => (each.best_step === null ? null : numberOf(each.best_step)),
    length: (each) => numberOf(each.length),
    reached: (each) => numberOf(each.reached),
    bracket: (each) => each.reason.bracket ?? null,
    attempts: (each) => each.attempts,
    restarts: (each) => each.restarts,
    slot_seconds: (each) => each.slot_seconds,
    created_at: (each) => each.created_at,
    ended_at: (each) => each.ended_at,
    worker: (each) => each.worker,
    failure: (each) => (each.last_failure === "" ? null : each.last_failure),
    reason: (each) => each.reason.why ?? null,
};

/// Trials as a table's columns. Hyperparameters that are equal in all of them are left out.
export function columnsOfTrials(trials: readonly Trial[], total: number): Columns {
    const hparams = trials.map((trial) => Object.fromEntries(flatHparams(trial.hparams)));
    const names = [...new Set(hparams.flatMap((each) => Object.keys(each)))].filter(
        (name) => trials.length === 1 || new Set(hparams.map((each) => printExact(each[name]))).size > 1,
    );
    const scalar = (value: unknown) =>
        value === undefined || value === null
            ? null
            : typeof value === "number" || typeof value === "bigint" || typeof value === "string"
              ? value
              : printExact(value);
    const fields = [
        ...Object.entries(cellOf).map(([name, cell]) => ({name, values: trials.map(cell)})),
        ...names.map((name) => ({name: `hparams.${name}`, values: hparams.map((each) => scalar(each[name]))})),
    ];
    return fromJson({
        lsn: 0,
        rows: trials.length,
        total,
        fields: fields.map(({name}) => ({name, type: "auto"})),
        columns: fields.map(({values}) => values),
    });
}

interface TrialsAnswer {
    readonly matched?: number;
    readonly total: number;
    readonly next: number | string | null;
    readonly trials: readonly Trial[];
}

/// The table sorts metrics by their size, the daemon from the best to the worst.
export const daemonOrder = (sort: string, smallerIsBetter: boolean): string =>
    sort
        .split(",")
        .map((key) => (!smallerIsBetter && /^-?(metric|result|last)$/.test(key) ? (key.startsWith("-") ? key.slice(1) : `-${key}`) : key))
        .join(",");

/// Pages in the order of `wish`, one after another as they are asked for; null asks for nothing.
export function usePagedTrials(experiment: number | null, wish: PageWish): PagedTrials {
    const path =
        experiment === null
            ? null
            : `experiments/${experiment}/trials?limit=${pageRows}&sort=${encodeURIComponent(wish.sort)}${wish.where === "" ? "" : `&where=${encodeURIComponent(wish.where)}`}${wish.states.length === 0 ? "" : `&state=${wish.states.join(",")}`}`;
    const [, redraw] = useState(0);
    const state = useRef<{
        trials: Trial[];
        next: number | string | null;
        columns: Columns | undefined;
        matched: number | undefined;
        problem: Problem | undefined;
        loading: boolean;
    }>({trials: [], next: null, columns: undefined, matched: undefined, problem: undefined, loading: false});
    const running = useRef<AbortController | undefined>(undefined);
    const load = async (after: number | string | null) => {
        if (path === null) return;
        running.current?.abort();
        const control = new AbortController();
        running.current = control;
        state.current = {...state.current, loading: true};
        redraw((n) => n + 1);
        try {
            const page = await get<TrialsAnswer>(after === null ? path : `${path}&after=${encodeURIComponent(String(after))}`, control.signal);
            const trials = after === null ? [...page.trials] : [...state.current.trials, ...page.trials];
            state.current = {
                trials,
                next: page.next,
                columns: columnsOfTrials(trials, page.total),
                matched: page.matched ?? page.total,
                problem: undefined,
                loading: false,
            };
        } catch (cause) {
            if (control.signal.aborted) return;
            state.current = {
                ...state.current,
                loading: false,
                problem: cause instanceof Problem ? cause : new Problem(0, "unreadable", String(cause), undefined),
            };
        }
        redraw((n) => n + 1);
    };
    useEffect(() => {
        void load(null);
        return () => running.current?.abort();
    }, [path]);
    const {columns, matched, problem, loading, next} = state.current;
    return {
        columns,
        matched,
        problem,
        loading,
        more: () => {
            if (next !== null && !state.current.loading) void load(next);
        },
    };
}
