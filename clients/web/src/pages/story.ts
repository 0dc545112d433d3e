// Stored events as sentences, as `hpsearch explain` prints them.
import type {Count, Metric} from "../api/types";
import {inLanguage, type Reason, type StoredEvent} from "../api/shapes";
import {t, tWord} from "../i18n/texts";
import {amount} from "../i18n/amount";
import {formatDuration, formatNumber, formatValue, plain, shortened} from "../i18n/format";
import {flatHparams} from "../state/hparams";
import type {storyKinds} from "./page_state";

export interface StoryLine {
    readonly lsn: number;
    readonly at: number;
    readonly trial: number | undefined;
    readonly text: string;
    readonly trouble: boolean;
    /// What a filter chooses by.
    readonly kind: (typeof storyKinds)[number];
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const textOf = (value: unknown): string => (typeof value === "string" ? plain(value) : "");
const plainNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
const colon = (text: string): string => (text === "" ? "" : t("story.colon", {text}));

/// "rank 16 of 48 at 9 epochs (keeps the best 16, cut-off 0.85)". Users count ranks from 1. The bracket is named from the second one on.
export function rankText(reason: Partial<Reason> & Fields, unit: string): string {
    const rank = plainNumber(reason["rank"]);
    const length = reason["at"] as Count | undefined;
    const bracket = plainNumber(reason["bracket"]) ?? 0;
    const keep = plainNumber(reason["keep"]);
    const cutoff = plainNumber(reason["cutoff"]);
    const level = length !== undefined ? amount(length, unit) : "";
    const place = bracket > 0 && level !== "" ? t("story.in_bracket", {place: level, bracket}) : level;
    const size = plainNumber(reason["size"]);
    const ranked = rank === undefined ? "" : size === undefined ? t("story.rank", {rank: rank + 1}) : t("story.rank_of", {rank: rank + 1, size});
    const cut = [
        keep === undefined ? "" : keep === 0 ? t("story.too_few") : t("story.keeps", {keep}),
        cutoff === undefined ? "" : t("story.cutoff", {value: formatNumber(cutoff)}),
    ]
        .filter((part) => part !== "")
        .join(", ");
    return [ranked !== "" && place !== "" ? t("story.at", {what: ranked, place}) : ranked, cut === "" ? "" : `(${cut})`]
        .filter((part) => part !== "")
        .join(" ");
}

const mostValues = 20;

/// "model.layers=4 optimizer.lr=0.001", and no more of a text or of many values than a line can show.
function hparamsText(values: Fields): string {
    const all = flatHparams(values);
    const texts = all.slice(0, mostValues).map(([name, value]) => `${shortened(name, 40)}=${shortened(formatValue(value), 40)}`);
    return [...texts, ...(all.length > mostValues ? ["…"] : [])].join(" ");
}

export function reasonText(value: unknown, unit: string): string {
    const reason = fieldsOf(value);
    const why = textOf(reason["why"]);
    const detail = textOf(reason["detail"]);
    const rank = rankText(reason, unit);
    const text = why === "max_length" && detail !== "" ? detail : tWord("why", why) + colon(detail);
    return [text, rank].filter((part) => part !== "").join("; ");
}

/// Lines of a story. It remembers where trials stand, since a result and its decision are two events.
export class Story {
    private readonly reached = new Map<number, {step: number; metric: Metric | null}>();

    constructor(
        private readonly metric: string,
        private readonly unit: string,
    ) {}

    private where(trial: number): string {
        const found = this.reached.get(trial);
        this.reached.delete(trial);
        return found ? t("story.where", {amount: amount(found.step, this.unit), metric: this.metric, value: formatNumber(found.metric)}) : "";
    }

    /// The line of an event, or undefined where another event's line shows it.
    line(stored: StoredEvent): StoryLine | undefined {
        const event = inLanguage(stored);
        const told = this.sentence(event);
        if (!told || told[0] === "") return undefined;
        const actor = textOf(event["actor"]);
        const text = actor === "" ? told[0] : t("story.actor", {what: told[0], actor});
        return {lsn: event.lsn, at: event.at, trial: plainNumber(event["trial"]), text, kind: told[1], trouble: told[2] ?? false};
    }

