// axe-core on every page, in both themes, with data, empty and with an error: no violation of WCAG 2.2 AA.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {after, before, test} from "node:test";
import {Stage, webRequire} from "./stage.mjs";

const axe = readFileSync(webRequire.resolve("axe-core/axe.min.js"), "utf8");
let stage;
let search;

before(async () => {
    stage = await Stage.open();
    search = stage.submitDigits({trials: 9});
    stage.submitScript({name: "failing", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, max_restarts: 0,
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1}}, "echo broken >&2; exit 3\n");
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
    `e/${id}/timeline`, `e/${id}/checkpoints`, `e/${id}/events`, `e/${id}/config`, `e/${id}/t/1`, `e/${id}/t/1/log`, `e/${id}/compare?t=1,2,3`, "workers", "workers/1", "new", "settings", "login"];

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
    assert.deepEqual(found, []);
    await context.close();
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
