import assert from "node:assert/strict";
import {test} from "node:test";
import {fromJson} from "../src/plot/data/columns";
import {answer} from "../src/table/rows";
import {csvCell} from "../src/pages/experiment/trial_bulk_actions";
import {Random, seed} from "./random";

const columns = fromJson({
    lsn: 1,
    rows: 5,
    total: 5,
    fields: [
        {name: "trial", type: "u32"},
        {name: "state", type: "u8", words: ["RUNNING", "COMPLETED", "FAILED"]},
        {name: "metric", type: "f64"},
        {name: "hparams.lr", type: "f64"},
        {name: "hparams.opt", type: "u16", words: ["sgd", "adam"]},
        {name: "hparams.size", type: "u16", words: [8, 64]},
    ],
    columns: [
        [0, 1, 2, 3, 4],
        [0, 1, 1, 2, 1],
        [null, 0.5, 0.25, null, 0.5],
        [0.1, 0.01, 0.1, 0.5, 0.001],
        [0, 1, 0, 1, null],
        [0, 1, 0, 1, 1],
    ],
});
const found = (sort: string, matching?: number[]) => [
    ...answer(columns, {where: "", sort, states: [], ...(matching ? {matching: Uint32Array.from(matching)} : {})}).rows,
];

test("trials that the daemon matched are shown, in the table's order", () => {
    assert.deepEqual(found("-trial", [0, 2, 3]), [3, 2, 0]);
    assert.deepEqual(found("", []), []);
});

test("missing values stand at the end in both directions", () => {
    assert.deepEqual(found("metric"), [2, 1, 4, 0, 3]);
    assert.deepEqual(found("-metric,-trial"), [4, 1, 2, 3, 0]);
    assert.deepEqual(found("opt,lr"), [1, 3, 0, 2, 4]);
});

test("one key sorts like several", () => {
    const random = new Random();
    const values = () => random.pick([null, 0, -0, 1, -1, 0.5, -0.25, 1e-30, -1e30, 3e38, Infinity, -Infinity, random.below(1000) - 500]);
    const metric = Array.from({length: 3000}, values);
    const many = fromJson({
        lsn: 1,
        rows: 3000,
        total: 3000,
        fields: [
            {name: "trial", type: "u32"},
            {name: "metric", type: "f64"},
            {name: "length", type: "u32"},
        ],
        columns: [metric.map((_, row) => row), metric, metric.map(() => random.pick([null, 0, 1, 7, 4294967294]))],
    });
    for (const key of ["metric", "-metric", "length", "-length"]) {
        assert.deepEqual(
            answer(many, {where: "", sort: key, states: []}).rows,
            answer(many, {where: "", sort: `${key},trial`, states: []}).rows,
            `seed ${seed}, ${key}`,
        );
    }
});

test("cells of CSV are never formulas", () => {
    assert.equal(csvCell("=1+1"), "'=1+1");
    assert.equal(csvCell("@x"), "'@x");
    assert.equal(csvCell("-3.5e-2"), "-3.5e-2");
    assert.equal(csvCell('a,"b"'), '"a,""b"""');
});
