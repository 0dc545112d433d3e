// The trials that a person points at and has chosen, per experiment. Plots and tables share them.
import {signal, type Signal} from "@preact/signals";

export interface Selection {
    /// The trial under the pointer or the keyboard's mark, null for none.
    readonly hovered: Signal<number | null>;
    readonly selected: Signal<ReadonlySet<number>>;
}

const kept = new Map<number, Selection>();

export function selectionOf(experiment: number): Selection {
    let selection = kept.get(experiment);
    if (!selection) {
        selection = {hovered: signal<number | null>(null), selected: signal<ReadonlySet<number>>(new Set())};
        kept.set(experiment, selection);
    }
    return selection;
}

/// A click chooses one trial, or none where it was the only one; with `add` it joins or leaves the others.
export function choose(selection: Selection, trial: number, add: boolean): void {
    const old = selection.selected.peek();
    if (!add) {
        selection.selected.value = old.size === 1 && old.has(trial) ? new Set() : new Set([trial]);
        return;
    }
    const next = new Set(old);
    if (!next.delete(trial)) next.add(trial);
    selection.selected.value = next;
}
