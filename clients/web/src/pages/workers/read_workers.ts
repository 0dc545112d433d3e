// All workers, page by page.
import {get} from "../../api/client";
import type {Worker} from "../../api/shapes";
import type {Slot, SlotPage, WorkerPage} from "../../api/types";

export async function readWorkers(signal: AbortSignal): Promise<Worker[]> {
    const workers: Worker[] = [];
    let after: number | null = null;
    do {
        const page: WorkerPage = await get<WorkerPage>(`workers?limit=500${after === null ? "" : `&after=${after}`}`, signal);
        workers.push(...page.workers);
        after = page.next;
    } while (after !== null);
    return workers;
}

const mostSlots = 2000;

/// The slots of one worker, or of all; undefined where there are too many for a page.
export async function readSlots(signal: AbortSignal, worker?: number): Promise<readonly Slot[] | undefined> {
    const slots: Slot[] = [];
    // Behind all slots of the worker before.
    let after: string | null = worker === undefined ? "" : `${worker - 1}.4294967295`;
    while (after !== null && slots.length < mostSlots) {
        const page: SlotPage = await get<SlotPage>(`slots?limit=500${after === "" ? "" : `&after=${after}`}`, signal);
        slots.push(...page.slots.filter((each) => worker === undefined || each.worker === worker));
        after = worker !== undefined && page.slots.some((each) => each.worker !== worker) ? null : page.next;
    }
    return after === null ? slots : undefined;
}
