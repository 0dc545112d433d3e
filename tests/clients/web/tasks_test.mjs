// Twelve things that users of searches do, by mouse, in at most four clicks each. The numbers are those of the command line.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {after, before, test} from "node:test";
import {Stage, until} from "./stage.mjs";

const most = 4;
let stage;
let search;
let failing;
let running;
const space = {x: {type: "double", minval: 0, maxval: 1}};
const script = (name, config, text) => stage.submitScript({name, hyperparameters: space, metrics: {loss: "loss {number}"}, ...config}, text);
const random = (trials) => ({name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: trials});
before(async () => {
    stage = await Stage.open({slots: 4});
    search = stage.submitDigits({trials: 12});
    await stage.untilEnded(search);
    // Two trials fail in the same way, and the search goes on.
    failing = script("failing", {max_restarts: 0, pause_on_failures: 0, searcher: random(3)}, `[ "$HPSEARCH_TRIAL_NUMBER" = 2 ] && sleep 600; echo 'KeyError: "width"' >&2; exit 3\n`);
    await until(async () => (await stage.api(`experiments/${failing}`)).common_failure?.attempts === 2, "two failures");
    running = script("running", {searcher: {...random(3), max_concurrent_trials: 2}}, "sleep 600\n");
    await until(async () => (await stage.api(`experiments/${running}`)).trials.RUNNING === 2, "two running trials");
});
after(() => stage?.close());

const shown = (number) => String(Number(number.toPrecision(4)));
const printed = (...words) => JSON.parse(stage.hpsearch(...words.map(String), "-o", "json"));

/// A page that counts the clicks of its user, who begins at the list of searches, or at the page `from`.
async function task(does, {from = () => "", ...options} = {}) {
    const context = await stage.context(options);
    const page = await context.newPage();
    await page.goto(`${stage.url}${from()}`);
    let clicks = 0;
    await does(page, async (what) => {
        clicks += 1;
        await what.click();
    });
    assert.ok(clicks <= most, `${clicks} clicks`);
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
}
const link = (page, name) => page.getByRole("link", {name, exact: true}).first();
const tab = (page, name) => page.getByRole("navigation").getByRole("link", {name, exact: true});

test("why was this trial stopped?", () => task(async (page, click) => {
    await click(link(page, "digits-adaptive-asha"));
    await click(page.locator(".legend a", {hasText: "Stopped"}));
    const first = page.locator("[data-row] [data-open]").first();
    const trial = Number(await first.textContent());
    await click(first);
    const why = (await page.locator(".why-text").textContent()).trim();
    assert.ok(stage.hpsearch("explain", String(search), String(trial)).includes(why), why);
}));

test("which hyperparameter matters?", () => task(async (page, click) => {
    await click(link(page, "digits-adaptive-asha"));
    await click(tab(page, "Importance"));
    const {hyperparameters} = printed("importance", search);
    const text = async () => page.locator("main").textContent();
    await until(async () => (await text()).includes(hyperparameters[0].name), "the names");
    for (const {share} of hyperparameters.slice(0, 3)) assert.ok((await text()).includes(`${Math.round(100 * share)}`), String(share));
}));

test("how do two searches compare?", () => task(async (page, click) => {
    for (const name of ["digits-adaptive-asha", "failing"]) await click(page.getByLabel(`Select ${name}`));
    await click(page.getByRole("button", {name: "2 selected"}));
    await click(page.getByRole("menuitem", {name: "Compare searches"}));
    const best = printed("show", search).best.metric;
    await page.locator("td", {hasText: shown(best)}).first().waitFor();
}));

test("search on in a narrower space", () => task(async (page, click) => {
    await click(link(page, "digits-adaptive-asha"));
    await click(tab(page, "Parallel"));
    await click(page.getByRole("link", {name: "Search here next"}));
    const file = page.getByLabel("Experiment file");
    await until(async () => (await file.inputValue()).includes("points_to_evaluate"), "the points of the best trials");
    const best = printed("best", search);
    await until(async () => (await file.inputValue()).includes(String(best.hparams.hidden)), "those of the best");
}));

