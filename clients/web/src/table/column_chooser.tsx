// Which columns a table shows.
import {useEffect, useRef, useState} from "preact/hooks";
import {t} from "../i18n/texts";

export function ColumnChooser({
    names,
    shown,
    labelOf,
    onChange,
}: {
    names: readonly string[];
    shown: readonly string[];
    labelOf: (name: string) => string;
    onChange: (names: string[]) => void;
}) {
    const [open, setOpen] = useState(false);
    const whole = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (!open) return;
        const outside = (event: Event) => {
            if (!whole.current?.contains(event.target as Node)) setOpen(false);
        };
        addEventListener("pointerdown", outside);
        return () => removeEventListener("pointerdown", outside);
    }, [open]);
    const close = (event: KeyboardEvent) => {
        if (event.key !== "Escape") return;
        setOpen(false);
        whole.current?.querySelector("button")?.focus();
    };
    const toggle = (name: string) => onChange(shown.includes(name) ? shown.filter((each) => each !== name) : [...shown, name]);
    return (
        <div class="menu" ref={whole} onKeyDown={close}>
            <button class="button" aria-expanded={open} onClick={() => setOpen(!open)}>
                {t("columns.title")}
            </button>
            {open && (
                <div class="menu-list column-list" role="group" aria-label={t("columns.title")}>
                    {names
                        .filter((name) => name !== "trial")
                        .map((name) => (
                            <label key={name} class="menu-item">
                                <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} />
                                {labelOf(name)}
                            </label>
                        ))}
                </div>
            )}
        </div>
    );
}
