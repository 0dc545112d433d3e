// What the page of files takes a file for, and where it finds one in an archive.
import assert from "node:assert/strict";
import {test} from "node:test";
import {packTar} from "../src/form/tar";
import {partOf} from "../src/pages/trial/archive_part";
import {largestJson, mostColumns, mostRows, readTable, seen} from "../src/pages/trial/file_content";

const bytes = (text: string) => new TextEncoder().encode(text);
const whole = (name: string, text: string) => seen(name, bytes(text), bytes(text).length);

test("a file is what its bytes say, and never markup", () => {
    const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
    assert.deepEqual(seen("page.html", png, 10), {kind: "image", type: "image/png"});
    for (const name of ["a.svg", "a.html", "a.png", "a.jpg", "a"])
        assert.deepEqual(whole(name, "<svg onload='alert(1)'/>"), {kind: "text", text: "<svg onload='alert(1)'/>"}, name);
    assert.deepEqual(seen("a.txt", new Uint8Array(), 0), {kind: "empty"});
    assert.deepEqual(seen("a.txt", new Uint8Array([1, 0, 2]), 3), {kind: "binary"});
    assert.deepEqual(seen("a.txt", new Uint8Array([0xff, 0xfe, 0x41]), 3), {kind: "binary"});
    // A letter of two bytes is cut.
    assert.deepEqual(seen("a.txt", bytes("aé").subarray(0, 2), 3), {kind: "text", text: "a"});
    assert.deepEqual(whole("a.txt", "one\r\ntwo\n"), {kind: "text", text: "one\ntwo\n"});
});

test("JSON is laid out with its integers exact, and what is none is a text", () => {
    assert.deepEqual(whole("r.json", '{"seed":9007199254740993,"x":[]}'), {kind: "json", text: '{\n  "seed": 9007199254740993,\n  "x": []\n}'});
    assert.equal(whole("r.json", '{"x": NaN}').kind, "text");
    assert.equal(whole("r.json", "[".repeat(50_000) + "]".repeat(50_000)).kind, "text", "too deep");
    assert.equal(seen("r.json", bytes("[1"), largestJson + 1).kind, "text", "only its beginning");
});

test("a table has its first rows, with quoted fields", () => {
    assert.deepEqual(readTable('a,b\r\n1,"x, ""y""\nz"\n\n2,', ",", true), {
        rows: [
            ["a", "b"],
            ["1", 'x, "y"\nz'],
            ["2", ""],
        ],
        isCut: false,
    });
    assert.deepEqual(
        readTable("a,b\n1,2\n3,", ",", false),
        {
            rows: [
                ["a", "b"],
                ["1", "2"],
            ],
            isCut: true,
        },
        "a row that is cut is left out",
    );
    const long = readTable("1\t2\n".repeat(mostRows + 5), "\t", true);
    assert.deepEqual([long.rows.length, long.isCut], [mostRows, true]);
    assert.equal(readTable("1,".repeat(1000), ",", true).rows[0]!.length, mostColumns);
    assert.equal(whole("t.tsv", "a\tb\n1\t2\n").kind, "table");
    assert.equal(whole("t.csv", "\n\n").kind, "text");
});

test("a file of an archive is found without its other files", async () => {
    const big = new Uint8Array(100_000).fill(7);
    const archive = packTar([
        {path: "checkpoint-1-2-3/a.bin", content: big},
        {path: "checkpoint-1-2-3/sub/config.json", content: bytes('{"a": 1}')},
        {path: "checkpoint-1-2-3/last", content: new Uint8Array()},
    ]);
    let asked = 0;
    const read = async (begin: number, end: number) => {
        asked += end - begin;
        return archive.slice(begin, end);
    };
    const part = (await partOf("sub/config.json", read))!;
    assert.equal(new TextDecoder().decode(archive.slice(part.begin, part.begin + part.bytes)), '{"a": 1}');
    assert.ok(asked <= 4096, `${asked} bytes`);
    assert.equal((await partOf("last", read))!.bytes, 0);
    assert.equal(await partOf("config.json", read), undefined);
    // A long name is in a header of its own.
    const name = `checkpoint/${"n".repeat(150)}`;
    const pax = (text: string) => `${text.length + 5} ${text}\n`;
    const head = packTar([{path: "head", content: bytes(pax(`path=${name}`))}]).slice(0, 1024);
    head[156] = "x".charCodeAt(0);
    const rest = packTar([{path: "cut", content: bytes("content")}]);
    const long = new Uint8Array([...head, ...rest]);
    const found = (await partOf("n".repeat(150), async (begin, end) => long.slice(begin, end)))!;
    assert.equal(new TextDecoder().decode(long.slice(found.begin, found.begin + found.bytes)), "content");
});
