// The state of an experiment, a trial or a worker: a shape and a word, with a colour besides.
import {tWord} from "../i18n/texts";

/// What a state means for its reader; colours follow from it.
export type Tone = "running" | "good" | "waiting" | "stopped" | "bad" | "idle";

const tones: Readonly<Record<string, Tone>> = {
    ACTIVE: "running",
    RUNNING: "running",
    STOPPING: "waiting",
    PAUSED: "waiting",
    PENDING: "idle",
    COMPLETED: "good",
    STOPPED: "stopped",
    CANCELED: "idle",
    FAILED: "bad",
    ERROR: "bad",
    connected: "good",
    lost: "bad",
    suspect: "waiting",
    quarantined: "waiting",
    gone: "idle",
    draining: "waiting",
    running: "running",
    finished: "good",
    paused: "waiting",
    stopped: "stopped",
    failed: "bad",
    canceled: "idle",
    preempted: "waiting",
};

export const toneOf = (state: string): Tone => tones[state] ?? "idle";

const shapes: Readonly<Record<Tone, string>> = {
    running: "M3.500 2.200v7.600l6.500-3.800z",
    good: "M1.800 6.300l3 3 5.400-6.300",
    waiting: "M4 2.500v7M8 2.500v7",
    stopped: "M2.500 2.500l7 7M9.500 2.500l-7 7",
    bad: "M6 1.200L11.200 10.500H.8zM6 4.600v2.600M6 8.900v.1",
    idle: "M6 2.200a3.800 3.800 0 1 0 .01 0z",
};

/// The shape alone, for tables that have the word elsewhere.
function StateShape({tone}: {tone: Tone}) {
    const filled = tone === "running";
    return (
        <svg class={`shape tone-${tone}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" focusable="false">
            <path
                d={shapes[tone]}
                fill={filled ? "currentColor" : "none"}
                stroke="currentColor"
                stroke-width={filled ? "1" : tone === "bad" ? "1.2" : "1.8"}
                stroke-linecap="round"
                stroke-linejoin="round"
            />
        </svg>
    );
}

export function StateMark({state, large = false}: {state: string; large?: boolean}) {
    const tone = toneOf(state);
    return (
        <span class={`state-mark tone-${tone}${large ? " large" : ""}`}>
            <StateShape tone={tone} />
            {tWord("state", state)}
        </span>
    );
}
