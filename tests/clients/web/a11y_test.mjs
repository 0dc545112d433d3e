// axe-core on every page, in both themes, with data, and on some empty, loading and with an error: no violation of WCAG
// 2.2 AA. HPSEARCH_WEB_A11Y=all: every page in each theme, language and state.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {after, before, test} from "node:test";
import {Stage, webRequire} from "./stage.mjs";

const axe = readFileSync(webRequire.resolve("axe-core/axe.min.js"), "utf8");
let stage;
let search;
let failing;

before(async () => {
    stage = await Stage.open();
    search = stage.submitDigits({trials: 9});
    failing = stage.submitScript({name: "failing", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, max_restarts: 0,
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1}}, "printf 'a,b\\n1,2\\n' > table.csv; echo broken >&2; exit 3\n");
    await stage.untilEnded(search);
});
after(() => stage?.close());

async function check(page, what) {
    // Through the debugger's evaluation, which the page's policy does not concern.
    await page.evaluate(axe);
    const {violations} = await page.evaluate(() => globalThis.axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}));
    return violations.map(({id, nodes}) => `${what}: ${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.failureSummary?.split("\n").slice(1, 3).join(" ").trim()}`).join(" | ")}`);
}

const pagesOf = (id) => ["experiments", `e/${id}`, `e/${id}/trials`, `e/${id}/curves`, `e/${id}/rungs`, `e/${id}/parallel`, `e/${id}/scatter`, `e/${id}/importance`, `e/${id}/history`,
    `e/${id}/timeline`, `e/${id}/checkpoints`, `e/${id}/events`, `e/${id}/config`, `e/${id}/t/1`, `e/${id}/t/1/log`, `e/${id}/t/1/files`, `e/${id}/compare?t=1,2,3`, "workers", "workers/1", "new", "settings", "settings/usage", "settings/workspaces", "settings/audit", "login"];

for (const theme of ["light", "dark"]) {
    test(`full pages, ${theme}`, async () => {
        const context = await stage.context({colorScheme: theme});
        const page = await context.newPage();
        const found = [];
        for (const path of pagesOf(search)) {
            await page.goto(stage.url + path);
            await page.locator("h1").first().waitFor();
            await page.waitForFunction(() => !document.querySelector("[aria-busy=true]"), undefined, {timeout: 15_000}).catch(() => found.push(`${path}: still loading`));
            found.push(...await check(page, path));
        }
        assert.deepEqual(found, []);
        await context.close();
    });
}

test("pages without data, and with an error", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    const found = [];
    for (const path of [`e/${search}/trials?where=metric%3E5`, "e/999", "nothing", `e/${search}/compare`, "experiments?q=nothing-like-this", `e/${search}/events?q=nothing-like-this`]) {
        await page.goto(stage.url + path);
        await page.locator(".state-note").first().waitFor();
        found.push(...await check(page, path));
    }
    await page.goto(`${stage.url}workers`);
    await page.getByRole("button", {name: "More"}).click();
    found.push(...await check(page, "menu"));
    await page.getByRole("menuitem", {name: "Quarantine…"}).click();
    await page.getByRole("dialog").waitFor();
    found.push(...await check(page, "dialog"));
    await page.goto(`${stage.url}e/${failing}/t/0/files?file=table.csv`);
    await page.locator(".file-view td").first().waitFor();
    found.push(...await check(page, "files"));
    await page.goto(`${stage.url}e/${search}`);
    await page.getByRole("button", {name: "More"}).click();
    await page.getByRole("menuitem", {name: "Limits…"}).click();
    await page.locator('[name="searcher.max_trials"]').fill("-1");
    await page.getByRole("button", {name: "Change limits"}).click();
    await page.locator(".field .field-problem").waitFor();
    found.push(...await check(page, "limits"));
    assert.deepEqual(found, []);
    await context.close();
});

const whole = process.env.HPSEARCH_WEB_A11Y === "all";
const themes = ["light", "dark"];
const locales = ["en-GB", "zh-CN"];
const looks = whole ? themes.flatMap((theme) => locales.map((locale) => [theme, locale])) : [["dark", "zh-CN"]];
const some = /^experiments$|\/trials$|\/curves$|\/t\/1$|^workers$/;

/// Requests whose answers a page shows, but for the experiment around its pages.
const answers = (url) => /\/api\/v1\/(?!stream|session|openapi\.json)/.test(url.pathname) && !/\/experiments\/\d+$/.test(url.pathname);
const states = {
    full: {prepare: () => {}, settled: (page) => page.waitForFunction(() => !document.querySelector("[aria-busy=true]"), undefined, {timeout: 15_000})},
    loading: {
        prepare: (page) => page.route(answers, () => {}),
        settled: async (page) => {
            await page.locator("h1").first().waitFor({state: "attached"});
            await page.locator(".skeleton[role=status]").first().waitFor({timeout: 1500}).catch(() => {});
        },
    },
    error: {
        prepare: (page) => page.route(answers, (route) => route.fulfill({status: 500, contentType: "application/json", body: JSON.stringify({error: {code: "internal", message: "The store can't be read"}})})),
        settled: (page) => page.locator("[role=alert]").first().waitFor({timeout: 1500}).catch(() => {}),
    },
};

/// What axe finds on `paths` in the given state, and how many of them show what is named.
async function checkAll(base, paths, {prepare, settled}, [theme, locale], what, shows) {
    const context = await stage.context({colorScheme: theme, locale});
    const page = await context.newPage();
    const found = [];
    let shown = 0;
    await prepare(page);
    for (const path of paths) {
        await page.goto(base + path);
        await page.locator("h1, .skeleton, [role=alert]").first().waitFor();
        await settled(page).catch(() => found.push(`${path}: still loading`));
        shown += Number(await page.locator(shows).count() > 0);
        found.push(...await check(page, `${path}, ${what}, ${theme}, ${locale}`));
    }
    await context.close();
    return {found, shown};
}

test("pages that are loading, and whose requests fail", async () => {
    const paths = pagesOf(search).filter((path) => whole || some.test(path));
    const all = [];
    for (const look of looks) {
        for (const [what, shows] of [["loading", ".skeleton[role=status]"], ["error", "[role=alert]"], ...(whole ? [["full", "h1"]] : [])]) {
            const {found, shown} = await checkAll(stage.url, paths, states[what], look, what, shows);
            all.push(...found);
            // Settings, sign-in and the form ask for little.
            assert.ok(shown >= paths.length * 0.6, `${what}: seen on ${shown} of ${paths.length} pages`);
        }
    }
    assert.deepEqual(all, []);
    stage.faults.splice(0);
});

test("pages of a daemon without workers, of an experiment without trials", async () => {
    const bare = await Stage.open({worker: false});
    try {
        for (const look of looks) assert.deepEqual((await checkAll(bare.url, ["experiments", "workers"], states.full, look, "empty", ".state-note")).found, []);
        const {experiment} = await bare.api("experiments", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({config: {
            name: "nothing yet", workers: "external", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, searcher: {name: "random", metric: "loss", max_length: {epochs: 3}, max_trials: 4}}})});
        const paths = ["experiments?q=nothing-like-this", ...pagesOf(experiment).slice(1)].filter((path) => whole || some.test(path));
        const all = [];
        for (const look of looks) {
            const {found, shown} = await checkAll(bare.url, paths, states.full, look, "empty", ".state-note, .muted");
            all.push(...found);
            assert.ok(shown >= paths.length * 0.6, `empty: seen on ${shown} of ${paths.length} pages`);
        }
        assert.deepEqual(all, []);
    } finally {
        await bare.close();
    }
});

test("in Chinese", async () => {
    const context = await stage.context({locale: "zh-CN"});
    const page = await context.newPage();
    const found = [];
    for (const path of ["experiments", `e/${search}`, `e/${search}/trials`, `e/${search}/t/1`, "workers", "new"]) {
        await page.goto(stage.url + path);
        await page.locator("h1").first().waitFor();
        found.push(...await check(page, path));
    }
    assert.deepEqual(found, []);
    await context.close();
});

test("every control is reached by Tab, in the order in which it is seen, with a visible focus", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}experiments`);
    await page.locator("[data-row]").first().waitFor();
    const seen = [];
    for (let n = 0; n < 40; n += 1) {
        await page.keyboard.press("Tab");
        const here = await page.evaluate(() => {
            const element = document.activeElement;
            if (!element || element === document.body) return null;
            const {top, left} = element.getBoundingClientRect();
            const style = getComputedStyle(element);
            return {name: element.textContent?.trim() || element.getAttribute("aria-label") || "", top, left, outline: parseFloat(style.outlineWidth), row: [...document.querySelectorAll("[data-row]")].indexOf(element.closest("[data-row]"))};
        });
        if (!here) break;
        seen.push(here);
    }
    assert.ok(seen.length >= 12, JSON.stringify(seen.map(({name}) => name)));
    for (const each of seen.slice(1)) assert.ok(each.outline >= 2, `${each.name}: ${each.outline}`);
    const rows = seen.map(({row}) => row).filter((row) => row >= 0);
    assert.deepEqual(rows, [...rows].sort((a, b) => a - b));
    await context.close();
});

test("at 320 pixels' width nothing but tables and plots scrolls sideways", async () => {
    const context = await stage.context({viewport: {width: 320, height: 700}});
    const page = await context.newPage();
    for (const path of pagesOf(search)) {
        await page.goto(stage.url + path);
        await page.locator("h1").first().waitFor();
        await page.waitForTimeout(200);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 320, `${path} is ${wide} wide`);
    }
    await context.close();
});
