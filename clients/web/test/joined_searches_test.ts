// Several searches in one plot: their axes, their rows and their colours.
import assert from "node:assert/strict";
import {test} from "node:test";
import {columnOf, exactOf, fromJson, type Columns} from "../src/plot/data/columns";
import {commonLength, joinedColumns, joinedSpace, ownTrial} from "../src/plot/data/joined_searches";
import {parallelModel, varyingNames} from "../src/plot/data/parallel_model";
import {declarationsOf} from "../src/plot/data/space";
import type {Look} from "../src/plot/drawing/figure";
import {DARK, LIGHT, lineColours} from "../src/plot/drawing/theme";
import {historyFigure, type History} from "../src/plot/history";
import {makeScratch, parallelFigure, rowColours} from "../src/plot/parallel";

const look: Look = {theme: LIGHT, say: (key, values = {}) => `${key} ${JSON.stringify(values)}`};
const size = {width: 900, height: 400};

const double = (minval: number, maxval: number, more = {}) => ({type: "double", minval, maxval, ...more});
const narrow = declarationsOf({
    lr: {type: "log", base: 10, minval: -3, maxval: -1},
    width: {type: "int", minval: 16, maxval: 64},
    opt: {type: "categorical", vals: ["sgd", "adam"]},
    size: {type: "categorical", vals: [16, 64]},
    seed: {type: "const", val: 1},
    depth: 3,
    act: {type: "categorical", vals: ["relu", "gelu"]},
    only: double(0, 1),
});
const wide = declarationsOf({
    lr: double(0.0001, 0.01, {scale: "log"}),
    width: double(32, 128),
    opt: {type: "categorical", vals: ["adam", "lion"]},
    size: {type: "categorical", vals: [8, 64]},
    seed: {type: "const", val: 1},
    depth: {type: "int", minval: 4, maxval: 6},
    act: double(0, 1),
});

/// Columns as the daemon answers them for these files: constants and choices have words.
const answer = (fields: Record<string, readonly unknown[]>, length = 9): Columns => ({
    ...fromJson({
        lsn: 1,
        rows: 2,
        total: 2,
        fields: Object.keys(fields).map((name) => ({name, type: "f64", ...(words[name] ? {words: words[name]} : {})})) as never,
        columns: Object.values(fields) as never,
    }),
    length,
});
let words: Record<string, readonly unknown[]> = {};
const rowsOf = () => {
    words = {"hparams.opt": ["sgd", "adam"], "hparams.size": [16, 64], "hparams.seed": [1], "hparams.depth": [3], "hparams.act": ["relu", "gelu"]};
    const first = answer({
        trial: [0, 1],
        metric: [0.5, 0.25],
        "hparams.lr": [0.1, 0.01],
        "hparams.width": [16, 64],
        "hparams.opt": [0, 1],
        "hparams.size": [0, 1],
        "hparams.seed": [0, 0],
        "hparams.depth": [0, 0],
        "hparams.act": [0, 1],
    });
    words = {"hparams.opt": ["adam", "lion"], "hparams.size": [8, 64], "hparams.seed": [1]};
    const second = answer({
        trial: [0, 5],
        metric: [0.125, null],
        "hparams.lr": [0.0001, 0.01],
        "hparams.width": [32, 100.5],
        "hparams.opt": [1, 0],
        "hparams.size": [0, 1],
        "hparams.seed": [0, 0],
        "hparams.depth": [4, 6],
        "hparams.act": [0.5, 1],
    });
    return [first, second];
};

test("an axis shows what any of the files declares", () => {
    const space = joinedSpace([narrow, wide]);
    const lr = space.get("hparams.lr");
    assert.ok(lr?.kind === "range" && lr.log);
    assert.ok(Math.abs(lr.low - 0.0001) < 1e-12 && Math.abs(lr.high - 0.1) < 1e-12, `${lr.low} to ${lr.high}`);
    assert.deepEqual(space.get("hparams.width"), {kind: "range", low: 16, high: 128, log: false, whole: false});
    assert.deepEqual(space.get("hparams.depth"), {kind: "range", low: 4, high: 6, log: false, whole: true});
    assert.deepEqual(space.get("hparams.opt"), {kind: "choices", ordered: false});
    assert.deepEqual(space.get("hparams.size"), {kind: "choices", ordered: true});
    assert.deepEqual(space.get("hparams.seed"), {kind: "constant"});
});

test("hyperparameters that half of the searches or fewer have are no axes", () => {
    assert.equal(joinedSpace([narrow, wide]).has("hparams.only"), false);
    assert.equal(joinedSpace([narrow, wide, narrow]).has("hparams.only"), true);
    assert.deepEqual([...joinedSpace([narrow, declarationsOf({other: double(0, 1)})]).keys()], []);
});

