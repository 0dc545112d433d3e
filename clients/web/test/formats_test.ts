import assert from "node:assert/strict";
import {test} from "node:test";
import {formatBytes, formatDuration, formatFixed, formatNumber, formatValue, formatWithDeviation, plain, shortened} from "../src/i18n/format";

test("numbers have about four digits and no long tails", () => {
    assert.equal(formatNumber(0.9733333), "0.9733");
    assert.equal(formatNumber(0.1), "0.1");
    assert.equal(formatNumber(12345.678), "12,346");
    assert.equal(formatNumber(100), "100");
    assert.equal(formatNumber(1e-5), "1e-5");
    assert.equal(formatNumber(1.234e-7), "1.23e-7");
    assert.equal(formatNumber(0), "0");
    assert.equal(formatNumber(NaN), "NaN");
    assert.equal(formatNumber(-Infinity), "−∞");
    assert.equal(formatNumber({class: "nan"}), "NaN");
    assert.equal(formatNumber({class: "-inf"}), "−∞");
    assert.equal(formatNumber("18446744073709551615"), "1.84e19");
    assert.equal(formatNumber(null), "–");
});

test("a deviation has two digits, and its mean as many decimals, as on the command line", () => {
    assert.equal(formatWithDeviation(0.13888532724386704, 0.0448669686918793), "0.139 ± 0.045");
    assert.equal(formatWithDeviation(12345.6, 120), "12,346 ± 120");
    assert.equal(formatWithDeviation(0.5, 0), "0.5 ± 0");
    assert.equal(formatFixed(0.7121, 2), "0.71");
});

test("durations read as those of the command line", () => {
    assert.equal(formatDuration(0.94), "0.9 s");
    assert.equal(formatDuration(12.4), "12 s");
    assert.equal(formatDuration(59.7), "1 min");
    assert.equal(formatDuration(200), "3 min 20 s");
    assert.equal(formatDuration(7500), "2 h 05 min");
    assert.equal(formatDuration(274_000), "3 d 4 h");
    assert.equal(formatDuration(null), "–");
});

test("sizes count in thousands", () => {
    assert.equal(formatBytes(131312), "131 kB");
    assert.equal(formatBytes(999_600), "1 MB");
    assert.equal(formatBytes(12), "12 B");
});

test("a long name loses its middle, never half a letter", () => {
    const name = "😀".repeat(300);
    const short = shortened(name, 41);
    assert.equal([...short].length, 41);
    assert.ok(short.includes("…") && !short.includes("\ufffd"));
    assert.equal(shortened("short"), "short");
});

test("values of hyperparameters are one line", () => {
    assert.equal(formatValue({a: [1, "x"]}), '{"a":[1,"x"]}');
    assert.equal(formatValue(true), "true");
    assert.equal(formatValue(null), "null");
    assert.equal(formatValue(1981385539), "1981385539", "as in the file: no commas in a seed");
    assert.equal(formatValue(9007199254740993n), "9007199254740993");
    assert.equal(formatValue(12345.678), "12,346");
});

test("what a program wrote has no colours in a sentence, and its control characters are seen", () => {
    assert.equal(plain("\x1b[1;31mred\x1b[0m \x1b[38;5;9mtoo\x1b[m\x07\x1b]8;;x"), "red too\u2407\u241b]8;;x");
    assert.equal(plain("first\nsecond\tthird"), "first\nsecond\tthird");
});

test("what a program wrote has no colours, and its control characters are seen", () => {
    assert.equal(plain("\x1b[31mred\x1b[0m\x01\tx\ny"), "red\u2401\tx\ny");
    assert.equal(plain("\u202egnp.exe"), "⟨U+202E⟩gnp.exe");
});
