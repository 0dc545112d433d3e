// Every text goes through the language files, and both languages have the same.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {join, relative} from "node:path";
import {test} from "node:test";
import {transformSync} from "esbuild";

declare const WEB_FOLDER: string;
const source = join(WEB_FOLDER, "src");

function files(folder: string): string[] {
    return readdirSync(folder, {withFileTypes: true}).flatMap((entry) =>
        entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
    );
}

const read = (name: string) => JSON.parse(readFileSync(join(source, "i18n", name), "utf8")) as Record<string, string>;
const pairs = [
    [read("en.json"), read("zh-CN.json")],
    [read("en.plots.json"), read("zh-CN.plots.json")],
] as const;
const english = Object.assign({}, ...pairs.map(([en]) => en)) as Record<string, string>;
const code = files(source)
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({name: relative(source, path), text: readFileSync(path, "utf8")}));
const all = code.map(({text}) => text).join("\n");

test("both languages have the same keys and places", () => {
    for (const [en, zh] of pairs) {
        assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
        for (const [key, text] of Object.entries(en)) {
            const places = (of: string) => [...new Set(of.match(/\{\w+\}/g) ?? [])].sort();
            assert.deepEqual(
                places(zh[key]!).filter((place) => place !== "{n}"),
                places(text).filter((place) => place !== "{n}"),
                key,
            );
            assert.notEqual(zh[key]!.trim() === "", text.trim() !== "", key);
        }
    }
});

test("every key that is asked for has a text", () => {
    for (const [, key] of all.matchAll(/\bt\("([\w.]+)"/g)) assert.ok(key! in english, key);
    for (const [, key] of all.matchAll(/\btCount\("([\w.]+)"/g)) assert.ok(`${key}.one` in english && `${key}.other` in english, key);
});

test("no text is left that nothing shows", () => {
    const dynamic = [...all.matchAll(/\btWord\("(\w+)"/g)]
        .map(([, group]) => `${group}.`)
        .concat([...all.matchAll(/`([\w.]+?[._])\$\{/g)].map(([, start]) => start!));
    const unused = Object.keys(english).filter((key) => {
        const used =
            all.includes(`"${key}"`) || all.includes(`"${key.replace(/\.(one|other)$/, "")}"`) || dynamic.some((start) => key.startsWith(start));
        return !used;
    });
    assert.deepEqual(unused, []);
});

/// Words that are the same in every language: names of commands, formats, streams. Behind them, words of commands and of fields.
const names = /^(hpsearch|LSN|stdout|stderr|English|中文|YAML|JSON|CSV|SVG|PNG|TensorBoard|x|n|e|GPU)$/;

test("no page has a text of its own", () => {
    const found: string[] = [];
    for (const {name, text} of code) {
        if (!name.endsWith(".tsx")) continue;
        const calls = transformSync(text, {loader: "tsx", jsx: "automatic", jsxImportSource: "preact", charset: "utf8"}).code;
        const literals = [
            ...calls.matchAll(/\b(?:children|title|placeholder|label|alt|"aria-label"): "((?:[^"\\]|\\.)*)"/g),
            ...calls.matchAll(/\bchildren: \[\s*"((?:[^"\\]|\\.)*)"/g),
        ];
        for (const [, literal] of literals) {
            if (literal! in english) continue;
            for (const word of literal!.split(/[^\p{L}]+/u))
                if (
                    /\p{L}{2,}/u.test(word) &&
                    !names.test(word) &&
                    !/^(pip|install|requirements|txt|python|train|py|daemon|ADDRESS|state|dir|DIR|submit|experiment|yaml|worker|open|epochs|system)$/.test(
                        word,
                    )
                )
                    found.push(`${name}: ${literal}`);
        }
    }
    assert.deepEqual(found, []);
});
