import assert from "node:assert/strict";
import {test} from "node:test";
import {contrast, parseColour, rungColour, css} from "../src/plot/drawing/colour";
import {lowerBound, quantile, sortedFinite, spread, upperBound} from "../src/plot/drawing/domain";
import {cutMiddle, durationText, metricText, minus, shareText, tickText} from "../src/plot/drawing/number";
import {byQuantile, category, elapsed, linear, log, niceEnds, whole, type Scale} from "../src/plot/drawing/scale";
import {spreadLabels} from "../src/plot/drawing/axes";
import {DARK, LIGHT, readable} from "../src/plot/drawing/theme";
import {Random, seed} from "./random";

const random = new Random();
const real = () => (random.below(2_000_001) - 1_000_000) / 10 ** random.below(9);
const near = (a: number, b: number, size: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(size));

test("metrics are printed like those of the command line, which uses %g", () => {
    for (const [value, text] of [
        [0.200939, "0.200939"],
        [1 / 3, "0.333333"],
        [1e-7, "1e-07"],
        [123456, "123456"],
        [1234567, "1.23457e+06"],
        [0.00001234, "1.234e-05"],
        [0, "0"],
        [-2.5, "-2.5"],
        [NaN, "NaN"],
        [Infinity, "inf"],
        [-Infinity, "-inf"],
        [999999.6, "1e+06"],
        [100, "100"],
    ] as const) {
        assert.equal(metricText(value), text);
    }
    assert.equal(metricText(null), "–");
});

test("durations have two units at most", () => {
    assert.deepEqual([0, 0.25, 9.96, 59.6, 61, 3600, 7500, 90000].map(durationText), [
        "0 s",
        "250 ms",
        "10 s",
        "1 min",
        "1 min 1 s",
        "1 h",
        "2 h 5 min",
        "1 d 1 h",
    ]);
});

test("a share of something is never printed as none, a share of less than all never as all", () => {
    assert.equal(shareText(0.00001), "<\u202f0.1\u202f%");
    assert.equal(shareText(0.99999), ">\u202f99.9\u202f%");
    assert.equal(shareText(1), "100\u202f%");
    assert.equal(shareText(0), "0\u202f%");
});

test("long names lose their middle, not a half of a letter", () => {
    assert.equal(cutMiddle("abcdefghij", 5), "abc…j");
    assert.equal([...cutMiddle("😀".repeat(500), 20)].length, 20);
    assert.equal(cutMiddle("short", 5), "short");
});

test("labels of ticks have a real minus and as many decimals as their distance needs", () => {
    assert.equal(tickText(-0.5, 1), "−0.5");
    assert.equal(tickText(0.00001, 5), "1e−5");
    assert.equal(tickText(12500, 0), "12,500");
    assert.equal(minus("1e-5"), "1e−5");
});

function comesBack(scale: Scale, value: number): void {
    const back = scale.value(scale.at(value));
    assert.ok(
        near(back, value, Math.max(Math.abs(scale.lo), Math.abs(scale.hi))),
        `${scale.kind} ${scale.lo} ${scale.hi}: ${value} came back as ${back}, seed ${seed}`,
    );
}

test("value(at(x)) is x on linear and log scales", () => {
    for (let i = 0; i < 2000; ++i) {
        const [a, b] = [real(), real()].sort((x, y) => x - y) as [number, number];
        if (!(b > a)) continue;
        const share = random.below(1000) / 999;
        comesBack(linear(a, b), a + (b - a) * share);
        const low = 10 ** -(random.below(9) + 1);
        const high = low * 10 ** (1 + random.below(8));
        comesBack(log(low, high), low * (high / low) ** share);
    }
});

test("ticks lie on the axis, in order, and are not more than twice what was asked for", () => {
    for (let i = 0; i < 2000; ++i) {
        const [a, b] = [real(), real()].sort((x, y) => x - y) as [number, number];
        const count = 2 + random.below(9);
        for (const scale of [linear(a, b), whole(a, b), elapsed(0, Math.abs(b) + 1e-3, durationText)]) {
            const ticks = scale.ticks(count);
            assert.ok(ticks.length <= 2 * count + 2, `${ticks.length} ticks of ${count} on ${scale.lo}–${scale.hi}, seed ${seed}`);
            ticks.forEach((tick, k) => {
                assert.ok(tick.at > -1e-6 && tick.at < 1 + 1e-6);
                if (k > 0) assert.ok(tick.at > ticks[k - 1]!.at);
            });
            assert.equal(
                new Set(ticks.map((tick) => tick.label)).size,
                ticks.length,
                `labels repeat on ${scale.lo}–${scale.hi} (${scale.kind}): ${ticks.map((tick) => tick.label)}, seed ${seed}`,
            );
        }
    }
});

test("log ticks are powers of ten, with 2 and 5 where there is room", () => {
    assert.deepEqual(
        log(1e-5, 1)
            .ticks(6)
            .filter((tick) => tick.label)
            .map((tick) => tick.label),
        ["1e−5", "0.0001", "0.001", "0.01", "0.1", "1"],
    );
    assert.deepEqual(
        log(1, 100)
            .ticks(8)
            .filter((tick) => tick.label)
            .map((tick) => tick.label),
        ["1", "2", "5", "10", "20", "50", "100"],
    );
    assert.ok(
        log(3, 5)
            .ticks(4)
            .filter((tick) => tick.label).length >= 2,
        "less than a decade still has labels",
    );
});

test("a log scale has no place for zero and below", () => {
    const scale = log(0.1, 10);
    assert.equal(scale.at(0), -Infinity);
    assert.equal(scale.at(-1), -Infinity);
    assert.ok(Number.isNaN(scale.at(NaN)));
});

