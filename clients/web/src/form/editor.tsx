// The text of the experiment file, with its problems at their lines.
import {useRef} from "preact/hooks";
import {t} from "../i18n/texts";
import type {FieldProblem} from "../api/client";

export function Editor({
    text,
    problems,
    notes,
    onChange,
}: {
    text: string;
    problems: readonly FieldProblem[];
    notes: readonly FieldProblem[];
    onChange: (text: string) => void;
}) {
    const area = useRef<HTMLTextAreaElement>(null);
    const lines = text.split("\n");
    const bad = new Set(problems.map((problem) => problem.line));
    const odd = new Set(notes.map((note) => note.line));
    const goTo = (line: number | undefined) => {
        if (line === undefined || !area.current) return;
        const from = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
        area.current.focus();
        area.current.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
    };
    return (
        <>
            <div class="editor">
                <div class="editor-gutter" aria-hidden="true">
                    {lines.map((_, index) => (
                        <div key={index} class={bad.has(index + 1) ? "bad-line" : odd.has(index + 1) ? "odd-line" : ""}>
                            {index + 1}
                        </div>
                    ))}
                </div>
                <textarea
                    ref={area}
                    class="editor-text"
                    aria-label={t("form.text")}
                    spellcheck={false}
                    autocapitalize="off"
                    autocomplete="off"
                    wrap="off"
                    rows={Math.max(lines.length, 12)}
                    value={text}
                    onInput={(event) => onChange(event.currentTarget.value)}
                    onKeyDown={(event) => {
                        // Tab leaves the field, as everywhere; two spaces are typed with Alt and right.
                        if (!(event.key === "ArrowRight" && event.altKey)) return;
                        event.preventDefault();
                        event.currentTarget.setRangeText("  ", event.currentTarget.selectionStart, event.currentTarget.selectionEnd, "end");
                        onChange(event.currentTarget.value);
                    }}
                />
            </div>
            {problems.length + notes.length > 0 && (
                <ul class="problems" aria-live="polite">
                    {[...problems.map((each) => ({...each, bad: true})), ...notes.map((each) => ({...each, bad: false}))].map((each, index) => (
                        <li key={index} class={each.bad ? "bad" : "muted"}>
                            {each.line !== undefined && each.line > 0 && (
                                <button class="link" onClick={() => goTo(each.line)}>
                                    {t("form.line", {line: each.line})}
                                </button>
                            )}
                            <span>
                                {each.path && <code>{each.path}</code>} {each.what}
                                {each.allowed && <span class="muted"> {t("form.allowed", {allowed: each.allowed})}</span>}
                            </span>
                        </li>
                    ))}
                </ul>
            )}
        </>
    );
}
