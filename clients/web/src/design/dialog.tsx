// Dialogs that ask before a change, and others. A dialog that asks names the thing and the consequence; what can't be undone
// asks for the name.
import {signal} from "@preact/signals";
import type {ComponentChildren} from "preact";
import {useEffect, useId, useLayoutEffect, useRef, useState} from "preact/hooks";
import {Problem} from "../api/client";
import {t} from "../i18n/texts";

export interface Question {
    readonly title: string;
    readonly body?: ComponentChildren;
    /// The words of the button, a verb: "Cancel experiment".
    readonly action: string;
    readonly danger?: boolean;
    /// Text that has to be typed first.
    readonly typed?: string;
    /// Does it, with the values of the fields by their names. The dialog stays until the daemon has answered, and shows the
    /// problem if there is one.
    readonly perform: (values: Readonly<Record<string, string>>) => Promise<unknown>;
    /// What it asks for besides, such as a reason.
    readonly fields?: readonly Field[];
}

export interface Field {
    readonly name: string;
    readonly label: string;
    readonly initial?: string;
    readonly required?: boolean;
    readonly number?: boolean;
    /// Several lines.
    readonly long?: boolean;
    readonly choices?: readonly {readonly value: string; readonly text: string}[];
    readonly note?: string;
}

/// The controls that the content of a dialog gets.
export interface Frame {
    readonly close: () => void;
    /// While it is held, Esc and a click beside it don't close it.
    readonly hold: (held: boolean) => void;
}

type Content = (frame: Frame) => ComponentChildren;

const open = signal<Question | null>(null);
const shown = signal<{readonly content: Content; readonly size: string} | null>(null);

export function ask(question: Question): void {
    open.value = question;
}

/// A dialog with a content of its own, whose first heading is its name.
export function openDialog(content: Content, size: "" | "wide" = ""): void {
    shown.value = {content, size};
}

/// A dialog that only shows something, such as the list of keys.
export function show(content: ComponentChildren): void {
    openDialog(({close}) => (
        <div class="dialog-body">
            {content}
            <div class="dialog-actions">
                <button class="button" onClick={close}>
                    {t("dialog.close")}
                </button>
            </div>
        </div>
    ));
}

function useModal(onClose: () => void) {
    const dialog = useRef<HTMLDialogElement>(null);
    useLayoutEffect(() => {
        const element = dialog.current!;
        const before = document.activeElement;
        element.showModal();
        return () => {
            element.close();
            if (before instanceof HTMLElement) before.focus();
        };
    }, []);
    return {
        ref: dialog,
        onCancel: (event: Event) => {
            event.preventDefault();
            onClose();
        },
        onClick: (event: MouseEvent) => {
            if (event.target === dialog.current) onClose();
        },
    };
}

function Ask({question}: {question: Question}) {
    const [typed, setTyped] = useState("");
    const fields = question.fields ?? [];
    const [values, setValues] = useState<Readonly<Record<string, string>>>(
        Object.fromEntries(fields.map((field) => [field.name, field.initial ?? ""])),
    );
    const set = (name: string) => (event: {currentTarget: {value: string}}) => setValues({...values, [name]: event.currentTarget.value});
    const [waits, setWaits] = useState(false);
    const [problem, setProblem] = useState<string | undefined>();
    const id = useId();
    const close = () => {
        if (!waits) open.value = null;
    };
    const modal = useModal(close);
    const ready =
        (question.typed === undefined || typed === question.typed) && fields.every((field) => !field.required || values[field.name]!.trim() !== "");
    const perform = async (event: Event) => {
        event.preventDefault();
        if (!ready || waits) return;
        setWaits(true);
        setProblem(undefined);
        try {
            await question.perform(values);
            open.value = null;
        } catch (cause) {
            setProblem(cause instanceof Problem ? cause.message || t("state.unreachable") : String(cause));
            setWaits(false);
        }
    };
    return (
        <dialog class="dialog" aria-labelledby={`${id}-title`} {...modal}>
            <form onSubmit={perform}>
                <h2 id={`${id}-title`}>{question.title}</h2>
                {question.body && <div>{question.body}</div>}
                {fields.map((field) => (
                    <label class="field" key={field.name}>
                        <span>{field.label}</span>
                        {field.choices ? (
                            <select class="select" value={values[field.name]} onChange={set(field.name)}>
                                {field.choices.map(({value, text}) => (
                                    <option key={value} value={value}>
                                        {text}
                                    </option>
                                ))}
                            </select>
                        ) : field.long ? (
                            <textarea class="textarea" rows={5} value={values[field.name]} onInput={set(field.name)} />
                        ) : field.number ? (
                            <input class="input" type="number" min="0" step="1" value={values[field.name]} onInput={set(field.name)} />
                        ) : (
                            <input class="input" autocomplete="off" value={values[field.name]} onInput={set(field.name)} />
                        )}
                        {field.note && <span class="muted small">{field.note}</span>}
                    </label>
                ))}
                {question.typed !== undefined && (
                    <label class="field">
                        <span>{t("dialog.type_name", {name: question.typed})}</span>
                        <input class="input" autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
                    </label>
                )}
                {problem !== undefined && (
                    <p class="field-problem" role="alert">
                        {problem}
                    </p>
                )}
                <div class="dialog-actions">
                    <button type="button" class="button" onClick={close} disabled={waits}>
                        {t("dialog.back")}
                    </button>
                    <button
                        type="submit"
                        class={`button primary${question.danger ? " danger" : ""}${waits ? " waits" : ""}`}
                        disabled={!ready || waits}
                    >
                        {question.action}
                    </button>
                </div>
            </form>
        </dialog>
    );
}

function Shown({content, size}: {content: Content; size: string}) {
    const held = useRef(false);
    const id = useId();
    const close = () => {
        shown.value = null;
    };
    const modal = useModal(() => {
        if (!held.current) close();
    });
    useEffect(() => {
        const title = modal.ref.current?.querySelector("h2");
        if (!title) return;
        title.id ||= `${id}-title`;
        modal.ref.current!.setAttribute("aria-labelledby", title.id);
    });
    return (
        <dialog class={`dialog ${size}`} {...modal}>
            {content({
                close,
                hold: (now) => {
                    held.current = now;
                },
            })}
        </dialog>
    );
}

export function Dialogs() {
    return (
        <>
            {open.value && <Ask question={open.value} />}
            {shown.value && <Shown {...shown.value} />}
        </>
    );
}
