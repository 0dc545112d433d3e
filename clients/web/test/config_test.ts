// Which fields of a configuration the page hides as defaults.
import assert from "node:assert/strict";
import {test} from "node:test";
import {hiddenFields, needed, withoutDefaults} from "../src/pages/experiment/config_defaults";

test("only fields that are as the daemon sets them are hidden", () => {
    const config = {
        name: "one",
        description: "",
        entrypoint: ["sh"],
        hyperparameters: {x: {type: "int", minval: 1, maxval: 9}},
        labels: ["a"],
        resources: {slots_per_trial: 1, weight: 1},
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 9, sampler: "tpe", tpe: {gamma: 0.25, candidates: 10}},
        budget: {target: null},
    };
    const file = needed(config, ["max_trials"]);
    assert.deepEqual(file, {
        name: "one",
        entrypoint: ["sh"],
        hyperparameters: config.hyperparameters,
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 9},
    });
    // The defaults of that file: it has the same space, so that nothing of it may count as a default.
    const defaults = {...config, labels: [], searcher: {...config.searcher, sampler: "random", tpe: {gamma: 0.25, candidates: 64}}};
    const left = withoutDefaults(config, defaults, file);
    assert.deepEqual(left, {
        name: "one",
        entrypoint: ["sh"],
        hyperparameters: config.hyperparameters,
        labels: ["a"],
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 9, sampler: "tpe", tpe: {candidates: 10}},
    });
    assert.equal(hiddenFields(config, left), 5, "description, slots_per_trial, weight, tpe.gamma and target");
});
