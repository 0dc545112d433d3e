// The condition of the filter, as the daemon reads it.
import type {Problem} from "../api/client";
import {t} from "../i18n/texts";
import {columnOf, type Columns} from "../plot/data/columns";
import {useResource} from "../state/resource";
import {readColumns} from "./load_trials";

const noTrials = new Uint32Array(0);

export interface Matching {
    readonly where: string;
    readonly ready: boolean;
    /// Numbers of trials; undefined without a condition.
    readonly matching?: Uint32Array;
    /// The terms of the condition; undefined until the daemon has answered.
    readonly terms: readonly string[] | undefined;
    readonly problem: string | undefined;
}

/// The trials that satisfy a condition. `length` is where the column `result` is measured, if it is a number; `every` is the
/// time between requests in milliseconds.
export function useMatching(experiment: number, where: string, length: unknown, every: number): Matching {
    const path = `experiments/${experiment}/columns?fields=trial&where=${encodeURIComponent(where)}`;
    const {data, problem} = useResource<Columns>(where === "" ? null : typeof length === "number" ? `${path}&length=${length}` : path, {
        topic: `trials:${experiment}`,
        every,
        read: readColumns,
    });
    if (where === "") return {where, ready: true, terms: [], problem: undefined};
    if (data) return {where, ready: true, matching: columnOf(data, "trial")!.data as Uint32Array, terms: data.terms ?? [], problem: undefined};
    if (problem) return {where, ready: true, matching: noTrials, terms: [], problem: problem.message || t("state.unreachable")};
    return {where, ready: false, matching: noTrials, terms: undefined, problem: undefined};
}

/// The terms of a condition, where its trials come in pages: one row brings them, or why the daemon can't read the condition.
export function useTerms(experiment: number, where: string): {terms: readonly string[] | undefined; problem: Problem | undefined} {
    const path = `experiments/${experiment}/columns?fields=trial&sample=1&where=${encodeURIComponent(where)}`;
    const {data, problem} = useResource<Columns>(where === "" ? null : path, {read: readColumns});
    return {terms: where === "" ? [] : data && (data.terms ?? []), problem};
}
