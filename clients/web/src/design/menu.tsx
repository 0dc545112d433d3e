// A button that opens a list of actions.
import type {ComponentChildren} from "preact";
import {useLayoutEffect, useRef, useState} from "preact/hooks";

export interface MenuItem {
    readonly label: string;
    readonly danger?: boolean;
    readonly perform: () => void;
}

export function Menu({
    label,
    items,
    children,
    left = false,
    name,
}: {
    label: string;
    items: readonly MenuItem[];
    children?: ComponentChildren;
    left?: boolean;
    name?: string;
}) {
    const [open, setOpen] = useState(false);
    const whole = useRef<HTMLDivElement>(null);
    const focusButton = () => whole.current?.querySelector<HTMLElement>("button")?.focus();
    // Before the list can be seen: a key pressed at once belongs to its first item.
    useLayoutEffect(() => {
        if (!open) return;
        const outside = (event: Event) => {
            if (!whole.current?.contains(event.target as Node)) setOpen(false);
        };
        addEventListener("pointerdown", outside);
        addEventListener("focusin", outside);
        whole.current?.querySelector<HTMLElement>(".menu-item")?.focus();
        return () => {
            removeEventListener("pointerdown", outside);
            removeEventListener("focusin", outside);
        };
    }, [open]);
    const move = (event: KeyboardEvent) => {
        if (event.key === "Escape") {
            setOpen(false);
            focusButton();
            event.stopPropagation();
            return;
        }
        const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
        if (step === 0 || !open) return;
        event.preventDefault();
        const all = [...whole.current!.querySelectorAll<HTMLElement>(".menu-item")];
        all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
    };
    if (items.length === 0) return null;
    return (
        <div class="menu" ref={whole} onKeyDown={move}>
            <button
                class="button"
                aria-haspopup="menu"
                aria-expanded={open}
                aria-label={children ? label : undefined}
                data-actions={name}
                onClick={() => setOpen(!open)}
            >
                {children ?? label}
            </button>
            {open && (
                <div class={`menu-list${left ? " left" : ""}`} role="menu">
                    {items.map((item) => (
                        <button
                            key={item.label}
                            role="menuitem"
                            class={`menu-item${item.danger ? " danger" : ""}`}
                            onClick={() => {
                                setOpen(false);
                                focusButton(); // A dialog of the action gives the focus back to it.
                                item.perform();
                            }}
                        >
                            {item.label}
                        </button>
                    ))}
                </div>
            )}
        </div>
    );
}
