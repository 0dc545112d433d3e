import assert from "node:assert/strict";
import {test} from "node:test";
import type {Worker} from "../src/api/shapes";
import {countSlots} from "../src/pages/workers/worker_state";

const worker = (more: Partial<Worker>): Worker =>
    ({
        slots: 8,
        slots_held: 2,
        slots_withdrawn: 1,
        slots_quarantined: 1,
        taken: [{slot: 7, why: "another program"}],
        quarantined: "",
        draining: false,
        suspect: false,
        connected: true,
        present: true,
        ...more,
    }) as unknown as Worker;

test("slots are free only on workers that would get a trial", () => {
    assert.deepEqual(countSlots([worker({})]), {slots: 8, held: 2, taken: 1, free: 3, out: 2});
    for (const state of [{quarantined: "by an operator"}, {draining: true}, {suspect: true}, {connected: false}])
        assert.deepEqual(countSlots([worker(state)]), {slots: 8, held: 2, taken: 1, free: 0, out: 5}, JSON.stringify(state));
    assert.deepEqual(countSlots([worker({}), worker({suspect: true})]), {slots: 16, held: 4, taken: 2, free: 3, out: 7});
});
