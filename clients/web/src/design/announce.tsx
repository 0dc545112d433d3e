// Texts for screen readers: at most one every ten seconds, the latest.
import {signal} from "@preact/signals";

const said = signal("");
let waiting: string | undefined;
let last = -Infinity;
let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string): void {
    waiting = text;
    clearTimeout(timer);
    timer = setTimeout(
        () => {
            said.value = waiting ?? "";
            last = performance.now();
        },
        Math.max(0, last + 10_000 - performance.now()),
    );
}

export function Announcer() {
    return (
        <div class="unseen" aria-live="polite">
            {said.value}
        </div>
    );
}
