// The consequences of changed limits, computed from the state of the search and from the daemon's plan.
import {useEffect, useRef, useState} from "preact/hooks";
import {change, Problem} from "../../api/client";
import {printExact} from "../../api/exact";
import {numberOf} from "../../api/shapes";
import type {Experiment, Preview} from "../../api/types";
import {formatNumber} from "../../i18n/format";
import {t, tCount} from "../../i18n/texts";
import {at, changedConfig, changesOf, linesOf, refusalOf, valueOf, type Config, type Texts} from "./limit_changes";
import {hoursUsed} from "./limit_fields";

const isNumber = (value: unknown): value is number => typeof value === "number";

/// Whether a budget is reached at the moment.
function isReached(experiment: Experiment, path: string, value: unknown): boolean {
    if (!isNumber(value)) return false;
    if (path === "budget.max_slot_hours") return hoursUsed(experiment) >= value;
    if (path === "budget.max_failed_trials") return (experiment.trials["FAILED"] ?? 0) >= value;
    const best = experiment.best ? numberOf(experiment.best.metric) : NaN;
    return path === "budget.target" && (experiment.smaller_is_better ? best <= value : best >= value);
}

export const createsNone = (experiment: Experiment, trials: unknown): boolean => isNumber(trials) && trials > 0 && trials <= experiment.trials_total;

/// What follows from the changed values, as far as the state of the search tells.
export function consequences(experiment: Experiment, config: Config, texts: Texts, changed: readonly string[]): string[] {
    const lines: string[] = [];
    const isEnded = experiment.ended_at !== null;
    for (const path of changed) {
        const value = valueOf(texts[path] ?? "");
        if (path === "searcher.max_trials" && !isEnded && createsNone(experiment, value))
            lines.push(tCount("limits.no_new_trial", experiment.trials_total));
        if (path === "searcher.max_concurrent_trials" && isNumber(value) && value > 0 && value < (experiment.trials["RUNNING"] ?? 0))
            lines.push(t("limits.pauses", {n: formatNumber(value)}));
        const slots = at(config, "resources.slots_per_trial");
        if (path === "resources.max_slots" && isNumber(value) && isNumber(slots) && value >= 0 && value < slots)
            lines.push(tCount("limits.nothing_starts", slots));
        if (!isEnded && isReached(experiment, path, value)) lines.push(t("limits.reached", {limit: path}));
    }
    return lines;
}

interface Plans {
    readonly before: Preview;
    readonly after: Preview;
}

const trainingOf = (preview: Preview): number | null => preview.expected_length ?? preview.total_length;

const preview = (config: Config): Promise<Preview> => {
    const {program_traits: _, ...written} = config;
    return change<Preview>("POST", "experiments/preview", {config: written});
};

const settle = 350;

/// The daemon's plan of the search as it is, and with the changed limits; undefined if nothing of the search changes. A refusal of the
/// preview is one of the change.
export function usePlans(config: Config, before: Texts, texts: Texts, paths: readonly string[], refused: (fields: Texts) => void): Plans | undefined {
    const [plans, setPlans] = useState<Plans | undefined>();
    const {searcher} = changesOf(before, texts);
    const changed = searcher && printExact(searcher);
    const present = useRef<Promise<Preview> | undefined>(undefined);
    useEffect(() => {
        setPlans(undefined);
        if (!searcher) return;
        let over = false;
        const timer = setTimeout(async () => {
            try {
                present.current ??= preview(config);
                const both = {before: await present.current, after: await preview(changedConfig(config, {searcher}))};
                if (!over) setPlans(both);
            } catch (cause) {
                present.current = undefined;
                if (over || !(cause instanceof Problem) || cause.status !== 400) return;
                refused(refusalOf(linesOf(cause.problems), paths).fields);
            }
        }, settle);
        return () => {
            over = true;
            clearTimeout(timer);
        };
    }, [changed]);
    return plans;
}

/// What the trials that ended have trained is no plan any more.
export function planLines(plans: Plans | undefined, {ended_at, unit}: Experiment): string[] {
    if (!plans) return [];
    const values = (before: number, after: number) => ({before: formatNumber(before), after: formatNumber(after)});
    const lines: string[] = [];
    const more = plans.after.trials - plans.before.trials;
    if (more !== 0)
        lines.push(tCount(more > 0 ? "limits.more_trials" : "limits.fewer_trials", Math.abs(more), values(plans.before.trials, plans.after.trials)));
    const [before, after] = [trainingOf(plans.before), trainingOf(plans.after)];
    if (ended_at === null && before !== null && after !== null && before !== after)
        lines.push(t("limits.training", {...values(Math.round(before), Math.round(after)), unit}));
    return lines;
}