test("a quantile scale puts equally many values into every part", () => {
    const values = Float64Array.from({length: 1000}, () => Math.exp(random.below(1000) / 100)).sort();
    const scale = byQuantile(values);
    const below = values.filter((value) => scale.at(value) <= 0.5).length;
    assert.ok(below > 450 && below < 550, `${below} below the middle, seed ${seed}`);
    for (let i = 1; i < values.length; ++i) assert.ok(scale.at(values[i]!) >= scale.at(values[i - 1]!));
});

test("scales of no value and of one value still have two ends", () => {
    for (const scale of [linear(3, 3), log(2, 2), log(0, 0), linear(0, 0), byQuantile([]), byQuantile([5])]) {
        assert.ok(scale.hi >= scale.lo);
        assert.ok(
            scale.ticks(5).every((tick) => Number.isFinite(tick.at)),
            `${scale.kind} ${scale.lo}`,
        );
    }
});

test("categories come back from their places", () => {
    const words = ["sgd", "adam", "lion"];
    const scale = category(words, [2, 0, 1]);
    for (let code = 0; code < words.length; ++code) assert.equal(scale.value(scale.at(code)), code);
    assert.deepEqual(
        scale.ticks(9).map((tick) => tick.label),
        ["adam", "lion", "sgd"],
    );
    assert.ok(Number.isNaN(scale.at(7)));
});

test("nice ends hold the values", () => {
    for (let i = 0; i < 500; ++i) {
        const [a, b] = [real(), real()].sort((x, y) => x - y) as [number, number];
        if (!(b > a)) continue;
        const [lo, hi] = niceEnds(a, b, 5);
        // A billionth of the axis is less than any screen shows.
        const unseen = (hi - lo) * 1e-9 + Math.max(Math.abs(a), Math.abs(b)) * 1e-12;
        assert.ok(lo <= a + unseen && hi >= b - unseen, `${a} ${b} → ${lo} ${hi}, seed ${seed}`);
    }
});

test("a spread counts what is not finite and what a clipped axis leaves out", () => {
    const values = [...Array.from({length: 200}, (_, i) => i / 100), 1e6, NaN, NaN, Infinity, -Infinity];
    const auto = spread(values);
    assert.deepEqual([auto.clipped, auto.above, auto.nan, auto.inf, auto.negativeInf, auto.finite], [true, 2, 2, 1, 1, 201]);
    const off = spread(values, "off");
    assert.deepEqual([off.clipped, off.above, off.below, off.hi], [false, 0, 0, 1e6]);
    assert.equal(spread([0, 1, 2, 3], "auto").clipped, false);
    assert.equal(spread([-1, 0, 1, 10, 100], "off", true).below, 2);
});

test("quantiles and bounds agree with a plain search", () => {
    for (let i = 0; i < 300; ++i) {
        const values = sortedFinite(Float64Array.from({length: 1 + random.below(40)}, () => random.below(10)));
        const value = random.below(12) - 1;
        assert.equal(lowerBound(values, value), values.filter((each) => each < value).length);
        assert.equal(upperBound(values, value), values.filter((each) => each <= value).length);
        assert.equal(quantile(values, 0), values[0]);
        assert.equal(quantile(values, 1), values[values.length - 1]);
    }
    assert.ok(Number.isNaN(quantile([], 0.5)));
});

test("labels are moved apart and keep their order", () => {
    for (let i = 0; i < 300; ++i) {
        const places = Array.from({length: 1 + random.below(8)}, () => random.below(200));
        const moved = spreadLabels(places, 12, 0, 300);
        const order = places.map((_, k) => k).sort((a, b) => moved[a]! - moved[b]!);
        order.forEach((each, k) => {
            if (k > 0) assert.ok(moved[each]! - moved[order[k - 1]!]! >= 12 - 1e-9 && places[each]! >= places[order[k - 1]!]!, `seed ${seed}`);
        });
    }
});

test("colours of rungs, categories and states have a contrast of 3:1 in both themes, texts 4.5:1", () => {
    for (const theme of [LIGHT, DARK]) {
        const surface = parseColour(theme.surface);
        for (let rungs = 1; rungs <= 6; ++rungs) {
            for (let rung = 0; rung < rungs; ++rung) {
                // The lightest rung is a mark, not a text, and has its number beside it.
                assert.ok(
                    contrast(rungColour(rung, rungs, theme.dark), surface) >= 2.4,
                    `rung ${rung} of ${rungs}: ${contrast(rungColour(rung, rungs, theme.dark), surface)}`,
                );
            }
        }
        for (const colour of [...theme.categories, ...Object.values(theme.states), theme.faint, theme.accent]) {
            assert.ok(contrast(parseColour(colour), surface) >= 3, `${colour} on ${theme.surface}: ${contrast(parseColour(colour), surface)}`);
        }
        for (const colour of [theme.ink, theme.muted, theme.accent, theme.bad]) assert.ok(contrast(parseColour(colour), surface) >= 4.5, colour);
        assert.ok(contrast(parseColour(readable([200, 200, 200], theme)), surface) >= 3);
    }
});

test("colours are read in every spelling of CSS", () => {
    assert.deepEqual(
        [parseColour("#fff"), parseColour("#0a0B0c"), parseColour("rgb(1, 2,3)"), parseColour("rgba(1 2 3 / 50%)"), parseColour("teal")],
        [
            [255, 255, 255],
            [10, 11, 12],
            [1, 2, 3],
            [1, 2, 3],
            [0, 0, 0],
        ],
    );
    assert.equal(css([1, 2, 3], 0.5), "rgba(1,2,3,0.5)");
});
