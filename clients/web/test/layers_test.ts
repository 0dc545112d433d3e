// Which room of clients/web/src includes which: pages include all others, and none includes pages.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {dirname, join, relative, resolve, sep} from "node:path";
import {test} from "node:test";

declare const WEB_FOLDER: string;

const may: Readonly<Record<string, readonly string[]>> = {
    state: ["api", "live"],
    api: ["state"],
    live: ["api", "state"],
    i18n: ["api", "state"],
    design: ["api", "i18n", "live", "state"],
    plot: ["api", "design", "i18n", "live", "state"],
    table: ["api", "design", "i18n", "plot", "state"],
    log: ["api", "design", "i18n", "state"],
    form: ["api", "design", "i18n", "state"],
    pages: ["api", "design", "form", "i18n", "live", "log", "plot", "state", "table"],
};
const mostLines = 350;

test("rooms include only what they may, and pages are short", () => {
    const source = join(WEB_FOLDER, "src");
    const found: string[] = [];
    for (const path of readdirSync(source, {recursive: true, encoding: "utf8"})) {
        const room = path.split(sep)[0]!;
        if (room === path || !/\.tsx?$/.test(path)) continue;
        const allowed = may[room];
        if (!allowed) {
            found.push(`${room} is not in the list of rooms`);
            continue;
        }
        const text = readFileSync(join(source, path), "utf8");
        for (const [, name] of text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
            const other = relative(source, resolve(source, dirname(path), name!)).split(sep)[0]!;
            if (other !== room && !allowed.includes(other)) found.push(`${path} includes ${other}`);
        }
        if (room === "pages" && text.split("\n").length > mostLines) found.push(`${path} has more than ${mostLines} lines`);
    }
    assert.deepEqual(found, []);
});
