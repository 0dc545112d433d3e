// The window on a log against the whole log: its lines are those of the log, whatever was dropped and read again.
import assert from "node:assert/strict";
import {test} from "node:test";
import {LogFolder, longestLine, type LogLine} from "../src/log/fold";
import {LogWindow, mostLetters, mostLines} from "../src/log/log_window";
import {Random, seed} from "./random";

const linesOf = (text: string) => new LogFolder().take(text);
const whole = (count: number, line = (n: number) => `line ${n}`): string => Array.from({length: count}, (_, n) => `${line(n)}\n`).join("");

function assertIsPartOf(window: LogWindow, all: readonly LogLine[]): void {
    const begin = all.findIndex((line) => line.offset === window.from);
    assert.deepEqual(window.lines, begin < 0 ? [] : all.slice(begin, begin + window.lines.length));
    if (begin >= 0 && window.firstNumber !== undefined) assert.equal(window.firstNumber, begin + 1, "lines have their numbers");
    const next = all[begin + window.lines.length];
    if (begin >= 0 && next && !window.unfinished) assert.equal(window.to, next.offset);
}

test("a log that grows for long drops its oldest lines", () => {
    const window = new LogWindow();
    const text = whole(3 * mostLines);
    for (let at = 0; at < text.length; at += 1000) window.append(text.slice(at, at + 1000), Math.min(text.length, at + 1000));
    assert.equal(window.lines.length, mostLines);
    assert.equal(window.lines.at(-1)!.text, `line ${3 * mostLines - 1}`);
    assert.equal(window.to, text.length);
    assert.equal(window.firstNumber, 2 * mostLines + 1);
    assertIsPartOf(window, linesOf(text));
});

test("long lines count by their letters", () => {
    const window = new LogWindow();
    const line = `${"x".repeat(2 * longestLine)}\n`;
    for (let n = 1; n <= 600; n += 1) window.append(line, n * line.length);
    const letters = window.lines.reduce((sum, each) => sum + each.text.length, 0);
    assert.ok(letters <= mostLetters && letters > mostLetters - longestLine, String(letters));
});

test("lines that the user reads stay while the log grows, and what has no room is read later", () => {
    const text = whole(2 * mostLines);
    const half = text.indexOf(`line ${mostLines - 10}\n`);
    const window = new LogWindow();
    window.append(text.slice(0, half), half);
    window.extend(text.slice(half), text.length);
    assert.equal(window.from, 0);
    assert.equal(window.lines.length, mostLines);
    assert.equal(window.to, text.indexOf(`line ${mostLines}\n`));
    window.moveOn(text.slice(window.to), text.length);
    assert.equal(window.lines.length, mostLines);
    assert.equal(window.lines[0]!.text, `line ${mostLines / 2}`);
    assertIsPartOf(window, linesOf(text));
});

test("text of one line end after the other doesn't move the window past the lines that are read", () => {
    const text = "\n".repeat(60_000) + whole(mostLines);
    const begin = 60_000;
    const window = new LogWindow(begin);
    window.append(text.slice(begin), text.length);
    window.moveBack(text.slice(0, begin), 0);
    assert.equal(window.from, begin - mostLines / 2);
    assert.equal(window.firstNumber, begin - mostLines / 2 + 1, "known once the beginning was read");
    assert.equal(window.lines.length, mostLines);
    assertIsPartOf(window, linesOf(text));
});

test("the end of a log without line ends is held", () => {
    const window = LogWindow.on("10%\r20%\r30%", 5000, 5011);
    assert.equal(window.lines.length, 0);
    assert.equal(window.unfinished?.text, "30%");
    window.append("\r40%\ndone\n", 5021);
    assert.deepEqual(
        window.lines.map((line) => line.text),
        ["40%", "done"],
    );
});

test("any way through a log shows lines of the log, within the bounds", () => {
    const random = new Random(seed);
    const text = whole(4 * mostLines, (n) => "x".repeat(random.below(40)) + n);
    const part = 64 * 1024;
    const all = linesOf(text);
    let written = Math.floor(text.length / 2);
    const start = Math.floor(text.length / 3);
    const window = LogWindow.on(text.slice(start, start + part), start, start + part);
    for (let step = 0; step < 300; step += 1) {
        written = Math.min(text.length, written + random.below(3000));
        const {from, to} = window;
        const way = random.below(4);
        if (way === 0 && from > 0) window.moveBack(text.slice(Math.max(0, from - part), from), Math.max(0, from - part));
        else if (way === 1) window.moveOn(text.slice(to, Math.min(written, to + part)), Math.min(written, to + part));
        else if (way === 2) window.extend(text.slice(to, Math.min(written, to + 3000)), Math.min(written, to + 3000));
        else window.append(text.slice(to, Math.min(written, to + 3000)), Math.min(written, to + 3000));
        assert.ok(window.lines.length <= mostLines);
        assertIsPartOf(window, all);
    }
});
