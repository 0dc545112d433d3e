import assert from "node:assert/strict";
import {readdirSync, readFileSync, existsSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {parseYaml, printYaml, setYaml, YamlProblem, type Yaml} from "../src/form/yaml";
import {joinCommand, splitCommand} from "../src/form/draft";
import {packTar} from "../src/form/tar";
import {Random, seed} from "./random";

declare const WEB_FOLDER: string;

test("blocks, brackets, comments and texts are read", () => {
    assert.deepEqual(
        parseYaml(`# first
name: a b  # behind
list: [1, -2.5, "x, y", 'it''s', null, {a: 1e-3}]
block:
- x
- name: n
  deep: {k: v}
-
  - 1
text: |
  one
   two

folded: >-
  one
  two
empty:
long: [1,
  2]
url: http://h:80/#x
`),
        {
            name: "a b",
            list: [1, -2.5, "x, y", "it's", null, {a: 0.001}],
            block: ["x", {name: "n", deep: {k: "v"}}, [1]],
            text: "one\n two\n",
            folded: "one two",
            empty: null,
            long: [1, 2],
            url: "http://h:80/#x",
        },
    );
});

test("what is not read is refused with its line", () => {
    for (const [text, line] of [
        ["a: 1\nb: *x", 2],
        ["a: 1\na: 2", 2],
        ["a:\n\t- 1", 2],
        ["a: [1", 1],
        ["a: 1\n  b: 2", 2],
    ] as const) {
        assert.throws(
            () => parseYaml(text),
            (cause: unknown) => cause instanceof YamlProblem && cause.line === line,
            text,
        );
    }
});

test("the examples are read", () => {
    const examples = join(WEB_FOLDER, "..", "..", "examples");
    for (const folder of readdirSync(examples, {withFileTypes: true})) {
        if (!folder.isDirectory()) continue;
        const directory = join(examples, folder.name);
        for (const name of existsSync(directory) ? readdirSync(directory) : []) {
            if (!name.endsWith(".yaml")) continue;
            const tree = parseYaml(readFileSync(join(directory, name), "utf8"));
            assert.deepEqual(parseYaml(printYaml(tree)), tree, name);
        }
    }
});

function randomYaml(random: Random, depth = 0): Yaml {
    const kind = random.below(depth > 2 ? 5 : 7);
    if (kind === 0) return random.below(1000) - 500;
    if (kind === 1) return (random.below(2000) - 1000) / 64;
    if (kind === 2) return random.pick([null, true, false]);
    if (kind <= 4)
        return random.pick([
            "",
            "a",
            "yes",
            "null",
            "1",
            "0x1f",
            "a: b",
            "- x",
            "#c",
            "a #b",
            "it's",
            '"q"',
            "é中",
            "two\nlines",
            "two\n\nlines\n",
            " lead",
            "trail ",
            "[x",
            "1e5",
            "~",
            "*a",
            "&b",
            "a,b",
        ]);
    if (kind === 5) return Array.from({length: random.below(4)}, () => randomYaml(random, depth + 1));
    return Object.fromEntries(
        Array.from({length: random.below(4)}, (_, n) => [`${random.pick(["a", "b c", "1", "k:", "x#", "é"])}${n}`, randomYaml(random, depth + 1)]),
    );
}

test("a printed tree is read back as it was", () => {
    const random = new Random();
    for (let round = 0; round < 3000; round += 1) {
        const tree = Object.fromEntries(Array.from({length: 1 + random.below(4)}, (_, n) => [`key${n}`, randomYaml(random)]));
        const printed = printYaml(tree);
        assert.deepEqual(parseYaml(printed), tree, `seed ${seed}, round ${round}:\n${printed}`);
    }
});

test("a change leaves other keys and comments as they are written", () => {
    const text = "# top\nname: x\n\n# about the search\nsearcher:\n  name: random  # inside\n  max_trials: 3\nlast: [ 1,2 ]\n";
    assert.equal(
        setYaml(text, ["name"], "y z"),
        "# top\nname: y z\n\n# about the search\nsearcher:\n  name: random  # inside\n  max_trials: 3\nlast: [ 1,2 ]\n",
    );
    const changed = setYaml(text, ["searcher", "max_trials"], 5);
    assert.ok(changed.startsWith("# top\nname: x\n\n# about the search\nsearcher:\n") && changed.endsWith("last: [ 1,2 ]\n"));
    assert.deepEqual(parseYaml(changed), {name: "x", searcher: {name: "random", max_trials: 5}, last: [1, 2]});
    assert.equal(setYaml("a: 1\n", ["b", "c"], true), "a: 1\nb:\n  c: true\n");
    assert.equal(setYaml("a: 1\nb: 2\n", ["a"], undefined), "b: 2\n");
});

test("commands are split as a shell splits them", () => {
    assert.deepEqual(splitCommand(`python3 'my train.py' --x "a \\"b\\""`), ["python3", "my train.py", "--x", 'a "b"']);
    assert.deepEqual(splitCommand(joinCommand(["a b", "c", 'd"e'])), ["a b", "c", 'd"e']);
});

test("an archive has a header, padding and an end", () => {
    const tar = packTar([
        {path: "b.py", content: new TextEncoder().encode("print(1)\n")},
        {path: "a/x.sh", content: new Uint8Array(512), executable: true},
    ]);
    assert.equal(tar.length, 512 * (1 + 1 + 1 + 1 + 2));
    const text = (at: number, length: number) => new TextDecoder().decode(tar.subarray(at, at + length)).replace(/\0.*$/s, "");
    assert.equal(text(0, 100), "a/x.sh");
    assert.equal(text(100, 8), "0000755");
    assert.equal(text(1024, 100), "b.py");
    const header = tar.slice(0, 512);
    const sum = parseInt(text(148, 6), 8);
    header.fill(32, 148, 156);
    assert.equal(
        header.reduce((total, byte) => total + byte, 0),
        sum,
    );
});
