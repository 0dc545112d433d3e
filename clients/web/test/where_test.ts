import assert from "node:assert/strict";
import {test} from "node:test";
import {fromJson} from "../src/plot/data/columns";
import {answer} from "../src/table/rows";
import {chipsOf, joinChips, parseWhere, printWhere, WhereProblem, type Condition} from "../src/table/where";
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
const found = (where: string, sort = "") => [...answer(columns, {where, sort, states: []}).rows];

test("conditions choose trials", () => {
    assert.deepEqual(found("lr<0.1"), [1, 4]);
    assert.deepEqual(found("lr=0.1"), [0, 2]);
    assert.deepEqual(found("hparams.lr >= 0.1 and not state=failed"), [0, 2]);
    assert.deepEqual(found("opt=sgd or opt=adam and lr>0.1"), [0, 2, 3]);
    assert.deepEqual(found("(opt=sgd or opt=adam) and lr>0.1"), [3]);
    assert.deepEqual(found("opt in (sgd, 'adam')"), [0, 1, 2, 3]);
    assert.deepEqual(found("size>8"), [1, 3, 4]);
    assert.deepEqual(found("metric!=0.5"), [2]);
});

test("missing values stand at the end in both directions", () => {
    assert.deepEqual(found("", "metric"), [2, 1, 4, 0, 3]);
    assert.deepEqual(found("", "-metric,-trial"), [4, 1, 2, 3, 0]);
    assert.deepEqual(found("", "opt,lr"), [1, 3, 0, 2, 4]);
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

test("a wrong condition names its place", () => {
    for (const [text, at] of [
        ["lr<", 3],
        ["lr 0.1", 3],
        ["lr<1 and", 8],
        ["(lr<1", 5],
        ["lr<1)", 4],
        ["in (1)", 3],
    ] as const) {
        assert.throws(
            () => parseWhere(text),
            (cause: unknown) => cause instanceof WhereProblem && cause.at === at,
            text,
        );
    }
    assert.equal(answer(columns, {where: "nothing=1", sort: "", states: []}).problem?.unknown, true);
});

test("depth and terms have limits", () => {
    assert.throws(() => parseWhere(`${"not ".repeat(40)}a=1`), WhereProblem);
    assert.throws(() => parseWhere(Array.from({length: 300}, () => "a=1").join(" or ")), WhereProblem);
});

function randomCondition(random: Random, depth = 0): Condition {
    const word = () => random.pick(["lr", "opt", "a b", "and", "0.1", "é", 'x"y', "-3", "not", "="]);
    const kind = depth > 3 ? random.below(2) : random.below(5);
    if (kind === 0) return {kind: "compare", name: word(), by: random.pick(["=", "!=", "<", "<=", ">", ">="] as const), value: word()};
    if (kind === 1) return {kind: "in", name: word(), values: Array.from({length: 1 + random.below(3)}, word)};
    if (kind === 2) return {kind: "not", of: randomCondition(random, depth + 1)};
    return {kind: kind === 3 ? "and" : "or", left: randomCondition(random, depth + 1), right: randomCondition(random, depth + 1)};
}

test("a printed condition is read back as it was", () => {
    const random = new Random();
    for (let round = 0; round < 2000; round += 1) {
        const condition = randomCondition(random);
        const printed = printWhere(condition);
        assert.deepEqual(parseWhere(printed), condition, `seed ${seed}, round ${round}: ${printed}`);
    }
});

test("a conjunction is chips, and chips are a conjunction", () => {
    const chips = chipsOf(parseWhere("lr<0.1 and not opt=sgd and size in (8,64)"))!;
    assert.deepEqual(chips.map(printWhere), ["lr<0.1", "not opt=sgd", "size in (8,64)"]);
    assert.equal(joinChips(chips.slice(1)), "not opt=sgd and size in (8,64)");
    assert.equal(chipsOf(parseWhere("a=1 or b=2")), undefined);
    assert.deepEqual(chipsOf(undefined), []);
});

test("cells of CSV are never formulas", () => {
    assert.equal(csvCell("=1+1"), "'=1+1");
    assert.equal(csvCell("@x"), "'@x");
    assert.equal(csvCell("-3.5e-2"), "-3.5e-2");
    assert.equal(csvCell('a,"b"'), '"a,""b"""');
});
