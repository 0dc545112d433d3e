// The log page of trainings that write much: its memory has a bound, and all of the log can be read.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {Stage, until} from "./stage.mjs";
import {heldLines, isChromium, mostLines, weigh} from "./weigh.mjs";

const written = 24_000;

let stage;
let chatty;
const submit = (name, script) => stage.submitScript({name, hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1}}, script);
before(async () => {
    stage = await Stage.open();
    // 4,000 lines a second, then five.
    chatty = submit("chatty", `awk 'BEGIN {
        while (n < ${written}) { for (i = 0; i < 400; i++) print "line " n++ " of a training that writes much"; system("sleep 0.1") }
        while (1) { print "line " n++ " of a slow training"; system("sleep 0.2") } }'\n`);
});
after(() => stage?.close());

const noFaults = () => assert.deepEqual(stage.faults.splice(0), []);

async function openLog(context, id, more = "") {
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${id}/t/0/log${more}`);
    await page.locator(".log-line").first().waitFor();
    return page;
}

/// The numbers of the lines that can be seen and of those in the document, from top to bottom.
const seen = (page) => page.evaluate(() => {
    const box = document.querySelector(".log-box").getBoundingClientRect();
    const lines = [...document.querySelectorAll(".log-line")];
    const inside = lines.filter((line) => line.getBoundingClientRect().bottom > box.top && line.getBoundingClientRect().top < box.bottom);
    const number = (line) => Number(/line (\d+)/.exec(line.querySelector(".log-text").textContent)?.[1]);
    return {numbers: inside.map(number), all: lines.map(number)};
});
async function assertBounded(page) {
    const held = await heldLines(page);
    assert.ok(held <= mostLines + 1, `${held} lines`);
}
const inOrder = (numbers) => numbers.forEach((number, index) => assert.equal(number, numbers[0] + index, `lines ${numbers.join(" ")}`));
const lastSeen = async (page) => (await seen(page)).numbers.at(-1);
const scrollTo = (page, top) => page.evaluate((to) => { document.querySelector(".log-box").scrollTop = to; }, top);
const bottom = 1e9;

/// Scrolls to an edge of the window, and waits until the lines that are seen there have neighbours or are the log's edge.
async function scrollToEdge(page, top, isEdge) {
    const before = await seen(page);
    const edgeHeld = top === 0 ? before.all[0] : before.all.at(-1);
    await scrollTo(page, top);
    await until(async () => {
        const now = await seen(page);
        return now.numbers.length > 0 && (isEdge(now) || (top === 0 ? now.all[0] < Math.min(edgeHeld, now.numbers[0]) : now.all.at(-1) > Math.max(edgeHeld, now.numbers.at(-1))));
    }, `the part at ${top}`);
    return seen(page);
}

test("a log page that stays open on a training that writes much doesn't grow", async (it) => {
    const context = await stage.context();
    const page = await openLog(context, chatty);
    await until(async () => (await lastSeen(page)) > 2 * mostLines, "the first lines");
    const early = isChromium ? await weigh(page) : undefined;
    await until(async () => (await lastSeen(page)) >= written, "the last lines");
    if (isChromium) {
        const late = await weigh(page);
        it.diagnostic(`${(early.heap / 1e6).toFixed(2)} MB early, ${(late.heap / 1e6).toFixed(2)} MB late; nodes ${early.nodes}, ${late.nodes}`);
        assert.ok(late.heap <= early.heap + 3e6, `${early.heap} bytes early, ${late.heap} late`);
        assert.ok(late.nodes <= early.nodes * 1.2 + 200, `${early.nodes} nodes early, ${late.nodes} late`);
    }
    inOrder((await seen(page)).numbers);
    await assertBounded(page);
    noFaults();
    await context.close();
});

test("a log page holds 4,000,000 letters of long lines at most", async (it) => {
    // 400 kB a second, without end.
    const long = submit("long-lines", `awk 'BEGIN { for (text = "long"; length(text) < 8000;) text = text text
        while (1) { for (i = 0; i < 25; i++) print "line " n++, text; system("sleep 0.5") } }'\n`);
    const context = await stage.context();
    const page = await openLog(context, long);
    await until(async () => (await heldLines(page)) > 400, "400 lines");
    const then = await lastSeen(page);
    await until(async () => (await lastSeen(page)) > then + 200, "200 more lines");
    if (isChromium) {
        const {heap} = await weigh(page);
        it.diagnostic(`${(heap / 1e6).toFixed(2)} MB`);
        assert.ok(heap < 24e6, `${heap} bytes`);
    }
    const held = await heldLines(page);
    assert.ok(held > 400 && held <= 500, `${held} lines`);
    stage.hpsearch("kill", String(long));
    noFaults();
    await context.close();
});

