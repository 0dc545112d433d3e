// The filter of a table: a condition as text, and its terms as chips.
import {useEffect, useId, useState} from "preact/hooks";
import {t} from "../i18n/texts";
import {chipsOf, joinChips, parseWhere, printWhere, WhereProblem} from "./where";
import type {Answer} from "./rows";

export function WhereField({
    value,
    problem,
    names,
    example,
    onChange,
}: {
    value: string;
    problem: Answer["problem"];
    names: readonly string[];
    example: string;
    onChange: (text: string) => void;
}) {
    const [text, setText] = useState(value);
    const id = useId();
    useEffect(() => setText(value), [value]);
    let chips: ReturnType<typeof chipsOf>;
    let wrong: string | undefined;
    try {
        chips = chipsOf(parseWhere(value));
    } catch (cause) {
        if (cause instanceof WhereProblem) wrong = cause.found === "" ? t("where.incomplete") : t("where.wrong", {text: cause.found});
    }
    if (problem?.message) wrong = problem.message;
    else if (problem?.unknown) wrong = t("where.unknown", {name: problem.found});
    return (
        <form
            class="where"
            onSubmit={(event) => {
                event.preventDefault();
                onChange(text.trim());
            }}
        >
            <input
                class="input mono"
                data-search
                aria-label={t("where.label")}
                aria-invalid={wrong !== undefined}
                aria-describedby={wrong ? `${id}-problem` : undefined}
                placeholder={t("where.placeholder", {example})}
                value={text}
                spellcheck={false}
                autocomplete="off"
                list={`${id}-names`}
                onInput={(event) => setText(event.currentTarget.value)}
                onBlur={() => {
                    if (text.trim() !== value) onChange(text.trim());
                }}
            />
            <datalist id={`${id}-names`}>
                {names.map((name) => (
                    <option key={name} value={name.replace(/^hparams\./, "")} />
                ))}
            </datalist>
            {wrong && (
                <span class="field-problem" id={`${id}-problem`} role="alert">
                    {wrong}
                </span>
            )}
            {chips && chips.length > 0 && (
                <span class="chips">
                    {chips.map((chip, index) => {
                        const label = printWhere(chip);
                        return (
                            <button
                                type="button"
                                key={label}
                                class="chip"
                                aria-pressed="true"
                                title={t("where.remove", {text: label})}
                                aria-label={t("where.remove", {text: label})}
                                onClick={() => onChange(joinChips(chips!.filter((_, other) => other !== index)))}
                            >
                                <span class="mono">{label}</span> ×
                            </button>
                        );
                    })}
                </span>
            )}
        </form>
    );
}
