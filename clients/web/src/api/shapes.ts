// Answers under the names that pages use.
import type * as Api from "./types";

export type {Checkpoint, Experiment, ExperimentSummary, NewToken, Reason, Session, Status, Token, Trial, Worker} from "./types";

/// Seconds, numbers of trials and the like depend on the event's type: proto/SCHEMA.md.
export type StoredEvent = Api.Event & {
    readonly experiment?: number;
    readonly trial?: number;
    readonly attempt?: number;
    readonly [field: string]: unknown;
};

/// The event with its sentences in the language of the pages.
export const inLanguage = (event: StoredEvent): StoredEvent => ({...event, ...(event["translated"] as Partial<StoredEvent> | undefined)});

export type Explanation = Omit<Api.Explanation, "history"> & {readonly history: readonly StoredEvent[]};

/// A metric or a count as a number; NaN where there is none.
export function numberOf(value: Api.Metric | Api.Count | bigint | null | undefined): number {
    if (typeof value === "object" && value !== null) return value.class === "+inf" ? Infinity : value.class === "-inf" ? -Infinity : NaN;
    return value === null || value === undefined ? NaN : Number(value);
}
