// An answer of the API that stays up to date while a component shows it.
import {useEffect, useRef, useState} from "preact/hooks";
import {get, Problem} from "../api/client";
import {listen, noteReach, type Message} from "../live/stream";

export interface Resource<T> {
    /// The last answer. It stays while the connection is lost.
    readonly data: T | undefined;
    /// Why the last request failed.
    readonly problem: Problem | undefined;
    readonly loading: boolean;
    readonly reload: () => void;
}

export interface ResourceOptions<T> {
    /// The topic whose messages announce a change.
    readonly topic?: string | undefined;
    /// Makes the new value from a message; without it, or when it returns undefined, the answer is requested again.
    readonly merge?: (message: Message, old: T) => T | undefined;
    /// Requests are at least this far apart, in milliseconds.
    readonly every?: number;
    readonly paused?: boolean;
    readonly read?: (path: string, signal: AbortSignal) => Promise<T>;
}

/// The last answers, so that going back shows something at once.
const kept = new Map<string, unknown>();
const mostKept = 40;

/// Requests of what is on the screen, by path.
const shown = new Map<string, Set<() => void>>();

/// Requests an answer again that a change has made old.
export function reread(path: string): void {
    for (const reload of shown.get(path) ?? []) reload();
}

function keep(path: string, value: unknown): void {
    kept.delete(path);
    kept.set(path, value);
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!);
}

export function useResource<T>(path: string | null, options: ResourceOptions<T> = {}): Resource<T> {
    const [, redraw] = useState(0);
    const latest = useRef(options);
    latest.current = options;
    const state = useRef<{path: string | null; data: T | undefined; problem: Problem | undefined; loading: boolean}>({
        path: null,
        data: undefined,
        problem: undefined,
        loading: false,
    });
    const reload = useRef<() => void>(() => {});
    if (state.current.path !== path) {
        state.current = {path, data: path === null ? undefined : (kept.get(path) as T | undefined), problem: undefined, loading: path !== null};
    }

    useEffect(() => {
        if (path === null) return;
        let over = false;
        let running: AbortController | undefined;
        let again = false;
        let lastStart = 0;
        let timer: ReturnType<typeof setTimeout> | undefined;
        const show = (change: Partial<typeof state.current>) => {
            if (over) return;
            state.current = {...state.current, ...change};
            redraw((n) => n + 1);
        };
        const request = async () => {
            if (running) {
                again = true;
                return;
            }
            // Not the browser's clock: after a jump back the next request would wait for days.
            lastStart = performance.now();
            running = new AbortController();
            try {
                const read = latest.current.read ?? get<T>;
                const data = await read(path, running.signal);
                keep(path, data);
                noteReach(true);
                show({data, problem: undefined, loading: false});
            } catch (cause) {
                if (over) return;
                const problem = cause instanceof Problem ? cause : new Problem(0, "unreadable", String(cause), undefined);
                if (problem.status === 0) noteReach(false);
                show({problem, loading: false});
            } finally {
                running = undefined;
                if (again && !over) {
                    again = false;
                    soon();
                }
            }
        };
        const soon = () => {
            if (latest.current.paused) return;
            clearTimeout(timer);
            timer = setTimeout(request, Math.max(0, lastStart + (latest.current.every ?? 1000) - performance.now()));
        };
        reload.current = () => {
            show({loading: true});
            void request();
        };
        void request();
        const here = reload.current;
        shown.set(path, (shown.get(path) ?? new Set()).add(here));
        const stop =
            options.topic === undefined
                ? undefined
                : listen(options.topic, (message) => {
                      const old = state.current.data;
                      const merged = message && old !== undefined ? latest.current.merge?.(message, old) : undefined;
                      if (merged !== undefined) {
                          keep(path, merged);
                          show({data: merged, problem: undefined});
                      } else soon();
                  });
        return () => {
            over = true;
            shown.get(path)?.delete(here);
            if (shown.get(path)?.size === 0) shown.delete(path);
            clearTimeout(timer);
            running?.abort();
            stop?.();
        };
    }, [path, options.topic]);

    const {data, problem, loading} = state.current;
    return {data, problem, loading, reload: () => reload.current()};
}
