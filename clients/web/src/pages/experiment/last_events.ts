// The newest events of an experiment. The API lists events from old to new, so they are read from behind in growing steps.
import {get} from "../../api/client";
import type {Status, StoredEvent} from "../../api/shapes";

interface EventPage {
    readonly events: readonly StoredEvent[];
    /// How far this page looked.
    readonly last_lsn: number;
}

const pageOf = (experiment: number, after: number, signal: AbortSignal) =>
    get<EventPage>(`events?experiment=${experiment}&after=${after}&limit=1000`, signal);

/// Events behind `after` and up to `end`.
async function between(experiment: number, after: number, end: number, most: number, signal: AbortSignal) {
    const events: StoredEvent[] = [];
    while (after < end && events.length < most) {
        const page = await pageOf(experiment, after, signal);
        events.push(...page.events.filter((event) => event.lsn <= end));
        if (page.last_lsn <= after) break;
        after = page.last_lsn;
    }
    return {events, next: after < end ? after : null};
}

/// At least `wanted` of the newest events, if there are so many, from old to new.
export async function lastEvents(experiment: number, wanted: number, signal: AbortSignal): Promise<StoredEvent[]> {
    const {lsn} = await get<Status>("status", signal);
    let end = lsn;
    let step = wanted * 4;
    let found: StoredEvent[] = [];
    while (end > 0 && found.length < wanted) {
        const from = Math.max(0, end - step);
        found = [...(await between(experiment, from, end, Infinity, signal)).events, ...found];
        end = from;
        step *= 4;
    }
    return found;
}

/// As lastEvents, again and again: after the first time only what was stored since is read.
export function lastEventsAgain(experiment: number, wanted: number): (signal: AbortSignal) => Promise<StoredEvent[]> {
    let kept: StoredEvent[] | undefined;
    let end = 0;
    return async (signal) => {
        if (!kept) {
            kept = await lastEvents(experiment, wanted, signal);
            end = kept.at(-1)?.lsn ?? 0;
            return kept;
        }
        const {lsn} = await get<Status>("status", signal);
        if (lsn > end) {
            const {events} = await between(experiment, end, lsn, Infinity, signal);
            kept = [...kept, ...events].slice(-4 * wanted);
            end = lsn;
        }
        return kept;
    };
}

/// The LSN before the first event at or after a time. Asks for about twenty single events.
async function before(time: number, last: number, signal: AbortSignal): Promise<number> {
    let low = 0;
    let high = last;
    while (low < high) {
        const middle = Math.floor((low + high) / 2);
        const {
            events: [event],
        } = await get<EventPage>(`events?after=${middle}&limit=1`, signal);
        if (event === undefined || event.at >= time) high = middle;
        else low = event.lsn;
    }
    return low;
}

/// Up to about `most` events of a time, from old to new, and whether there are more.
export async function eventsDuring(experiment: number, [from, to]: readonly [number, number], most: number, signal: AbortSignal) {
    const {lsn} = await get<Status>("status", signal);
    const start = await before(from, lsn, signal);
    const {events, next} = await between(experiment, start, await before(to, lsn, signal), most, signal);
    return {events, more: next !== null};
}
