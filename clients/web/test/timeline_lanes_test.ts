import assert from "node:assert/strict";
import {test} from "node:test";
import type {Bar, Timeline} from "../src/plot/timeline";
import {isLane, withLanes} from "../src/plot/timeline_lanes";

const bar = (trial: number, from: number, to: number | null, slot: number | null = null): Bar =>
    ({worker: 2, slot, trial, attempt: 1, from, to, outcome: "finished"}) as Bar;
const timeline = (bars: readonly Bar[] | null, slots: readonly (number | null)[]): Timeline =>
    ({
        from: 0,
        to: 10,
        now: 10,
        slots: slots.map((slot) => ({worker: 2, name: "external", slot, busy: 2.5, taken: 0, away: 0})),
        bars,
        taken: [],
        presences: [],
        quarantines: [],
    }) as unknown as Timeline;

test("attempts without a slot have a row for as many as ran at a time", () => {
    const laid = withLanes(timeline([bar(0, 0, 4), bar(1, 1, 2), bar(2, 2, null), bar(3, 4, 5), bar(4, 4.5, 6)], [null]));
    assert.deepEqual(
        laid.bars!.map((each) => each.slot),
        [-1, -2, -2, -1, -3],
    );
    assert.deepEqual(
        laid.slots.map((each) => each.slot),
        [-1, -2, -3],
    );
    assert.ok(laid.slots.every(isLane));
});

test("slots of workers stay as they are", () => {
    const laid = withLanes(timeline([bar(0, 0, 4, 1), bar(1, 0, 4)], [1, null]));
    assert.deepEqual(
        laid.slots.map((each) => each.slot),
        [1, -1],
    );
    assert.equal(laid.bars![0]!.slot, 1);
    assert.ok(!isLane(laid.slots[0]!));
    const summary = timeline(null, [null]);
    assert.equal(withLanes(summary), summary);
});
