// The cases of tests/cli/artifacts/log_view_test.cpp, with colours kept and control characters as symbols.
import assert from "node:assert/strict";
import {test} from "node:test";
import {setFlagsFromString} from "node:v8";
import {runInNewContext} from "node:vm";
import {LogFolder, longestLine, plainText} from "../src/log/fold";
import {piecesOf} from "../src/log/ansi";
import {Random, seed} from "./random";

function seen(text: string): string {
    const folder = new LogFolder();
    const lines = folder.take(text).map((line) => plainText(line.text));
    const rest = folder.unfinished;
    return [...lines, ...(rest ? [plainText(rest.text)] : [])].map((line) => `${line}\n`).join("");
}

test("plain lines stay what they are", () => {
    assert.equal(seen("one\n\ntwoé\nthree"), "one\n\ntwoé\nthree\n");
    assert.equal(seen(""), "");
});

test("a progress bar is its last state", () => {
    assert.equal(seen("epoch 1 10%\repoch 1 20%\repoch 1 done\nnext\n"), "epoch 1 done\nnext\n");
    assert.equal(seen("\r10%\r20%\r\n"), "20%\n");
    assert.equal(seen("10%\r20%"), "20%\n");
    assert.equal(seen("10%\r20%\r"), "20%\n");
});

test("lines that end as on other systems are lines", () => {
    assert.equal(seen("one\r\ntwo\r\n"), "one\ntwo\n");
});

test("escape sequences other than colours are left out", () => {
    assert.equal(seen("\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[K\n"), "red green\n");
    assert.equal(seen("\x1b]0;title\x07one\x1b]8;;http://x\x1b\\two\x1b(Bthree\x1b7four\n"), "onetwothreefour\n");
    assert.equal(seen("10%\r\x1b[K20%\x1b[A\n"), "20%\n");
});

test("control characters are symbols", () => {
    assert.equal(seen("a\x07b\bc\x7f\n"), "a\u2407b\u2408c\u2421\n");
});

test("an unfinished sequence does not hide the next line", () => {
    assert.equal(seen("one \x1b]0;no end\ntwo\n"), "one \ntwo\n");
});

test("text in pieces is folded like text in one", () => {
    const random = new Random();
    const parts = ["a", "epoch", "\n", "\r", "\r\n", "\x1b[31m", "\x1b[0m", "\x1b[K", "\x1b]0;t\x07", "中", "\t", "\x07", "😀"];
    for (let round = 0; round < 300; round += 1) {
        const text = Array.from({length: random.below(60)}, () => random.pick(parts)).join("");
        const one = new LogFolder();
        const whole = one.take(text);
        const two = new LogFolder();
        const pieces = [];
        const letters = [...text];
        for (let at = 0; at < letters.length; ) {
            const next = at + 1 + random.below(5);
            pieces.push(...two.take(letters.slice(at, next).join("")));
            at = next;
        }
        assert.deepEqual(pieces, whole, `seed ${seed}, round ${round}`);
        assert.deepEqual(two.unfinished, one.unfinished, `seed ${seed}, round ${round}`);
        assert.equal(two.offset, Buffer.byteLength(text), `seed ${seed}, round ${round}`);
    }
});

test("a line begins at its byte", () => {
    const lines = new LogFolder(100).take("é\nab\n\x1b[31mc\n");
    assert.deepEqual(
        lines.map((line) => line.offset),
        [100, 103, 106],
    );
});

test("a colour goes on in the next line", () => {
    const [first, second] = new LogFolder().take("\x1b[31mred\nstill red\x1b[0m\n");
    assert.equal(piecesOf(first!.text)[0]!.classes, "ansi-red-fg");
    assert.equal(piecesOf(second!.text)[0]!.classes, "ansi-red-fg");
    assert.equal(piecesOf(second!.text)[0]!.text, "still red");
});

test("markup and links of programs are text", () => {
    const pieces = piecesOf("\x1b[1m<img src=x onerror=alert(1)>\x1b[0m\x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07");
    assert.equal(pieces.map((piece) => piece.text).join(""), "<img src=x onerror=alert(1)>x");
});

test("a line without end is cut off", () => {
    const folder = new LogFolder();
    folder.take("x".repeat(longestLine * 3));
    assert.equal(folder.unfinished!.text.length, longestLine);
});

test("a line takes as much memory as its letters", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const used = (): number => {
        collect();
        return process.memoryUsage().heapUsed;
    };
    const folder = new LogFolder();
    const before = used();
    const lines = Array.from({length: 2000}, () => folder.take(`${"step of a training ".repeat(50)}\n`)).flat();
    const letters = lines.reduce((sum, line) => sum + line.text.length, 0);
    const taken = used() - before;
    assert.ok(taken < 1.5 * letters, `${taken} bytes for ${letters} letters`);
    assert.equal(lines.length, 2000);
});