    private sentence(event: StoredEvent): [string, StoryLine["kind"], boolean?] | undefined {
        const trial = plainNumber(event["trial"]) ?? 0;
        const attempt = plainNumber(event["attempt"]) ?? 0;
        const worker = plainNumber(event["worker"]) ?? 0;
        const why = textOf(event["why"]);
        const slots = (Array.isArray(event["slots"]) ? event["slots"] : [event["slot"]]).join(", ");
        switch (event.type) {
            case "experiment_paused": {
                const reason = textOf(event["reason"]);
                return [reason === "" ? t("story.experiment_paused") : t("story.experiment_paused_itself", {reason}), "experiment", reason !== ""];
            }
            case "experiment_resumed":
                return [t("story.experiment_resumed"), "experiment"];
            case "experiment_reopened":
                return [t("story.experiment_reopened"), "experiment"];
            case "experiment_stopping":
                return [t("story.experiment_stopping") + colon(textOf(event["reason"])), "experiment"];
            case "experiment_ended":
                return [
                    t("story.experiment_ended", {state: tWord("state", textOf(event["state"]))}) + colon(textOf(event["reason"])),
                    "experiment",
                    event["state"] === "FAILED",
                ];
            case "experiment_archived":
                return [t("story.archived"), "experiment"];
            case "annotated": {
                const labels = Array.isArray(event["labels"]) ? event["labels"].map(textOf).join(", ") : "";
                const parts = [event["starred"] === true ? "★" : "", labels, textOf(event["note"])].filter((part) => part !== "");
                const text = event["trial"] === undefined ? t("story.annotated") : t("story.annotated_trial", {trial});
                return [text + colon(parts.join("; ")), "experiment"];
            }
            case "experiment_unarchived":
                return [t("story.unarchived"), "experiment"];
            case "logs_removed":
                return [t("story.logs_removed", {trial}), "experiment"];
            case "curve_thinned":
                return [t("story.curve_thinned", {trial, n: plainNumber(event["left"]) ?? 0}), "experiment"];
            case "trial_retried":
                return [t("story.retried", {trial}), "attempt"];
            case "worker_draining":
                return [t("story.worker_draining", {worker}), "worker"];
            case "worker_forgotten":
                return [t("story.worker_forgotten", {worker}) + colon(why), "worker"];
            case "program_changed":
                return [t("story.program_changed"), "experiment"];
            case "trial_created": {
                const reason = fieldsOf(event["reason"]);
                const values = hparamsText(fieldsOf(event["hparams"]));
                const because = reason["why"] === "new_trial" ? "" : `, ${reasonText(reason, this.unit)}`;
                return [t("story.created", {trial, length: amount(event["length"] as Count | undefined, this.unit), values}) + because, "decision"];
            }
            case "trial_promoted": {
                const reason = fieldsOf(event["reason"]);
                const place = this.where(trial);
                return [
                    t("story.promoted", {trial, length: amount(event["length"] as Count | undefined, this.unit)}) +
                        place +
                        colon(reason["why"] === "promoted" ? rankText(reason, this.unit) : reasonText(reason, this.unit)),
                    "decision",
                ];
            }
            case "length_reached":
                this.reached.set(trial, {
                    step: Math.max(plainNumber(event["step"]) ?? 0, event["ended"] ? 0 : (plainNumber(event["length"]) ?? 0)),
                    metric: (event["metric"] ?? null) as Metric | null,
                });
                return undefined;
            case "trial_paused":
                return [t("story.paused", {trial}) + this.where(trial) + colon(reasonText(event["reason"], this.unit)), "decision"];
            case "trial_queued":
                return event["judged"] === true ? undefined : [t("story.queued", {trial}), "attempt"];
            case "trial_ended":
                return [
                    t("story.ended", {trial, state: tWord("state", textOf(event["state"]))}) +
                        this.where(trial) +
                        colon(reasonText(event["reason"], this.unit)),
                    "decision",
                    event["state"] === "FAILED",
                ];
            case "attempt_started":
                if (event["member"] !== undefined) return undefined;
                return [attempt > 1 ? t("story.started_again", {trial, attempt}) : t("story.started", {trial}), "attempt"];
            case "report_taken": {
                const report = fieldsOf(event["report"]);
                if (report["type"] === "invalid_hparams") return [t("story.invalid", {trial}) + colon(textOf(report["why"])), "attempt"];
                if (report["type"] !== "exit") return undefined;
                const code = plainNumber(report["code"]) ?? 0;
                if (report["cause"] === "ended_by_agent" || (report["cause"] === "exited" && code === 0)) return undefined;
                const message = textOf(report["message"]);
                const end = message !== "" ? message : report["cause"] === "signaled" ? t("story.signal", {code}) : t("story.exit", {code});
                return [t("story.attempt_end", {trial, attempt, end}), "attempt", true];
            }
            case "attempt_lost":
                return [t("story.attempt_lost", {trial, attempt}) + colon(why), "attempt", true];
            case "attempt_adopted":
                return [t("story.adopted", {trial, attempt, worker}), "attempt"];
            case "start_delayed": {
                const seconds = (plainNumber(event["wait_ms"]) ?? 0) / 1000;
                return seconds < 1 ? undefined : [t("story.delayed", {trial, time: formatDuration(seconds)}) + colon(why), "attempt", true];
            }
            case "checkpoints_collected": {
                const paths = Array.isArray(event["paths"]) ? event["paths"].length : 0;
                return [t("story.collected", {trial, n: paths}), "checkpoint"];
            }
            case "worker_joined":
                return [t("story.worker_joined", {name: textOf(event["name"])}), "worker"];
            case "worker_lost":
                return [t("story.worker_lost", {worker}) + colon(why), "worker", true];
            case "worker_quarantined":
                return [t("story.worker_quarantined", {worker}) + colon(why), "worker", true];
            case "worker_released":
                return [t("story.worker_released", {worker}), "worker"];
            case "slots_quarantined":
                return [t("story.slots_out", {slots, worker}), "worker", true];
            case "slots_released":
                return [t("story.slots_back", {slots, worker}), "worker"];
            case "slot_withdrawn":
                return [t("story.slots_out", {slots, worker}) + colon(why), "worker", true];
            case "slot_restored":
                return [t("story.slots_back", {slots, worker}), "worker"];
            default:
                return undefined;
        }
    }
}

export function storyOf(events: readonly StoredEvent[], metric: string, unit: string): StoryLine[] {
    const story = new Story(metric, unit);
    return events.map((event) => story.line(event)).filter((line): line is StoryLine => line !== undefined);
}
