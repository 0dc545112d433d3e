// What the dialog of limits sends, and where a refusal stands.
import assert from "node:assert/strict";
import {test} from "node:test";
import {at, changedConfig, changesOf, linesOf, refusalOf, textOf, valueOf} from "../src/pages/limits/limit_changes";

const config = {searcher: {max_trials: 9, points_to_evaluate: [], metric: "loss"}, budget: {max_time: null}, resources: {weight: 0.5}};

test("only what differs is sent, as the kind that it is written as", () => {
    const paths = ["searcher.max_trials", "searcher.points_to_evaluate", "budget.max_time", "resources.weight"];
    const before = Object.fromEntries(paths.map((path) => [path, textOf(at(config, path))]));
    assert.deepEqual(before, {"searcher.max_trials": "9", "searcher.points_to_evaluate": "", "budget.max_time": "", "resources.weight": "0.5"});
    assert.deepEqual(changesOf(before, {...before, "searcher.max_trials": " 9 "}), {});
    const changes = changesOf(before, {
        ...before,
        "searcher.max_trials": "12",
        "searcher.points_to_evaluate": '[{"lr": 9007199254740993}]',
        "resources.weight": "",
    });
    assert.deepEqual(changes, {searcher: {max_trials: 12, points_to_evaluate: [{lr: 9007199254740993n}]}, resources: {weight: null}});
    assert.deepEqual(changedConfig(config, {searcher: {max_trials: 12}}), {...config, searcher: {...config.searcher, max_trials: 12}});
    assert.deepEqual(["90m", "1e-3", "-0.5", "9007199254740993", "[1", "0x10"].map(valueOf), ["90m", 0.001, -0.5, 9007199254740993n, "[1", "0x10"]);
});

test("each line of a refusal stands at its field", () => {
    const paths = ["searcher.max_trials", "searcher.points_to_evaluate", "budget.max_time"];
    assert.deepEqual(
        refusalOf(
            'budget.max_time: is "x" (a length)\nsearcher.max_trials: is -3\nsearcher.points_to_evaluate[0].lr: is 7\nthe store is full',
            paths,
        ),
        {
            fields: {
                "budget.max_time": 'is "x" (a length)',
                "searcher.max_trials": "is -3",
                "searcher.points_to_evaluate": "searcher.points_to_evaluate[0].lr: is 7",
            },
            rest: "the store is full",
        },
    );
    assert.deepEqual(
        refusalOf(
            linesOf([
                {path: "searcher.max_trials", what: "is 0", allowed: "an integer of at least 1"},
                {path: "budget.max_time", what: "is too long", allowed: ""},
            ]),
            paths,
        ),
        {fields: {"searcher.max_trials": "is 0 (an integer of at least 1)", "budget.max_time": "is too long"}, rest: ""},
    );
    const sentence = "every trial has ended; raise searcher.max_trials, which is 3, to continue";
    assert.deepEqual(refusalOf(sentence, paths), {fields: {"searcher.max_trials": sentence}, rest: ""});
    const both = "set searcher.max_trials or budget.max_time";
    assert.deepEqual(refusalOf(both, paths), {fields: {}, rest: both});
});
