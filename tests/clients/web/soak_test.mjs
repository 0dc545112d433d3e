// Pages that stay open on a live search whose daemon is killed again and again: no error, no growth, and in the end the
// numbers of the daemon. HPSEARCH_WEB_SOAK=SECONDS sets the duration; the default is 10. From five minutes on, the memory at the
// end is compared with the memory after a third of the time, at most twenty minutes: by then the window of the log page is full.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Stage} from "./stage.mjs";
import {heldLines, mostLines, weigh} from "./weigh.mjs";

const seconds = Number(process.env.HPSEARCH_WEB_SOAK ?? 10);
const isLong = seconds >= 300;
const settled = Math.min(1200, seconds / 3);
const sampleEvery = Math.max(5, Math.min(60, seconds / 30));
const killEvery = Math.max(4, Math.min(300, seconds / 6));

let stage;
before(async () => { stage = await Stage.open({slots: 6}); });
after(() => stage?.close());

const space = {x: {type: "double", minval: 0, maxval: 1}, kind: {type: "categorical", vals: ["a", "b", "c"]}};

/// Trainings that report and write lines for as long as the soak takes: about 200 changes a second.
const submitLong = () => stage.submitScript({name: "long", hyperparameters: space, max_restarts: 100, searcher: {name: "random", metric: "loss", max_length: {batches: 1_000_000_000}, max_trials: 4}},
    "i=0\nwhile :; do i=$((i+1)); echo \"HPSEARCH {\\\"step\\\": $i, \\\"loss\\\": $((1000000 / (i + 10)))}\"; echo line $i; [ $((i % 5)) -eq 0 ] && sleep 0.1; done\n");

/// Short trainings, one after another: about two trials a second.
const submitShort = () => stage.submitScript({name: "short", hyperparameters: space, searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1_000_000, max_concurrent_trials: 2}},
    "sleep 0.7\necho \"HPSEARCH {\\\"step\\\": 1, \\\"loss\\\": $$}\"\n");

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test(`pages stay right and light over ${seconds} seconds of a live search with restarts of the daemon`, async () => {
    const long = submitLong();
    const short = submitShort();
    const context = await stage.context();
    context.setDefaultTimeout(120_000);  // For busy machines: what is asserted is that it happens.
    const tabs = [];
    for (const path of ["experiments", `e/${long}`, `e/${long}/curves`, `e/${long}/t/0/log`, `e/${short}`, `e/${short}/trials`, "workers"]) {
        const page = await context.newPage();
        await page.goto(stage.url + path);
        await page.locator("h1").first().waitFor();
        tabs.push({path, page, samples: []});
    }
    const began = Date.now();
    const age = () => (Date.now() - began) / 1000;
    let sampled = 0;
    let killed = 0;
    let kills = 0;
    while (age() < seconds || kills === 0) {
        if (age() - killed >= killEvery && (kills === 0 || seconds - age() > 3)) {
            killed = age();
            kills += 1;
            await stage.killDaemon();
            await tabs[0].page.getByText(/Connection lost/).waitFor();
            await stage.startDaemon();
            for (const {page, path} of tabs) await page.getByText(/Connection lost/).waitFor({state: "hidden"}).catch(() => assert.fail(`${path} is without the daemon`));
        }
        if (age() - sampled >= sampleEvery) {
            sampled = age();
            for (const tab of tabs) tab.samples.push({age: age(), ...await weigh(tab.page)});
            const sum = (name) => tabs.reduce((all, tab) => all + tab.samples.at(-1)[name], 0);
            console.log(`${age().toFixed(0)} s: ${(sum("heap") / 1e6).toFixed(1)} MB, ${sum("nodes")} nodes, ${sum("listeners")} listeners; ${tabs.map(({samples}) => (samples.at(-1).heap / 1e6).toFixed(1)).join(" ")}`);
        }
        await new Promise((wake) => setTimeout(wake, 250));
    }
    assert.ok(kills >= 1, "the daemon was killed");

    const held = await heldLines(tabs[3].page);
    assert.ok(held <= mostLines + 1 && (!isLong || held >= mostLines), `the log page holds ${held} lines`);

    // The end: without a reload, the pages show what the command line prints.
    for (const id of [long, short]) stage.hpsearch("kill", String(id));
    for (const id of [long, short]) await stage.untilEnded(id);
    for (const [id, tab] of [[long, tabs[1]], [short, tabs[4]]]) {
        await tab.page.locator(".state-mark.large", {hasText: "Canceled"}).waitFor();
        const {best, trials, trials_total: total} = JSON.parse(stage.hpsearch("show", String(id), "-o", "json"));
        await tab.page.locator(".figures").first().getByRole("link", {name: `Trial ${best.trial}`}).waitFor();
        const shown = await tab.page.locator(".legend").first().textContent();
        for (const [state, word] of [["COMPLETED", "Completed"], ["CANCELED", "Canceled"], ["ERROR", "Failed"]]) {
            if (trials[state]) assert.match(shown.replaceAll(",", ""), new RegExp(`${word} ?${trials[state]}\\b`), tab.path);
        }
        if (id === short) await tabs[5].page.getByText(`${total.toLocaleString("en-GB")} trials`).first().waitFor();
    }
    assert.deepEqual(stage.faults.splice(0), []);

    // Two idle minutes are not needed to see whether idle pages work.
    const before = await Promise.all(tabs.map(({page}) => weigh(page)));
    await new Promise((wake) => setTimeout(wake, isLong ? 20_000 : 1000));
    const later = await Promise.all(tabs.map(({page}) => weigh(page)));
    const busy = tabs.map((_, index) => (later[index].busy - before[index].busy) / (later[index].at - before[index].at));
    console.log(`busy when idle: ${busy.map((share) => `${(share * 100).toFixed(1)} %`).join(" ")}; the daemon was killed ${kills} times`);
    if (isLong) {
        for (const {path, samples} of tabs) {
            const early = Math.max(...samples.filter((each) => each.age <= settled).map(({heap}) => heap));
            const late = median(samples.slice(-5).map(({heap}) => heap));
            assert.ok(late <= early * 1.1 + 1e6, `${path}: ${(early / 1e6).toFixed(1)} MB after ${settled} s, ${(late / 1e6).toFixed(1)} MB at the end`);
            console.log(`${path}: ${(early / 1e6).toFixed(2)} MB early, ${(late / 1e6).toFixed(2)} MB late; nodes ${samples.at(-1).nodes}`);
        }
    }
    await context.close();
});
