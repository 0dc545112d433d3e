import assert from "node:assert/strict";
import {test} from "node:test";
import type {Utilization} from "../src/api/types";
import type {Pen} from "../src/plot/drawing/pen";
import {LIGHT} from "../src/plot/drawing/theme";
import {utilizationFigure} from "../src/plot/utilization_figure";

const used: Utilization = {
    attempt: 1,
    worker: 1,
    workers: [1],
    why_none: null,
    at: [1010, 1020, 1040],
    seconds: [10, 10, 20],
    cores: [4, null, 2],
    memory_bytes: [1, 2, 3],
    devices: [],
};

test("a figure has the attempt's time from its start, and a gap where nothing was measured", () => {
    const figure = utilizationFigure(used, "Cores", used.cores, {width: 400, height: 150}, {theme: LIGHT, say: (key) => key});
    assert.deepEqual(figure.table(), {
        columns: ["plot.history.time", "Cores"],
        rows: [
            [10, 4],
            [20, null],
            [40, 2],
        ],
    });
    const lines: number[][] = [];
    const texts: string[] = [];
    figure.draw({
        line: (points: ArrayLike<number>) => lines.push(Array.from(points)),
        text: (text: string) => texts.push(text),
        textWidth: (text: string) => text.length * 6,
    } as unknown as Pen);
    const curve = lines.at(-1)!;
    assert.equal(curve.length, 12);
    assert.ok(Number.isNaN(curve[5]) && Number.isNaN(curve[7]));
    assert.equal(curve[0], 44, "the first value begins at the left edge");
    assert.equal(curve[10], 380, "the last value ends at the right edge");
    assert.deepEqual([curve[1], curve[3]], [26, 26], "the largest value stands at the upper edge");
    assert.ok(curve[11]! > curve[1]!);
    assert.ok(texts.includes("Cores"));
});
