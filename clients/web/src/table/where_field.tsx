// The filter of a table: a condition as text, and its terms as chips. The daemon reads it.
import {useEffect, useId, useRef, useState} from "preact/hooks";
import {t} from "../i18n/texts";

export function WhereField({
    value,
    problem,
    terms,
    names,
    example,
    onChange,
}: {
    value: string;
    /// The daemon's sentence about a condition that it can't read.
    problem: string | undefined;
    /// The texts that the condition joins by `and`; undefined until the daemon has answered.
    terms: readonly string[] | undefined;
    names: readonly string[];
    example: string;
    onChange: (text: string) => void;
}) {
    const [text, setText] = useState(value);
    const id = useId();
    useEffect(() => setText(value), [value]);
    // The chips of the condition before stay in their place while the daemon reads the next one.
    const lastTerms = useRef<readonly string[]>([]);
    if (terms !== undefined) lastTerms.current = terms;
    const shownTerms = lastTerms.current;
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
                aria-invalid={problem !== undefined}
                aria-describedby={problem ? `${id}-problem` : undefined}
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
            {problem && (
                <span class="field-problem" id={`${id}-problem`} role="alert">
                    {problem}
                </span>
            )}
            {shownTerms.length > 0 && (
                <span class="chips">
                    {shownTerms.map((term, index) => (
                        <button
                            type="button"
                            key={index}
                            class="chip"
                            aria-pressed="true"
                            disabled={terms === undefined}
                            title={t("where.remove", {text: term})}
                            aria-label={t("where.remove", {text: term})}
                            onClick={() => onChange(shownTerms.filter((_, other) => other !== index).join(" and "))}
                        >
                            <span class="mono">{term}</span> ×
                        </button>
                    ))}
                </span>
            )}
        </form>
    );
}
