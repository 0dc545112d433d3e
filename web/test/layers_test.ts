// Which room of web/src includes which: pages include all others, and none includes pages.
import assert from "node:assert/strict";
import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";

declare const WEB_FOLDER: string;

const may: Readonly<Record<string, readonly string[]>> = {
    state: ["api", "live"], api: ["state"], live: ["api", "state"], i18n: ["api", "state"],
    design: ["api", "i18n", "live", "state"],
    plot: ["api", "design", "i18n", "live", "state"],
    table: ["api", "design", "i18n", "plot", "state"],
    log: ["api", "design", "i18n", "state"],
    form: ["api", "design", "i18n", "state"],
    pages: ["api", "design", "form", "i18n", "live", "log", "plot", "state", "table"],
};
const mostLines = 300;

test("rooms include only what they may, and pages are short", () => {
    const source = join(WEB_FOLDER, "src");
    const found: string[] = [];
    for (const room of readdirSync(source, {withFileTypes: true})) {
        if (!room.isDirectory()) continue;
        const allowed = may[room.name];
        if (!allowed) {
            found.push(`${room.name} is not in the list of rooms`);
            continue;
        }
        for (const name of readdirSync(join(source, room.name))) {
            if (!/\.tsx?$/.test(name)) continue;
            const text = readFileSync(join(source, room.name, name), "utf8");
            for (const [, other] of text.matchAll(/(?:from|import\()\s*"\.\.\/(\w+)/g)) if (!allowed.includes(other!)) found.push(`${room.name}/${name} includes ${other}`);
            if (room.name === "pages" && text.split("\n").length > mostLines) found.push(`${room.name}/${name} has more than ${mostLines} lines`);
        }
    }
    assert.deepEqual(found, []);
});
