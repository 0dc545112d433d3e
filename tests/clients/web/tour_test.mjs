// The ten questions of docs/tour-web.md: a person who reads only the pages answers each, and the command line answers the
// same. HPSEARCH_WEB_PICTURES=docs/tour also writes the pictures of that page.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {copyFileSync, mkdirSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {Stage, digits, picture, readText} from "./stage.mjs";

let stage, page, search;
const listed = (name, ...words) => {
    const told = JSON.parse(stage.hpsearch(name, ...words, "--output", "json"));
    return Array.isArray(told) ? told : told[name];
};
const trials = () => listed("trials", search);
const numberIn = (text) => Number(text.replace(/[^0-9.eE+-]/g, ""));
const near = (shown, exact, what) => assert.ok(Math.abs(shown - exact) <= 1e-3 * Math.max(1, Math.abs(exact)), `${what}: the page shows ${shown}, the command line ${exact}`);

async function open(path) {
    await page.goto(`${stage.url}${path}`);
    await page.locator("main").waitFor();
}

/// The sentence below the page's plot.
async function sentence() {
    const caption = page.locator("figure[data-plot] figcaption").first();
    await caption.waitFor();
    return (await caption.textContent()).trim();
}

before(async () => {
    stage = await Stage.open({slots: 2});
    // The example, smaller: forty configurations, rungs at 1, 3, 9 and 27 epochs.
    const folder = join(stage.folder, "digits");
    mkdirSync(folder);
    copyFileSync(join(dirname(digits("adaptive_asha")), "train.py"), join(folder, "train.py"));
    const file = join(folder, "digits.yaml");
    writeFileSync(file, readText(digits("adaptive_asha")).replace("max_trials: 100", "max_trials: 40").replace("{epochs: 81}", "{epochs: 27}"));
    search = stage.submit(file);
    await stage.untilEnded(search, 400_000);
    page = await (await stage.context({colorScheme: "light"})).newPage();
}, {timeout: 450_000});

after(async () => {
    await stage?.close();
    assert.deepEqual(stage?.faults ?? [], []);
});

test("1. Which configuration is the best so far?", async () => {
    await open("");
    await page.getByRole("link", {name: "digits-adaptive-asha"}).first().click();
    await page.locator(".figures .figure-value").first().waitFor();
    await page.locator(".hparams, .figures + *").first().waitFor();
    const shown = await page.locator(".figures .figure-value").first().textContent();
    const best = JSON.parse(stage.hpsearch("best", search, "--output", "json"));
    near(numberIn(shown), best.best_metric, "the best metric");
    await page.getByRole("link", {name: `Trial ${best.trial}`}).first().waitFor();
    for (const name of Object.keys(best.hparams)) await page.locator("main").getByText(name, {exact: true}).first().waitFor();
    await picture(page, "1-overview");
});

test("2. Why was a trial stopped?", async () => {
    const stopped = trials().find((trial) => trial.state === "STOPPED");
    await open(`e/${search}/t/${stopped.trial}`);
    const why = (await page.locator(".why-text").textContent()).trim();
    const told = stage.hpsearch("explain", search, stopped.trial);
    assert.ok(told.toLowerCase().includes(why.toLowerCase()), `the page: ${why}\nthe command line: ${told}`);
    await page.waitForSelector("canvas[data-drawn]");
    await picture(page, "2-why");
});

test("3. How does the search decide which trials continue?", async () => {
    await open(`e/${search}/rungs`);
    const shown = await sentence();
    const ladder = await stage.api(`experiments/${search}/rungs`);
    const rungs = JSON.parse(stage.hpsearch("show", search, "--output", "json")).rungs;
    const counts = shown.match(/[0-9]+/g).map(Number);
    assert.equal(counts[0], ladder.brackets.reduce((sum, bracket) => sum + bracket.rungs[0].results.length, 0));
    assert.equal(counts[0], rungs[0].reached, shown);
    assert.equal(counts[1], rungs.at(-1).reached, shown);
    await picture(page, "3-rungs");
});

test("4. Which hyperparameter matters most?", async () => {
    await open(`e/${search}/importance`);
    const answer = JSON.parse(stage.hpsearch("importance", search, "--output", "json"));
    if (answer.hyperparameters.length > 0) {
        const order = answer.hyperparameters.map((one) => one.name);
        const said = await sentence();
        assert.ok(said.includes(order[0]), `${said}: the first is ${order[0]}`);
    } else {
        await page.getByText(answer.reason).first().waitFor();
    }
    await picture(page, "4-importance");
});

test("5. How do the best trials learn, compared with the others?", async () => {
    await open(`e/${search}/curves`);
    const said = await sentence();
    const best = JSON.parse(stage.hpsearch("best", search, "--output", "json"));
    assert.match(said, new RegExp(`by trial ${best.trial} at`));
    await picture(page, "5-curves");
});

test("6. Which slot idled, and how busy were they?", async () => {
    await open(`e/${search}/timeline`);
    const said = await sentence();
    const share = Number(/([0-9.]+)\s?%/.exec(said)[1]);
    const shown = JSON.parse(stage.hpsearch("show", search, "--output", "json"));
    const exact = 100 * shown.slot_seconds / (2 * (shown.ended_at - (shown.first_lease_at ?? shown.created_at)));
    assert.ok(Math.abs(share - exact) <= 2, `the page: ${said}; the command line: ${exact.toFixed(1)} %`);
    await picture(page, "6-timeline");
});

test("7. What did a trial print last?", async () => {
    const best = JSON.parse(stage.hpsearch("best", search, "--output", "json"));
    const last = stage.hpsearch("logs", search, best.trial).trim().split("\n").at(-1);
    await open(`e/${search}/t/${best.trial}/log`);
    await page.locator(".log-text").last().waitFor();
    const shown = await page.locator(".log-text").allTextContents();
    assert.ok(shown.map((line) => line.trim()).includes(last.trim()), `${last} is among ${shown.slice(-3).join(" | ")}`);
    await picture(page, "7-log");
});

test("8. How do two trials differ?", async () => {
    const [first, second] = trials().filter((trial) => trial.best_metric !== null).slice(0, 2);
    await open(`e/${search}/compare?t=${first.trial},${second.trial}`);
    await page.locator("table.compare").waitFor();
    const text = await page.locator("table.compare").textContent();
    for (const trial of [first, second]) {
        assert.ok(text.includes(`Trial ${trial.trial}`), text);
        for (const name of Object.keys(trial.hparams)) assert.ok(text.includes(name), `${name} is in the table`);
    }
    await picture(page, "8-compare");
});

test("9. How much training did early stopping save?", async () => {
    await open(`e/${search}`);
    await page.locator(".figures .figure-value").first().waitFor();
    const values = await page.locator(".figures .figure-value").allTextContents();
    const shown = JSON.parse(stage.hpsearch("show", search, "--output", "json"));
    const share = 100 * shown.length_trained / shown.length_full;
    assert.ok(values.some((value) => value.includes("%") && Math.abs(numberIn(value) - share) <= 0.6), `${values.join(", ")}: ${share} %`);
    await picture(page, "9-savings");
});

test("10. Is there room for another search?", async () => {
    await open("workers");
    await page.locator(".workers-figures").waitFor();
    const values = await page.locator(".workers-figures .figure-value").allTextContents();
    const free = listed("workers").reduce((sum, worker) => sum + worker.slots - worker.slots_held, 0);
    assert.equal(numberIn(values[2]), free, values.join(", "));
    await picture(page, "10-workers");
});
