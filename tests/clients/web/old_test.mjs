// The pages in Firefox ESR, which is older than other browsers: find a trial and its log, submit by the form, sign in.
// And in a browser without Web Locks, as on an address without TLS: tabs don't share one stream.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {firefoxPath, launchChromium, launchFirefox} from "./browsers.mjs";
import {digits, readText, Stage, until} from "./stage.mjs";

const skip = firefoxPath ? false : "Firefox is missing: install Debian's firefox-esr (scripts/setup test)";
let stage;
let search;

before(async () => {
    stage = await Stage.open();
    search = stage.submitDigits({trials: 6});
    await stage.untilEnded(search);
    if (!skip) stage.launched = await launchFirefox();
});
after(() => stage?.close());

test("Firefox shows the list, an experiment, its table, a trial and its log", {skip}, async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(stage.url);
    await page.getByRole("link", {name: "digits-adaptive-asha"}).click();
    await page.locator(".state-mark.large", {hasText: "Completed"}).waitFor();
    await page.locator("canvas[data-drawn]").first().waitFor();
    await page.locator("nav.tabs").getByRole("link", {name: "Trials", exact: true}).click();
    const best = JSON.parse(stage.hpsearch("best", String(search), "-o", "json")).trial;
    await page.locator("[data-row] [data-open]").getByText(String(best), {exact: true}).click();
    await page.getByRole("heading", {name: `Trial ${best}`}).waitFor();
    await page.locator("figure canvas[data-drawn]").first().waitFor();
    await page.getByRole("link", {name: "Log", exact: true}).click();
    const last = stage.hpsearch("logs", String(search), String(best)).trimEnd().split("\n").at(-1);
    await page.locator(".log-line", {hasText: last.trim()}).waitFor();
    for (const tab of ["curves", "rungs", "parallel", "timeline", "history"]) {
        await page.goto(`${stage.url}e/${search}/${tab}`);
        await page.locator("canvas[data-drawn]").first().waitFor();
    }
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("Firefox submits by the form, and the list shows it without a reload", {skip}, async () => {
    const context = await stage.context();
    const list = await context.newPage();
    await list.goto(`${stage.url}experiments`);
    await list.locator("[data-row]").first().waitFor();
    const page = await context.newPage();
    await page.goto(`${stage.url}new`);
    await page.getByLabel("Name", {exact: true}).first().fill("by-firefox");
    const text = page.getByLabel("Experiment file");
    await until(async () => /name: by-firefox/.test(await text.inputValue()), "the form's name in the text");
    await text.fill(readText(digits("random")).replace(/name: digits-random/, "name: by-firefox").replace(/entrypoint: .*/, "entrypoint: \"true\""));
    await until(async () => (await page.getByLabel("Metric").inputValue()) === "val_accuracy", "the text's metric in the form");
    await page.getByRole("button", {name: "Submit"}).click();
    await page.waitForURL(/\/e\/\d+$/);
    await page.getByRole("heading", {name: "by-firefox", level: 1}).waitFor();
    await list.bringToFront();
    await list.getByRole("link", {name: "by-firefox"}).waitFor();
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("Firefox signs in with a token, and out", {skip}, async () => {
    const locked = await Stage.open({worker: false, locked: true});
    try {
        locked.launched = stage.launched;
        const token = /hps_[\w-]+/.exec(locked.hpsearch("token", "create", "--name", "tester", "--role", "admin"))[0];
        const context = await locked.context();
        const page = await context.newPage();
        await page.goto(`${locked.url}experiments`);
        await page.getByLabel("Token").fill(token);
        await page.getByRole("button", {name: "Sign in"}).click();
        await page.getByRole("heading", {name: "Experiments", level: 1}).waitFor();
        await page.reload();
        await page.getByRole("link", {name: "Settings"}).click();
        await page.getByRole("button", {name: "Sign out"}).click();
        await page.getByRole("heading", {name: "Sign in"}).waitFor();
        assert.deepEqual(locked.faults.splice(0), []);
        await context.close();
    } finally {
        locked.launched = undefined;
        await locked.close();
    }
});

test("without Web Locks each visible tab has one stream, and a hidden one has none", async () => {
    const open = new Map();
    const base = await stage.behind("", (question, answer, url) => {
        if (!url.startsWith("/api/v1/stream")) return false;
        open.set(answer, url);
        answer.on("close", () => open.delete(answer));
        return false;
    });
    const chromium = await launchChromium();
    try {
        const context = await chromium.newContext();
        await context.addInitScript(() => {
            Object.defineProperty(Navigator.prototype, "locks", {get: () => undefined});
            let state = "visible";
            Object.defineProperty(Document.prototype, "visibilityState", {get: () => state});
            Object.defineProperty(Document.prototype, "hidden", {get: () => state === "hidden"});
            globalThis.becomes = (now) => {
                state = now;
                document.dispatchEvent(new Event("visibilitychange"));
            };
        });
        const pages = [];
        for (const path of ["experiments", "workers", `e/${search}`]) {
            const page = await context.newPage();
            await page.goto(base + path);
            await page.locator("h1").first().waitFor();
            pages.push(page);
        }
        // Each asks for what it shows, and for nothing that another tab shows.
        const shown = {experiments: /experiments$/, experiment: /experiment%3A\d+/, workers: /workers/};
        const tabs = () => [...open.values()].map((url) => Object.keys(shown).filter((name) => shown[name].test(url)).join("+")).sort().join(" ");
        const all = "experiment experiments workers";
        await until(() => tabs() === all, "one stream for each tab").catch((fault) => assert.fail(`${fault.message}: ${[...open.values()].join(" ")}`));
        await pages[0].evaluate(() => globalThis.becomes("hidden"));
        await until(() => tabs() === "experiment workers", "the hidden tab's end of its stream");
        stage.submitScript({name: "while-hidden", hyperparameters: {x: 1}, searcher: {name: "single", metric: "loss", max_length: {epochs: 1}}}, "sleep 600\n");
        await pages[0].evaluate(() => globalThis.becomes("visible"));
        await pages[0].getByRole("link", {name: "while-hidden"}).waitFor();
        await until(() => tabs() === all, "the stream of the tab that is seen again");
    } finally {
        await chromium.close();
    }
});
