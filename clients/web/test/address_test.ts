import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";
import {changed, parseAddress, printAddress, unreadable, type Address} from "../src/state/address";
import {fitting} from "../src/state/shapes";
import {pageState, sharedState} from "../src/pages/page_state";
import {experimentRoutes, plainRoutes, stateOf} from "../src/pages/routes";
import {Random, seed} from "./random";

declare const WEB_FOLDER: string;

test("the daemon knows the addresses of all pages", () => {
    const source = readFileSync(join(WEB_FOLDER, "..", "..", "apps", "daemon", "pages", "pages.cpp"), "utf8");
    const known = /first_segments\[\] = \{([^}]*)\}/.exec(source)![1]!;
    const pages = new Set(["", "e", ...plainRoutes.map(({pattern}) => pattern.split("/")[0]!)]);
    assert.deepEqual([...known.matchAll(/"([^"]*)"/g)].map(([, name]) => name).sort(), [...pages].sort());
});

test("a printed address is read back as it was", () => {
    const random = new Random();
    for (let round = 0; round < 5000; round += 1) {
        const path = Array.from({length: random.below(5)}, () => random.text(6)).filter((part) => part !== "" && part !== "." && part !== "..");
        const query: Record<string, string> = {};
        for (let n = random.below(5); n > 0; n -= 1) {
            const name = random.text(4);
            const value = random.text();
            if (name !== "" && value !== "") Object.defineProperty(query, name, {value, enumerable: true, configurable: true, writable: true});
        }
        const address: Address = {path, query};
        const printed = printAddress(address);
        assert.deepEqual(parseAddress(printed), address, `seed ${seed}, round ${round}: ${printed}`);
        assert.equal(printAddress(parseAddress(printed)), printed, `seed ${seed}, round ${round}`);
    }
});

test("a browser keeps a printed address as it is", () => {
    const random = new Random();
    for (let round = 0; round < 2000; round += 1) {
        const printed = printAddress({path: ["e", "3"], query: {q: `${random.text()}x`}});
        assert.equal(new URL(printed, "http://h/a/").href, `http://h/a/${printed}`.replaceAll("'", "%27"), `seed ${seed}, round ${round}`);
    }
});

test("a damaged address opens what can be read", () => {
    assert.deepEqual(parseAddress("e/3/%zz?q=%e0%a4&x=1&=y&z&&x2=%"), {path: ["e", "3"], query: {x: "1"}});
    assert.deepEqual(parseAddress(""), {path: [], query: {}});
    assert.deepEqual(parseAddress("//?#q=1"), {path: [], query: {}});
});

test("an empty value removes its parameter", () => {
    const address = parseAddress("e/1/trials?sort=metric&where=a%3C1");
    assert.equal(printAddress(changed(address, {sort: "", where: undefined, state: "FAILED"})), "e/1/trials?state=FAILED");
});

test("what a page can't use is told from what it can, and neither is lost", () => {
    const random = new Random();
    for (let round = 0; round < 3000; round += 1) {
        const path = random
            .pick([...plainRoutes.map(({pattern}) => pattern), ...experimentRoutes.map(({pattern}) => `e/3/${pattern}`)])
            .replace("*", "1")
            .split("/")
            .filter((part) => part !== "");
        const shapes = stateOf(path)!;
        const query: Record<string, string> = {};
        for (let n = random.below(6); n > 0; n -= 1)
            query[random.pick([...Object.keys(pageState.curves), ...Object.keys(sharedState), "q", "sort", "state", random.text(3) || "z"])] =
                random.pick(["1", "log", "0,1", "RUNNING", "metric,-hparams.lr", "x:0.1-0.5", random.text(), "NaN"]) || "1";
        const first = fitting(query, shapes);
        // What fits is unchanged by being printed and read, and by being checked once more.
        assert.deepEqual(parseAddress(printAddress({path, query: first.query})), {path, query: first.query}, `seed ${seed}, round ${round}`);
        assert.deepEqual(fitting(first.query, shapes), {query: first.query, ignored: []}, `seed ${seed}, round ${round}`);
        for (const [name, value] of Object.entries(query))
            assert.ok(
                first.query[name] === value || first.ignored.some((part) => part.startsWith(`${name}=`)) || value.includes(","),
                `seed ${seed}, round ${round}: ${name}=${value}`,
            );
    }
});

test("each page says what of an address it ignores", () => {
    const ignoredAt = (text: string) => {
        const {path, query} = parseAddress(text);
        return [...unreadable(text), ...fitting(query, stateOf(path)!).ignored];
    };
    assert.deepEqual(ignoredAt("e/3/curves?metric=loss&y=log&zoom=1,9&t=1,4&best=10&span=1.5,2"), []);
    assert.deepEqual(ignoredAt("e/3/curves?y=cubic&zoom=9,1&zoom2=1&t=1,x,4"), ["y=cubic", "zoom=9,1", "zoom2=1", "t=x"]);
    assert.deepEqual(ignoredAt("e/3/trials?sort=nothing&columns=hparams.lr,nothing&where=)"), ["sort=nothing", "columns=nothing"]);
    assert.deepEqual(ignoredAt("experiments?sort=-best,name&state=ACTIVE,BUSY&q=a,b"), ["state=BUSY"]);
    assert.deepEqual(ignoredAt("e/3/%zz?story=all&q=%e0%a4&=1&b=x:0.1-0.25;y:0-1"), ["%zz", "q=%e0%a4", "=1"]);
    assert.deepEqual(ignoredAt("e/3/t/1/log?toString=1&__proto__=2&attempt=-1"), ["toString=1", "__proto__=2", "attempt=-1"]);
    assert.deepEqual(ignoredAt(""), []);
    assert.equal(stateOf(["nothing"]), undefined);
});
