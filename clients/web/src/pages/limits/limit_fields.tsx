// The limits that a search may have, in groups, and the field of one.
import {useId} from "preact/hooks";
import type {Experiment} from "../../api/types";
import {formatNumber} from "../../i18n/format";
import {t, tCount} from "../../i18n/texts";

export interface Limit {
    readonly path: string;
    readonly label: string;
    readonly note: string;
    readonly choices?: readonly (readonly [string, string])[];
    readonly lines?: boolean;
}

interface Group {
    readonly title: string;
    readonly limits: readonly Limit[];
}

export const hoursUsed = (experiment: Experiment): number => experiment.slot_seconds / 3600;

export function groupsOf(experiment: Experiment): readonly Group[] {
    const best = experiment.best?.metric;
    return [
        {
            title: t("list.trials"),
            limits: [
                {path: "searcher.max_trials", label: t("limits.max_trials"), note: tCount("limits.exist", experiment.trials_total)},
                {
                    path: "searcher.max_concurrent_trials",
                    label: t("form.concurrent"),
                    note: t("limits.concurrent_note", {n: formatNumber(experiment.trials["RUNNING"] ?? 0)}),
                },
                {
                    path: "searcher.on_duplicate",
                    label: t("limits.duplicates"),
                    note: "",
                    choices: [
                        ["allow", t("limits.allow")],
                        ["reject", t("limits.reject")],
                    ],
                },
                {path: "searcher.points_to_evaluate", label: t("limits.points"), note: t("limits.points_note"), lines: true},
            ],
        },
        {
            title: t("limits.budgets"),
            limits: [
                {path: "budget.max_time", label: t("limits.time"), note: t("limits.time_note")},
                {
                    path: "budget.max_slot_hours",
                    label: t("form.slot_hours"),
                    note: t("limits.slot_hours_note", {n: formatNumber(hoursUsed(experiment))}),
                },
                {
                    path: "budget.target",
                    label: t("limits.target", {metric: experiment.metric}),
                    note: best === undefined ? t("limits.no_best") : t("limits.best", {value: formatNumber(best)}),
                },
                {
                    path: "budget.max_failed_trials",
                    label: t("limits.failed"),
                    note: t("limits.failed_note", {n: formatNumber(experiment.trials["FAILED"] ?? 0)}),
                },
            ],
        },
        {
            title: t("limits.slots_and_order"),
            limits: [
                {path: "resources.max_slots", label: t("limits.max_slots"), note: t("limits.max_slots_note")},
                {path: "resources.priority", label: t("form.priority"), note: t("limits.priority_note")},
                {path: "resources.weight", label: t("limits.weight"), note: t("limits.weight_note")},
            ],
        },
    ];
}

export function LimitField({
    limit,
    text,
    before,
    problem,
    onChange,
}: {
    limit: Limit;
    text: string;
    before: string;
    problem: string | undefined;
    onChange: (text: string) => void;
}) {
    const id = useId();
    const isChanged = text.trim() !== before.trim();
    const shared = {
        id,
        name: limit.path,
        value: text,
        "aria-invalid": problem !== undefined,
        "aria-describedby": `${id}-note${problem === undefined ? "" : ` ${id}-problem`}`,
    };
    const put = (event: {currentTarget: {value: string}}) => onChange(event.currentTarget.value);
    const was = limit.choices?.find(([value]) => value === before)?.[1] ?? (before === "" ? t("limits.not_set") : before);
    return (
        <div class={`field${limit.lines ? " span" : ""}`}>
            <label for={id}>
                {limit.label} <code>{limit.path.split(".")[1]}</code>
            </label>
            {limit.choices ? (
                <select class="select" {...shared} onChange={put}>
                    {limit.choices.map(([value, words]) => (
                        <option key={value} value={value}>
                            {words}
                        </option>
                    ))}
                </select>
            ) : limit.lines ? (
                <textarea class="textarea mono" rows={2} spellcheck={false} {...shared} onInput={put} />
            ) : (
                <input class="input" autocomplete="off" spellcheck={false} {...shared} onInput={put} />
            )}
            <span class="muted small" id={`${id}-note`}>
                {isChanged && <strong>{t("limits.now", {value: was})}</strong>} {limit.note}
            </span>
            {problem !== undefined && (
                <span class="field-problem" id={`${id}-problem`}>
                    {problem}
                </span>
            )}
        </div>
    );
}