test("the files of the best model", () => task(async (page, click) => {
    const best = printed("best", search);
    await click(link(page, "digits-adaptive-asha"));
    await click(page.locator(".figures").getByRole("link", {name: `Trial ${best.trial}`, exact: true}));
    const [download] = await Promise.all([page.waitForEvent("download"), click(page.locator(".checkpoint-list").getByRole("button", {name: "Download"}).first())]);
    assert.match(download.suggestedFilename(), new RegExp(`^checkpoint-${search}-${best.trial}-`));
}, {acceptDownloads: true}));

test("the traceback of a failing trial", () => task(async (page, click) => {
    const said = '2 attempts failed in the same way: exit status 3: KeyError: "width"';
    await page.locator("tr", {hasText: "failing"}).getByText(said).waitFor();
    await click(link(page, "failing"));
    await page.locator(".note.tone-bad", {hasText: said}).waitFor();
    assert.equal(await page.getByText(/left$/).count(), 0, "failures give no time left");
    await click(page.getByRole("link", {name: /shows the end of its log/}));
    await page.locator(".failure .strong", {hasText: 'KeyError: "width"'}).waitFor();
    assert.match(stage.hpsearch("show", String(failing)), /2 attempts failed in the same way, trial \d last: exit status 3: KeyError: "width"/);
}));

test("which slot idles, and why?", () => task(async (page, click) => {
    const wide = script("wide", {searcher: random(1), resources: {slots_per_trial: 4}}, "sleep 600\n");
    const waits = async () => (await stage.api(`experiments/${wide}`)).waits_for;
    await until(waits, "the reason why it waits");
    await click(link(page, "Workers"));
    await page.getByText("Slots are free, but what waits cannot use them:").waitFor();
    const why = await waits();
    await page.locator("li", {hasText: `wide: ${why}`}).waitFor();
    assert.ok(stage.hpsearch("list").includes(`experiment ${wide} waits: ${why}`), why);
    stage.hpsearch("kill", String(wide));
}));

test("raise the number of trials", () => task(async (page, click) => {
    await click(link(page, "running"));
    await click(page.getByRole("button", {name: "More", exact: true}));
    await click(page.getByRole("menuitem", {name: "Limits…"}));
    await page.getByRole("dialog").getByLabel("Trials", {exact: false}).first().fill("5");
    await click(page.getByRole("dialog").locator("button[type=submit]"));
    await until(() => printed("config", running).searcher.max_trials === 5, "the new limit");
}));

test("cancel one trial", () => task(async (page, click) => {
    await click(page.locator(".story").getByRole("link", {name: "0", exact: true}).first());
    await click(page.locator("[data-actions=trial]"));
    await click(page.getByRole("menuitem", {name: "Cancel…"}));
    await click(page.getByRole("dialog").locator("button[type=submit]"));
    await until(() => printed("show", running, 0).state === "CANCELED", "the end of the trial");
}, {from: () => `e/${running}`}));

test("pause and resume", () => task(async (page, click) => {
    await click(link(page, "running"));
    await click(page.getByRole("button", {name: "Pause", exact: true}));
    await page.locator(".state-mark.large", {hasText: "Paused"}).waitFor();
    assert.equal(printed("show", running).state, "PAUSED");
    await click(page.getByRole("button", {name: "Resume", exact: true}));
    await page.locator(".state-mark.large", {hasText: "Active"}).waitFor();
}));

test("share a filtered view", () => task(async (page, click) => {
    await click(link(page, "digits-adaptive-asha"));
    await click(tab(page, "Trials"));
    const where = "trial<5";
    await page.getByLabel("Filter by a condition").fill(where);
    await page.keyboard.press("Enter");
    await page.waitForURL(/where=/);
    const matching = printed("trials", search, "--where", where).trials.length;
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText(`${matching} of 12 trials`).waitFor();
}));

test("numbers as CSV, and a picture", () => task(async (page, click) => {
    await click(link(page, "digits-adaptive-asha"));
    await click(tab(page, "History"));
    const saved = async (name) => {
        const [download] = await Promise.all([page.waitForEvent("download"), click(page.getByRole("button", {name, exact: true}))]);
        return readFileSync(await download.path());
    };
    const csv = (await saved("CSV")).toString();
    assert.ok(csv.includes(String(printed("best", search).best_metric)), csv);
    assert.equal((await saved("PNG")).subarray(1, 4).toString(), "PNG");
}, {acceptDownloads: true}));
