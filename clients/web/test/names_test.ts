import assert from "node:assert/strict";
import {test} from "node:test";
import {toldApart} from "../src/i18n/names";
import {Random, seed} from "./random";

const show = (names: readonly string[], most: number) => names.map((name) => toldApart(names, most).get(name)!);

test("short names stay whole", () => {
    assert.deepEqual(
        show(["lr", "optimizer.lr", "optimizer.momentum"], 24).map(({own, shared}) => shared + own),
        ["lr", "optimizer.lr", "optimizer.momentum"],
    );
    assert.ok(show(["lr", "optimizer.lr", "optimizer.momentum"], 24).every(({shared}) => shared === ""));
});

test("long names give up what they share, up to the last level", () => {
    const block = "model.encoder.block.attention.";
    assert.deepEqual(
        show(
            [
                `${block}dropout_probability_early`,
                `${block}dropout_probability_late`,
                "optimizer.schedule.learning_rate",
                "optimizer.schedule.weight_decay",
            ],
            28,
        ),
        [
            {own: "dropout_probability_early", shared: block},
            {own: "dropout_probability_late", shared: block},
            {own: "learning_rate", shared: "optimizer.schedule."},
            {own: "weight_decay", shared: "optimizer.schedule."},
        ],
    );
});

test("experiments of one study are told apart by their own words", () => {
    const study = "vision-transformer-base-patch16-imagenet1k-pretrained-2026-11-ablation-";
    const ends = [
        "lr-1e-3-seed-0-run",
        "lr-1e-4-seed-1-run",
        "wd-0.1-seed-0-run",
        "wd-0.01-seed-1-run",
        "ema-no-warmup-seed-2-run",
        "ema-seed-1-run",
    ];
    assert.deepEqual(
        show(
            ends.map((end) => study + end),
            48,
        ),
        ends.map((own) => ({own, shared: study})),
    );
});

test("names without words that differ in the middle keep what differs", () => {
    const [a, b] = show([`${"n".repeat(250)}A${"n".repeat(249)}`, `${"n".repeat(250)}B${"n".repeat(249)}`], 40);
    assert.match(a!.own, /^…n+An+…$/);
    assert.match(b!.own, /^…n+Bn+…$/);
    assert.ok(a!.own.length <= 40);
});

test("different names look different", () => {
    const random = new Random();
    const letters = [..."ab-._1"];
    const text = (most: number) => Array.from({length: random.below(most)}, () => random.pick(letters)).join("");
    for (let round = 0; round < 300; round += 1) {
        const stem = text(60);
        const names = [...new Set(Array.from({length: 12}, () => stem.slice(0, random.below(60)) + text(40)))];
        const shown = toldApart(names, 24);
        const looks = new Set(names.map((name) => `${shown.get(name)!.shared}|${shown.get(name)!.own}`));
        assert.equal(looks.size, names.length, `seed ${seed}: ${names.join(" ")}`);
    }
});
