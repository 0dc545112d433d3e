// The weight of the pages, exact: gzip -9 of what `node clients/web/build.mjs` writes. And the same bytes at every build.
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {mkdtempSync, readdirSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";
import {gzipSync} from "node:zlib";
import {buildPages} from "../../../clients/web/build.mjs";

const folder = mkdtempSync(join(tmpdir(), "hpsearch-web-budget-"));
after(() => rmSync(folder, {recursive: true, force: true}));
const one = join(folder, "one");
const {metafile} = await buildPages(one);
const size = (name) => gzipSync(readFileSync(join(one, "assets", name)), {level: 9}).length;
const files = readdirSync(join(one, "assets"));

test("all scripts and styles weigh at most 180 kB", () => {
    const code = files.filter((name) => /\.(js|css)$/.test(name)).map((name) => [name, size(name)]);
    const total = code.reduce((sum, [, bytes]) => sum + bytes, 0);
    console.log(`all: ${(total / 1000).toFixed(1)} kB`);
    for (const [name, bytes] of code.sort((a, b) => b[1] - a[1]).slice(0, 8)) console.log(`  ${name} ${(bytes / 1000).toFixed(1)} kB`);
    assert.ok(total <= 180_000, `${total} bytes`);
});

test("the first page weighs at most 90 kB", () => {
    // What main.tsx and the list of experiments import, without what is loaded later.
    const outputs = metafile.outputs;
    const entry = (source) => Object.keys(outputs).find((path) => outputs[path].entryPoint === source);
    const needed = new Set();
    const need = (path) => {
        if (needed.has(path)) return;
        needed.add(path);
        for (const {path: other, kind} of outputs[path].imports) if (kind !== "dynamic-import" && outputs[other]) need(other);
        if (outputs[path].cssBundle) needed.add(outputs[path].cssBundle);
    };
    need(entry("src/main.tsx"));
    need(entry("src/pages/experiments.tsx"));
    const total = [...needed].reduce((sum, path) => sum + size(path.split("/").at(-1)), 0);
    console.log(`first page: ${(total / 1000).toFixed(1)} kB`);
    assert.ok(total <= 90_000, `${total} bytes`);
});

test("there is no font and no large image", () => {
    for (const name of files) {
        assert.match(name, /\.(js|css|svg|png)$/);
        if (/\.(svg|png)$/.test(name)) assert.ok(readFileSync(join(one, "assets", name)).length <= 8000, name);
    }
});

test("nothing is requested from another host", () => {
    for (const name of files) {
        const text = readFileSync(join(one, "assets", name), "utf8").replaceAll("http://www.w3.org/", "");
        assert.doesNotMatch(text, /(src|href|url)\s*[=(:]\s*["'`]?https?:/, name);
    }
});

test("two builds give the same bytes", async () => {
    const two = join(folder, "two");
    await buildPages(two);
    const digest = (root) => ["index.html", "LICENSES.txt", "SOURCES.sha256", ...readdirSync(join(root, "assets")).sort().map((name) => `assets/${name}`)]
        .map((name) => `${name} ${createHash("sha256").update(readFileSync(join(root, name))).digest("hex")}`);
    assert.deepEqual(digest(two), digest(one));
});

test("every bundled package has its licence", () => {
    const text = readFileSync(join(one, "LICENSES.txt"), "utf8");
    for (const name of ["preact ", "@preact/signals ", "ansi_up "]) assert.ok(text.includes(name), name);
});
