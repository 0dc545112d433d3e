// A time that pages of an experiment show a part of: span=FROM,TO in the address, in seconds since the epoch.
import type {Query} from "./router";

export type Span = readonly [number, number];

export function readSpan(query: Pick<Query, "get">): Span | null {
    const ends = (query.get("span") ?? "").split(",").map((text) => (text === "" ? NaN : Number(text)));
    return ends.length === 2 && ends.every(Number.isFinite) && ends[0]! < ends[1]! ? [ends[0]!, ends[1]!] : null;
}

/// Rounded outwards to milliseconds, so that what lies at its edges stays inside.
export const printSpan = ([from, to]: Span): string => `${Math.floor(from * 1000) / 1000},${Math.ceil(to * 1000) / 1000}`;
