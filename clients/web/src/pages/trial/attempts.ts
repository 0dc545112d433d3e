// The attempts of a trial, read from its history.
import {inLanguage, type StoredEvent} from "../../api/shapes";

export interface Place {
    readonly worker: number;
    readonly slots: readonly number[];
}

export interface Attempt {
    readonly attempt: number;
    /// By rank: several of a gang.
    readonly places: readonly Place[];
    leased: number;
    started: number | undefined;
    ended: number | undefined;
    /// "exited", "lost", "signaled", … or undefined while it runs.
    cause: string | undefined;
    code: number | undefined;
    message: string;
}

/// Whether it ended by itself or by the machine, and not well.
export const isFailed = (attempt: Attempt): boolean =>
    attempt.cause !== undefined && attempt.cause !== "ended_by_agent" && !(attempt.cause === "exited" && attempt.code === 0);

type Fields = Readonly<Record<string, unknown>>;

const placeOf = (fields: Fields): Place[] =>
    typeof fields["worker"] === "number"
        ? [{worker: fields["worker"], slots: Array.isArray(fields["slots"]) ? (fields["slots"] as number[]) : []}]
        : [];

export function attemptsOf(history: readonly StoredEvent[]): Attempt[] {
    const found = new Map<number, Attempt>();
    for (const event of history.map(inLanguage)) {
        const number = typeof event.attempt === "number" ? event.attempt : undefined;
        if (number === undefined) continue;
        if (event.type === "lease_granted") {
            found.set(number, {
                attempt: number,
                places: [event as Fields, ...(Array.isArray(event["others"]) ? (event["others"] as Fields[]) : [])].flatMap(placeOf),
                leased: event.at,
                started: undefined,
                ended: undefined,
                cause: undefined,
                code: undefined,
                message: "",
            });
            continue;
        }
        const attempt = found.get(number);
        if (!attempt) continue;
        if (event.type === "attempt_started") attempt.started ??= event.at;
        if (event.type === "report_taken") {
            const report = (event["report"] ?? {}) as Fields;
            if (report["type"] !== "exit") continue;
            attempt.ended = event.at;
            attempt.cause = String(report["cause"] ?? "exited");
            attempt.code = typeof report["code"] === "number" ? report["code"] : 0;
            attempt.message = typeof report["message"] === "string" ? report["message"] : "";
        }
        if (event.type === "attempt_lost") {
            attempt.ended = event.at;
            attempt.cause = "lost";
            attempt.message = typeof event["why"] === "string" ? event["why"] : "";
        }
    }
    return [...found.values()].sort((a, b) => b.attempt - a.attempt);
}
