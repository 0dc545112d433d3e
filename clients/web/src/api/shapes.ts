// Answers with the fields that the description leaves open, under the names that pages use.
import type * as Api from "./types";

export type {Checkpoint, NewToken, Session, Status} from "./types";

/// Fields that only some daemons answer have a question mark.
export type ExperimentSummary = Api.ExperimentSummary & {readonly archived?: boolean};
export type Experiment = Api.Experiment & {readonly archived?: boolean};
export type Token = Api.Token & {readonly workspaces?: readonly string[]};

/// Seconds, numbers of trials and the like depend on the event's type: proto/SCHEMA.md.
export type StoredEvent = Api.Event & {
    readonly experiment?: number;
    readonly trial?: number;
    readonly attempt?: number;
    readonly [field: string]: unknown;
};

/// The numbers behind a decision; which of them are there depends on `why`.
export type Reason = Api.Reason & {
    readonly why?: string;
    readonly rung?: number | null;
    readonly bracket?: number | null;
    /// Counts from 0.
    readonly rank?: number | null;
    readonly size?: number | null;
    readonly keep?: number | null;
    readonly cutoff?: number | null;
    readonly cut_off?: number | null;
};

export type Trial = Omit<Api.Trial, "reason" | "best_step"> & {readonly reason: Reason; readonly best_step: Api.Count | null};

export type Explanation = Omit<Api.Explanation, "history" | "reason" | "results_needed" | "results_to_come"> & {
    readonly history: readonly StoredEvent[];
    readonly reason: Reason;
    readonly results_needed: number | null;
    readonly results_to_come: number | null;
};

export type Worker = Api.Worker & {readonly draining?: boolean};

/// A metric or a count as a number; NaN where there is none.
export function numberOf(value: Api.Metric | Api.Count | bigint | null | undefined): number {
    if (typeof value === "object" && value !== null) return value.class === "+inf" ? Infinity : value.class === "-inf" ? -Infinity : NaN;
    return value === null || value === undefined ? NaN : Number(value);
}
