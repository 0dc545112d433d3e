/** Columns of an experiment's trials that stay up to date while a component shows them. */
import {useEffect, useRef, useState} from "preact/hooks";
import {getRaw, Problem} from "../../api/client";
import {parseExact} from "../../api/exact";
import type {Experiment} from "../../api/shapes";
import {listen} from "../../live/stream";
import {ColumnDecoder, fromJson, type Columns} from "./columns";

export interface LoadedColumns {
    /** Null until the first rows are there. Grows chunk by chunk: `columns.filled` rows are there. */
    readonly columns: Columns | null;
    readonly problem: Problem | undefined;
    /** Whether every row is there. */
    readonly complete: boolean;
    readonly reload: () => void;
}

const BINARY = "application/vnd.hpsearch.columns";

export async function readColumns(path: string, signal: AbortSignal, onRows?: (columns: Columns) => void): Promise<Columns> {
    const response = await getRaw(path, {Accept: `${BINARY}, application/json;q=0.5`}, signal);
    if (!(response.headers.get("Content-Type") ?? "").includes(BINARY) || !response.body) return fromJson(parseExact(await response.text()));
    const decoder = new ColumnDecoder();
    const reader = response.body.getReader();
    for (;;) {
        const {done, value} = await reader.read();
        if (done) return decoder.finish();
        if (decoder.push(value)) onRows?.(decoder.columns!);
    }
}

/** `fields` as the route takes them; "" for its default: trial, state, result, metric, reached, rung and what varies. `length`: where `result` was measured. */
export function useColumns(experiment: Experiment, fields = "", length?: number): LoadedColumns {
    const [, redraw] = useState(0);
    const state = useRef<{columns: Columns | null; problem: Problem | undefined; complete: boolean}>({
        columns: null,
        problem: undefined,
        complete: false,
    });
    const again = useRef<() => void>(() => {});
    const wanted = [...(fields ? [`fields=${encodeURIComponent(fields)}`] : []), ...(length === undefined ? [] : [`length=${length}`])].join("&");
    const path = `experiments/${experiment.id}/columns${wanted ? `?${wanted}` : ""}`;
    // Large answers are asked for less often.
    const pace = experiment.trials_total > 20000 ? 5000 : 2000;
    useEffect(() => {
        let over = false;
        let running: AbortController | undefined;
        let timer: ReturnType<typeof setTimeout> | undefined;
        let started = 0;
        const show = (change: Partial<typeof state.current>) => {
            if (over) return;
            state.current = {...state.current, ...change};
            redraw((n) => n + 1);
        };
        const request = async () => {
            if (running) return;
            started = performance.now();
            running = new AbortController();
            try {
                // The first answer is shown as it grows; later ones replace what is shown when they are whole.
                const first = state.current.columns === null || !state.current.complete;
                let shown = 0;
                const columns = await readColumns(path, running.signal, (grown) => {
                    // Each redraw takes time that loading needs too.
                    if (!first || (shown > 0 && performance.now() - shown < 600)) return;
                    shown = performance.now();
                    show({columns: {...grown}, problem: undefined});
                });
                show({columns: {...columns}, complete: true, problem: undefined});
            } catch (cause) {
                if (!over) show({problem: cause instanceof Problem ? cause : new Problem(0, "unreadable", String(cause), undefined)});
            } finally {
                running = undefined;
            }
        };
        again.current = () => void request();
        state.current = {columns: null, problem: undefined, complete: false};
        void request();
        // What has ended changes no more.
        const stop =
            experiment.ended_at !== null
                ? () => {}
                : listen(`experiment:${experiment.id}`, () => {
                      clearTimeout(timer);
                      timer = setTimeout(request, Math.max(0, started + pace - performance.now()));
                  });
        return () => {
            over = true;
            clearTimeout(timer);
            running?.abort();
            stop();
        };
    }, [path, experiment.ended_at === null]);
    return {...state.current, reload: () => again.current()};
}
