// Brushed ranges in the form of a fork.
import assert from "node:assert/strict";
import {test} from "node:test";
import {narrow, readRanges} from "../src/form/narrow";

const space = {
    lr: {type: "log", base: 10, minval: -5, maxval: -1},
    decay: {type: "double", minval: 0.0001, maxval: 0.1, scale: "log"},
    layers: {type: "int", minval: 1, maxval: 8},
    units: {type: "int", minval: 16, maxval: 512, step: 16},
    net: {opt: {type: "categorical", vals: ["sgd", "adam", 3]}},
    seed: 7,
};

test("ranges keep the kinds that the file declares", () => {
    const next = narrow(space, {lr: [0.001, 0.01], decay: [0.00123456, 0.01], layers: [2.4, 5.6], units: [40, 100], "net.opt": {vals: ["adam", 3]}});
    assert.deepEqual(next, {
        lr: {type: "log", base: 10, minval: -3, maxval: -2},
        decay: {type: "double", minval: 0.001234, maxval: 0.01, scale: "log"},
        layers: {type: "int", minval: 3, maxval: 5},
        units: {type: "int", minval: 48, maxval: 96, step: 16},
        net: {opt: {type: "categorical", vals: ["adam", 3]}},
        seed: 7,
    });
});

test("a range never leaves the declared one, and never becomes empty", () => {
    assert.deepEqual(
        narrow(space, {decay: [-1, 7], layers: [3.2, 3.8], units: [1000, 2000], lr: [-1, 1], "net.opt": {vals: ["gone"]}, nothing: [0, 1]}),
        {...space, layers: {type: "int", minval: 3, maxval: 4}},
    );
    assert.deepEqual(narrow(space, {layers: [7.9, 99]}), {...space, layers: {type: "int", minval: 7, maxval: 8}});
});

test("a damaged address narrows nothing", () => {
    for (const text of ["", "{", "[1]", "null", '{"lr":[1]}', '{"lr":["a","b"]}', '{"__proto__":5}', '{"lr":{"vals":1}}'])
        assert.deepEqual(narrow(space, readRanges(text)), space, text);
});