test("rows of all searches have one column for each hyperparameter", () => {
    const space = joinedSpace([narrow, wide]);
    const columns = joinedColumns(rowsOf(), space, true);
    const values = (name: string) => Array.from({length: 4}, (_, row) => exactOf(columnOf(columns, name)!, row));
    assert.deepEqual(
        Array.from(columnOf(columns, "trial")!.data, (joined) => ownTrial(joined, 2)),
        [
            [0, 0],
            [0, 1],
            [1, 0],
            [1, 5],
        ],
    );
    assert.deepEqual(values("metric"), [0.5, 0.25, 0.125, undefined]);
    assert.deepEqual(values("hparams.opt"), ["sgd", "adam", "lion", "adam"]);
    assert.deepEqual(values("hparams.size"), [16, 64, 8, 64]);
    assert.deepEqual(columnOf(columns, "hparams.size")!.words, [8, 16, 64], "numbers keep their order");
    assert.deepEqual(values("hparams.depth"), [3, 3, 4, 6], "a constant is a point on the axis of a range");
    assert.equal(columnOf(columns, "hparams.act"), undefined, "texts have no place on the axis of a range");
    assert.deepEqual(varyingNames(columns), ["hparams.lr", "hparams.width", "hparams.opt", "hparams.size", "hparams.depth"]);
    assert.equal(columnOf(joinedColumns(rowsOf(), space, false), "metric"), undefined);
});

test("trials of several searches have the colour and the name of their search", () => {
    const space = joinedSpace([narrow, wide]);
    const columns = joinedColumns(rowsOf(), space, true);
    const model = parallelModel(columns, ["hparams.lr", "hparams.depth", "metric"], {
        smallerIsBetter: true,
        metricLabel: "loss",
        lengthLabel: "",
        logMetric: false,
        clip: "auto",
        space,
        rungCount: 1,
        searches: ["1 narrow", "2 wide"],
    });
    const [lr, depth] = model.axes;
    assert.equal(lr!.scale.kind, "log");
    assert.deepEqual(
        Array.from(lr!.positions, (place) => Number(place.toFixed(3))),
        [1, 0.667, 0, 0.667],
    );
    assert.deepEqual([depth!.scale.lo, depth!.scale.hi], [3, 6]);
    const colour = rowColours(model, LIGHT);
    assert.deepEqual(
        [0, 1, 2, 3].map(colour),
        [0, 0, 1, 1].map((search) => lineColours(LIGHT)[search]),
    );
    const figure = parallelFigure(model, {brushes: {}, flipped: new Set(), bestShare: 1, fromRung: 0, coarse: false}, makeScratch(), size, look);
    assert.deepEqual(
        figure.table().rows.map((row) => row.slice(0, 2)),
        [
            ["2 wide", 0],
            ["1 narrow", 1],
            ["1 narrow", 0],
            ["2 wide", 5],
        ],
    );
    assert.match(figure.sentence, /"trial":"0 \(2 wide\)"/);
});

test("eight searches have eight colours", () => {
    for (const theme of [LIGHT, DARK]) assert.equal(new Set(lineColours(theme)).size, 8);
});

test("searches are compared where all have results", () => {
    const at = (...lengths: readonly (readonly [number, number])[]) =>
        ({...rowsOf()[0]!, lengths: lengths.map(([length, results]) => ({length, results}))}) as Columns;
    assert.equal(commonLength([at([1, 50], [3, 20], [9, 12]), at([1, 40], [3, 11], [27, 30])]), 3);
    assert.equal(commonLength([at([1, 50], [9, 2]), at([1, 40], [9, 30])]), 1, "few results say little");
    assert.equal(commonLength([at([1, 2], [9, 2]), at([1, 2], [9, 5])]), 9, "of equally many results, the longest");
    assert.equal(commonLength([at([1, 50]), at([1, 0], [3, 9])]), undefined);
});

test("the history of several searches names each of them", () => {
    const history = (...results: readonly (readonly [trial: number, metric: number])[]) =>
        ({
            metric: "loss",
            started_at: 100,
            target: null,
            budget: null,
            points: results.map(([trial, metric]) => ({trial, metric, length: 1, time: 101 + trial, slot_seconds: 1 + trial, trials: trial + 1})),
            end: {time: 110, slot_seconds: 9, trials: 8},
        }) as unknown as History;
    const figure = historyFigure(
        history([0, 0.5], [2, 0.25]),
        null,
        {
            x: "trials",
            kind: "linear",
            clip: "auto",
            unit: "epochs",
            name: "1 narrow",
            small: false,
            others: [{name: "2 wide", history: history([1, 0.75])}],
        },
        size,
        look,
    );
    assert.match(figure.sentence, /sentence_all .*"list":"1 narrow 0\.25, 2 wide 0\.75"/);
    assert.deepEqual(
        figure.table().rows.map((row) => row.slice(0, 3)),
        [
            ["1 narrow", 0, 0.5],
            ["1 narrow", 2, 0.25],
            ["2 wide", 1, 0.75],
        ],
    );
    const hits = new Map<string, number>();
    for (let x = 0; x < size.width; x += 4)
        for (let y = 0; y < size.height; y += 4) {
            const hit = figure.hitAt!(x, y);
            if (hit) hits.set(hit.title, hit.trial);
        }
    assert.deepEqual(
        [...hits].sort(),
        [
            ['1 narrow: plot.trial {"trial":0}', 0],
            ['1 narrow: plot.trial {"trial":2}', 2],
            ['2 wide: plot.trial {"trial":1}', -1],
        ],
        "a trial of another search is named and can't be chosen",
    );
});