for (const wrap of ["", "?wrap=yes"]) {
    test(`the user scrolls ${wrap ? "far back in wrapped lines" : "to the beginning of the log"} and returns to its end`, async () => {
        const context = await stage.context();
        const page = await openLog(context, chatty, wrap);
        await until(async () => (await lastSeen(page)) >= written, "the last lines");
        // Wrapped lines are slow to lay out: two windows of them are enough.
        const isBeginning = ({numbers}) => (wrap ? numbers[0] < written - 2 * mostLines : numbers[0] === 0);
        let now = await seen(page);
        for (let parts = 0; !isBeginning(now); parts += 1) {
            assert.ok(parts < 100, "the older lines are reached");
            const {all} = now;
            now = await scrollToEdge(page, 0, isBeginning);
            inOrder(now.numbers);
            await assertBounded(page);
            if (wrap) assert.ok(now.numbers[0] >= all[0] - 1 && now.numbers[0] <= all[0] + 60, `line ${all[0]} was first, then line ${now.numbers[0]} is seen`);
        }
        // The training writes on, but the user reads.
        await new Promise((wake) => setTimeout(wake, 1000));
        assert.deepEqual((await seen(page)).numbers, now.numbers);
        const isEnd = ({numbers}) => numbers.at(-1) >= written;
        for (let parts = 0; !isEnd(now); parts += 1) {
            assert.ok(parts < 100, "the end of the log is reached");
            now = await scrollToEdge(page, bottom, isEnd);
            inOrder(now.numbers);
            await assertBounded(page);
        }
        await scrollTo(page, bottom);
        const then = await lastSeen(page);
        await until(async () => (await lastSeen(page)) > then + 3, "the next lines");
        // One click leads back to the end.
        await scrollTo(page, 0);
        await scrollToEdge(page, 0, () => true);
        await page.getByRole("button", {name: "Follow"}).click();
        await until(async () => (await lastSeen(page)) > then + 8, "the end of the log");
        noFaults();
        await context.close();
    });
}

test("a page that is drawn again before the event of a scroll doesn't undo the scroll", async () => {
    const context = await stage.context();
    for (const wrap of ["", "?wrap=yes"]) {
        const page = await openLog(context, chatty, wrap);
        await until(async () => (await lastSeen(page)) >= written, "the last lines");
        await page.evaluate(async () => {
            document.querySelector(".log-box").scrollTop = 0;
            // A search draws the page again, in the same frame.
            const field = document.querySelector("[data-search]");
            field.value = "a text that no line has";
            field.dispatchEvent(new Event("input", {bubbles: true}));
            await new Promise((wake) => requestAnimationFrame(() => requestAnimationFrame(wake)));
        });
        const {numbers} = await seen(page);
        assert.ok(numbers.at(-1) < written - 100, `the user scrolled to the beginning and sees lines ${numbers.join(" ")}`);
        await page.getByRole("button", {name: "Follow"}).waitFor();
        await page.close();
    }
    noFaults();
    await context.close();
});

test("an address and a search of the whole log lead to a line within the log", async () => {
    const context = await stage.context();
    const at = Array.from({length: 7000}, (_, n) => `line ${n} of a training that writes much\n`.length).reduce((sum, length) => sum + length);
    const page = await openLog(context, chatty, `?at=${at}`);
    await page.locator(".log-line.marked", {hasText: "line 7000 "}).waitFor();
    const {numbers} = await seen(page);
    assert.ok(numbers.includes(7000), `lines ${numbers.join(" ")}`);
    // From there, a search of the whole log leads to another part of it.
    await page.getByLabel("Search the log").fill("line 20000 of");
    await page.getByRole("button", {name: "Search the whole log"}).click();
    await page.locator(".log-hit", {hasText: "line 20000 of"}).click();
    await until(async () => (await seen(page)).numbers.includes(20_000), "line 20000");
    await assertBounded(page);
    noFaults();
    await context.close();
});

test("a whole log is downloaded", async () => {
    const context = await stage.context({acceptDownloads: true});
    const page = await openLog(context, chatty);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Download"}).click()]);
    assert.equal(download.suggestedFilename(), "trial-0-stdout.log");
    const path = join(stage.folder, "whole.log");
    await download.saveAs(path);
    const lines = readFileSync(path, "utf8").split("\n").slice(0, written);
    assert.equal(lines.length, written);
    lines.forEach((line, index) => assert.equal(line, `line ${index} of a training that writes much`));
    noFaults();
    await context.close();
});

test("a trial that failed: its page begins with the last line of its log, and the log page opens where it stopped", async () => {
    const id = stage.submitScript({name: "fails", max_restarts: 0, hyperparameters: {x: {type: "double", minval: 0, maxval: 1}},
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1}},
    `printf 'starts\\n'; printf 'Traceback (most recent call last):\\n  File "train.py", line 7, in <module>\\nKeyError: "width"\\n' >&2; exit 3\n`);
    await stage.untilQuiet(id);
    const page = await stage.context().then((context) => context.newPage());
    await page.goto(`${stage.url}experiments`);
    assert.match(await page.locator("tr", {hasText: "fails"}).locator(".row-sub.bad").textContent(), /every trial failed/);
    await page.goto(`${stage.url}e/${id}`);
    await page.locator(".note.tone-bad", {hasText: "every trial failed"}).getByRole("link", {name: "Trial 0 shows the end of its log."}).click();
    const failure = page.locator(".failure");
    assert.equal(await failure.locator(".strong").textContent(), 'KeyError: "width"');
    await failure.getByText("Attempt 1: exit status 3.").waitFor();
    assert.equal(await failure.locator("pre").textContent(), 'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\nKeyError: "width"');
    await page.goto(`${stage.url}e/${id}/t/0/log`);
    await page.locator(".log-line", {hasText: "KeyError"}).waitFor();
    assert.deepEqual(await page.locator(".log-offset").allTextContents(), ["1", "2", "3"], "lines have their numbers");
    await page.getByRole("button", {name: "stdout"}).click();
    await page.locator(".log-line", {hasText: "starts"}).waitFor();
    noFaults();
});
