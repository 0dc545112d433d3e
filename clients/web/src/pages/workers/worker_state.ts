// The state of a worker, and which slots are free.
import type {Worker} from "../../api/shapes";

export function workerState(worker: Worker): string {
    if (worker.quarantined) return "quarantined";
    if (!worker.present) return "gone";
    if (worker.draining === true) return "draining";
    if (worker.suspect) return "suspect";
    return worker.connected ? "connected" : "lost";
}

export interface SlotCounts {
    readonly slots: number;
    /// By trials.
    readonly held: number;
    /// By other programs of the machine.
    readonly taken: number;
    /// Only on workers that would get a trial now.
    readonly free: number;
    readonly out: number;
}

export function countSlots(workers: readonly Worker[]): SlotCounts {
    const sum = (count: (worker: Worker) => number) => workers.reduce((total, worker) => total + count(worker), 0);
    const unheld = (worker: Worker) =>
        Math.max(0, worker.slots - worker.slots_held - worker.slots_withdrawn - worker.slots_quarantined - worker.taken.length);
    const slots = sum((worker) => worker.slots);
    const held = sum((worker) => worker.slots_held);
    const taken = sum((worker) => worker.taken.length);
    const free = sum((worker) => (workerState(worker) === "connected" ? unheld(worker) : 0));
    return {slots, held, taken, free, out: Math.max(0, slots - held - taken - free)};
}
