// What is copied and exported equals the trial (a seed of 1981385539 was copied as 1981386000).
import assert from "node:assert/strict";
import {test} from "node:test";
import {exactText, parseExact, printExact} from "../src/api/exact";
import {parseYaml, printYaml, setYaml} from "../src/form/yaml";
import {formatNumber} from "../src/i18n/format";
import {asYaml} from "../src/pages/experiment/copy_configuration";
import {csvOf} from "../src/pages/experiment/trial_bulk_actions";
import {ColumnDecoder, encode, fromJson, type Columns} from "../src/plot/data/columns";
import {csvText} from "../src/plot/drawing/figure";
import {pointsYaml} from "../src/plot/data/search_next";
import {Random, seed} from "./random";

const random = new Random();

const integers = [0n, 1n, -1n, 16777217n, 1981385539n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n) + 1n];
const doubles = [0.1, 1 / 3, 1e-300, 5e-324, 0.30000000000000004, -2.5, 123456789.123456789, 1e300, 1e21, 4.35];
const words = ["a,b", 'say "yes"', "plain", "3", 3, 0.1, true, false, null, "line\nbreak", "- x: y", "#no", 9007199254740993n];

const wordsJson = (all: readonly unknown[]) => printExact(all);

/// What the daemon sends of some trials, and what these are.
function someTrials(rows: number): {columns: Columns; trials: Record<string, unknown>[]} {
    const trials = Array.from({length: rows}, () => ({
        seed: random.below(4) === 0 ? BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 31)) : random.pick(integers),
        lr: random.below(3) === 0 ? random.below(2 ** 31) / (1 + random.below(2 ** 31)) : random.pick(doubles),
        kind: random.pick(words),
    }));
    const code = (value: unknown) => words.indexOf(value as never);
    const text =
        `{"lsn":1,"rows":${rows},"total":${rows},"fields":[{"name":"trial","type":"u32"},{"name":"hparams.seed","type":"i64"},{"name":"hparams.lr","type":"f64"},{"name":"hparams.kind","type":"u16","words":${wordsJson(words)}}],` +
        `"columns":[[${trials.map((_, row) => row)}],[${trials.map((trial) => trial.seed)}],[${trials.map((trial) => trial.lr)}],[${trials.map((trial) => code(trial.kind))}]]}`;
    return {columns: fromJson(parseExact(text)), trials};
}

const plain = (value: unknown): unknown => (typeof value === "bigint" ? (Number.isSafeInteger(Number(value)) ? Number(value) : value) : value);
const equal = (found: Record<string, unknown>, trial: Record<string, unknown>) =>
    assert.deepEqual(
        Object.fromEntries(Object.entries(found).map(([name, value]) => [name, plain(value)])),
        Object.fromEntries(Object.entries(trial).map(([name, value]) => [name, plain(value)])),
        `seed ${seed}`,
    );

/// RFC 4180.
function readCsv(text: string): string[][] {
    const rows: string[][] = [[]];
    for (const found of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
        if (found[0] === "") break;
        rows.at(-1)!.push(found[1] !== undefined ? found[1].replaceAll('""', '"') : found[2]!);
        if (found[3] !== ",") rows.push([]);
    }
    return rows.filter((row) => row.length > 0);
}

test("points copied from a table are those of the trials", () => {
    for (let i = 0; i < 40; ++i) {
        const {columns, trials} = someTrials(1 + random.below(20));
        const sent = new ColumnDecoder();
        sent.push(encode(columns, 7));
        const rows = trials.map((_, row) => row);
        const read = parseYaml(pointsYaml(sent.finish(), rows)) as {searcher: {points_to_evaluate: Record<string, unknown>[]}};
        read.searcher.points_to_evaluate.forEach((point, row) => equal(point, trials[row]!));
        const csv = readCsv(csvOf(columns, rows, ["trial", "hparams.seed", "hparams.lr", "hparams.kind"]));
        csv.slice(1).forEach((cells, row) => {
            assert.equal(BigInt(cells[1]!), trials[row]!["seed"]);
            assert.equal(Number(cells[2]), trials[row]!["lr"]);
            const kind = trials[row]!["kind"];
            assert.equal(cells[3]!.replace(/^'/, ""), kind === null ? "" : typeof kind === "string" ? kind : printExact(kind));
        });
    }
});

test("a configuration copied from a trial is the trial's", () => {
    for (const value of [...integers.map(plain), ...doubles, ...words]) {
        equal(parseYaml(asYaml({x: value})) as Record<string, unknown>, {x: value});
        equal(parseYaml(printYaml({x: value as never})) as Record<string, unknown>, {x: value});
        equal(parseExact<Record<string, unknown>>(printExact({x: value}, 2)), {x: value});
    }
    equal(
        parseExact('{"a": 9007199254740993, "b": "9007199254740993", "c": 1.00000000000000001, "d": [12345678901234567890]}') as never,
        {a: 9007199254740993n, b: "9007199254740993", c: 1, d: [12345678901234567890n]} as never,
    );
});

test("a change by the form leaves large integers as they are", () => {
    const text = "name: x\nhyperparameters:\n  seed: {type: int, minval: 0, maxval: 9223372036854775807}\n  lr: 0.1\n";
    assert.match(setYaml(text, ["hyperparameters", "lr"], 0.2), /maxval: 9223372036854775807/);
});

test("integers are shown with all their digits", () => {
    assert.equal(formatNumber(1981385539), "1,981,385,539");
    assert.equal(formatNumber(9007199254740993n), "9,007,199,254,740,993");
    assert.equal(exactText(1e20), `1${"0".repeat(20)}`);
    assert.equal(
        csvText({columns: ["a"], rows: [[1 / 3], [null], [9007199254740993n], [NaN], [Infinity]]}),
        "a\r\n0.3333333333333333\r\n\r\n9007199254740993\r\nnan\r\ninf\r\n",
    );
});
