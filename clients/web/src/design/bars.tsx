// Small bars: progress with the time left, and trials by state.
import type {ExperimentSummary} from "../api/shapes";
import {t, tWord} from "../i18n/texts";
import {formatDuration, formatNumber, formatPercent} from "../i18n/format";
import {toneOf} from "./state_mark";

/// The time an experiment still needs at its present pace, in seconds.
export function timeLeft(experiment: ExperimentSummary, now: number): number | undefined {
    const {progress, created_at: since, state} = experiment;
    if (experiment.best === null) return undefined; // Failed trials are no pace.
    if (state !== "ACTIVE" || progress === null || progress < 0.02 || progress >= 1) return undefined;
    return ((now - since) * (1 - progress)) / progress;
}

export function Progress({experiment, now}: {experiment: ExperimentSummary; now: number}) {
    const {progress, state} = experiment;
    const left = timeLeft(experiment, now);
    const share = Math.max(0, Math.min(1, progress ?? 0));
    return (
        <div class={`progress tone-${toneOf(state)}`}>
            <div
                class="bar"
                role="progressbar"
                aria-valuenow={Math.round(share * 100)}
                aria-valuemin={0}
                aria-valuemax={100}
                aria-label={t("list.progress")}
            >
                <span style={{width: `${share * 100}%`}} />
            </div>
            <span class="row-sub">
                {formatPercent(share)}
                {left !== undefined && <span>{t("list.left", {time: formatDuration(left)})}</span>}
            </span>
        </div>
    );
}

const order = ["COMPLETED", "RUNNING", "PENDING", "PAUSED", "STOPPED", "CANCELED", "FAILED"] as const;

/// Trials by state. The words and numbers are in the title and for screen readers; the overview shows them in full.
export function TrialBar({trials, total}: {trials: Readonly<Record<string, number>>; total: number}) {
    const parts = order.filter((state) => (trials[state] ?? 0) > 0);
    const words = parts.map((state) => `${tWord("state", state)} ${formatNumber(trials[state])}`).join(", ");
    return (
        <div class="trial-bar" title={words}>
            <div class="bar state-bar" role="img" aria-label={words || t("list.no_trials")}>
                {parts.map((state) => (
                    <span key={state} class={`tone-${toneOf(state)}`} style={{flexGrow: trials[state]!}} />
                ))}
            </div>
            <span class="row-sub">{formatNumber(total)}</span>
        </div>
    );
}

export const trialStates = order;
