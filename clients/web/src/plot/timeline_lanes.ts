/** Attempts that hold no slot (an external search's): a row for as many as ran at a time. Pure. */
import type {Bar, Slot, Timeline} from "./timeline";

/** Rows of attempts without a slot count down from here; slots count up from 0. */
const FIRST_LANE = -1;

export const isLane = (slot: Pick<Slot, "slot">) => slot.slot === null || slot.slot < 0;

/** Each attempt in the first row that is free when it begins. A summary in bins has no attempts: it stays as it is. */
export function withLanes(timeline: Timeline): Timeline {
    if (!timeline.bars || !timeline.slots.some((slot) => slot.slot === null)) return timeline;
    const lanes = new Map<number, number[]>();
    const places = new Map<Bar, number>();
    for (const bar of [...timeline.bars].sort((a, b) => a.from - b.from)) {
        if (bar.slot !== null) continue;
        const ends = lanes.get(bar.worker) ?? [];
        lanes.set(bar.worker, ends);
        const free = ends.findIndex((end) => end <= bar.from);
        const lane = free < 0 ? ends.length : free;
        ends[lane] = bar.to ?? Infinity;
        places.set(bar, FIRST_LANE - lane);
    }
    return {
        ...timeline,
        slots: timeline.slots.flatMap((slot) =>
            slot.slot === null ? (lanes.get(slot.worker) ?? []).map((_, lane) => ({...slot, slot: FIRST_LANE - lane})) : [slot],
        ),
        bars: timeline.bars.map((bar) => (places.has(bar) ? {...bar, slot: places.get(bar)!} : bar)),
    };
}
