// What pages of an experiment share by the address: filters, ranges, a part of the time. Tables that the daemon sorts.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Stage, until} from "./stage.mjs";

const metricOf = (trial) => trial.best_metric ?? -1;
let stage;
let search;
let trials;

before(async () => {
    stage = await Stage.open();
    search = stage.submitDigits({trials: 24});
    await stage.untilEnded(search);
    trials = (await stage.api(`experiments/${search}/trials?limit=500`)).trials;
    // The worker is out of use for a moment, so that the timeline has something to hatch.
    const worker = (await stage.api("workers")).workers[0].id;
    for (const verb of ["quarantine", "release"]) await stage.api(`workers/${worker}/${verb}`, {method: "POST", headers: {"Content-Type": "application/json"}, body: verb === "quarantine" ? '{"why":"test"}' : "{}"});
});
after(() => stage?.close());

async function open(path, options) {
    const context = await stage.context(options);
    const page = await context.newPage();
    await page.goto(`${stage.url}${path}`);
    return page;
}
const sentence = async (page) => (await page.locator("figure[data-plot] figcaption").first().textContent()).trim();
const choice = (page, name) => page.locator("label.plot-choose", {hasText: new RegExp(`^${name}`)}).locator("select");
const tab = (page, name) => page.locator("nav.tabs").getByRole("link", {name, exact: true}).click();

test("the best share and the longest rung go along from tab to tab, and mean the same trials everywhere", async () => {
    const ladder = await stage.api(`experiments/${search}/columns?fields=trial,result,rung&length=1`);
    const [numbers, metrics, rungs] = ladder.columns;
    // Larger is better; a share of the trials that are compared counts from the best down.
    const compared = numbers.map((_, row) => row).filter((row) => metrics[row] !== null);
    const best = [...compared].sort((a, b) => metrics[b] - metrics[a] || a - b).slice(0, Math.ceil(compared.length * 0.5));
    const kept = best.filter((row) => rungs[row] !== null && rungs[row] >= 1).map((row) => numbers[row]);
    assert.ok(kept.length > 0 && kept.length < best.length, "the rung filter leaves something out");
    const page = await open(`e/${search}/parallel?len=1`);
    await choice(page, "Trials").selectOption("50");
    await choice(page, "Reached").selectOption("1");
    await page.getByText(`${kept.length} of ${compared.length} trials`).first().waitFor();
    await tab(page, "Trials");
    await page.getByText(`${kept.length} of 24 trials`).waitFor();
    const shown = await page.locator("[data-row] [data-open]").allTextContents();
    assert.deepEqual(shown.map(Number).sort((a, b) => a - b), [...kept].sort((a, b) => a - b));
    await tab(page, "Curves");
    await until(async () => new RegExp(` for ${kept.length} trials`).test(await sentence(page)), "curves of the kept trials");
    await tab(page, "Scatter");
    await page.locator("figure[data-plot=slice] canvas[data-drawn]").first().waitFor();
    assert.match(page.url(), /best=50/);
    assert.match(page.url(), /rung=1/);
    await tab(page, "History");
    assert.equal(await choice(page, "Trials").inputValue(), "50");
    assert.deepEqual(stage.faults.splice(0), []);
    await page.context().close();
});

test("ranges of the parallel plot narrow the table, and a copied address shows the same", async () => {
    const page = await open(`e/${search}/parallel?b=metric:0.5-1&len=any`);
    // Before the plot has its data, all trials are counted.
    const counted = Number(/(\d+) of 24 trials/.exec(await page.getByText(/^(?!24 )\d+ of 24 trials/).first().textContent())[1]);
    assert.ok(counted > 0 && counted < 24, `${counted} trials`);
    await tab(page, "Trials");
    await page.getByText(`${counted} of 24 trials`).waitFor();
    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText(`${counted} of 24 trials`).waitFor();
    // The table's ranges are off and on again.
    await other.getByRole("button", {name: `${counted} in the ranges of Parallel`}).click();
    await other.getByText("24 trials", {exact: true}).waitFor();
    assert.deepEqual(stage.faults.splice(0), []);
    await page.context().close();
});

test("search here next opens the form with narrower ranges and the best points, and the daemon accepts it", async () => {
    const page = await open(`e/${search}/parallel?b=hparams.learning_rate:0.4-0.8;hparams.activation:0-0.6`);
    await page.getByRole("link", {name: "Search here next"}).click();
    await page.waitForURL(/new\?.*narrow=/);
    await page.locator(".editor-text").waitFor();
    const text = await page.locator(".editor-text").inputValue();
    const end = (name) => new RegExp(`learning_rate:(?: \\{|\\n)[^}]*?\\b${name}: (-?[\\d.]+)`).exec(text)?.[1];
    const [low, high] = [end("minval"), end("maxval")];
    assert.ok(Number(low) > -4 && Number(high) < 0 && Number(low) < Number(high), text);
    assert.match(text, /points_to_evaluate/);
    await page.getByText("Preview").waitFor();
    await until(async () => await page.getByRole("button", {name: "Submit"}).isEnabled(), "the daemon's approval");
    assert.equal(await page.locator(".problems .bad").count(), 0);
    assert.deepEqual(stage.faults.splice(0), []);
    await page.context().close();
});

test("a time selected in the timeline filters events and trials", async () => {
    const {bars, from, to, quarantines} = await stage.api(`experiments/${search}/timeline`);
    assert.equal(quarantines.length, 0, "the quarantine was after its end");
    const span = [from + (to - from) * 0.4, from + (to - from) * 0.6];
    const page = await open(`e/${search}/timeline`);
    const plot = page.locator("[data-plot=timeline] .plot-area");
    await plot.locator("canvas[data-drawn]").waitFor();
    await plot.focus();
    await page.keyboard.press("b");
    await page.waitForURL(/span=/);
    const inside = new Set(bars.filter((bar) => bar.from <= span[1] && bar.to >= span[0]).map((bar) => bar.trial));
    await page.getByText(`trials: ${inside.size}`).waitFor();
    await page.getByRole("link", {name: "Events of this time"}).click();
    await page.locator(".story li time").first().waitFor();
    const shown = await page.locator(".story li time").evaluateAll((all) => all.map((each) => Date.parse(each.dateTime) / 1000));
    assert.ok(shown.length > 0);
    for (const time of shown) assert.ok(time >= span[0] - 0.002 && time <= span[1] + 0.002, `${time} is in ${span}`);
    const all = (await stage.api(`events?experiment=${search}&limit=1000`)).events;
    assert.ok(all.some((event) => event.at > span[1] || event.at < span[0]), "some events are at other times");
    await page.getByRole("button", {name: /×$/}).first().click();
    await until(async () => (await page.locator(".story li").count()) > shown.length, "all events again");
    assert.deepEqual(stage.faults.splice(0), []);
    await page.context().close();
});

test("a table of more than 100,000 trials comes in pages that the daemon sorts, and says so", async () => {
    let delayed = true;
    let answerNow;
    const wait = new Promise((done) => (answerNow = done));
    const base = await stage.behind("", (question, answer, url) => {
        // The stream would tell the true number of trials.
        if (url.startsWith("/api/v1/stream")) answer.writeHead(404).end();
        if (answer.headersSent) return true;
        // The second condition's answer comes late.
        if (delayed && url.includes("/columns?") && url.includes(encodeURIComponent("hidden>4"))) {
            delayed = false;
            void wait.then(() => stage.api(url.slice("/api/v1/".length))).then((late) => {
                answer.writeHead(200, {"Content-Type": "application/json"});
                answer.end(JSON.stringify(late));
            });
            return true;
        }
        if (url !== `/api/v1/experiments/${search}`) return false;
        void stage.api(`experiments/${search}`).then((detail) => {
            answer.writeHead(200, {"Content-Type": "application/json"});
            answer.end(JSON.stringify({...detail, trials_total: 100_001}));
        });
        return true;
    });
    const context = await stage.context();
    const page = await context.newPage();
    const asked = [];
    page.on("request", (request) => { if (/\/trials\?|\/columns/.test(request.url())) asked.push(request.url()); });
    await page.goto(`${base}e/${search}/trials`);
    await page.getByText("sorted and filtered by the daemon").waitFor();
    const shown = async () => (await page.locator("[data-row] [data-open]").allTextContents()).map(Number);
    const byMetric = [...trials].sort((a, b) => metricOf(b) - metricOf(a) || a.trial - b.trial).map((each) => each.trial);
    await until(async () => (await shown()).length >= 10, "rows");
    assert.deepEqual((await shown()).slice(0, 10), byMetric.slice(0, 10));
    assert.deepEqual(asked.filter((url) => url.includes("/columns")), [], "all trials are not loaded");
    await page.getByRole("button", {name: "hidden"}).click();
    const hidden = [...trials].sort((a, b) => a.hparams.hidden - b.hparams.hidden || a.trial - b.trial).map((each) => each.trial);
    await until(async () => JSON.stringify((await shown()).slice(0, 10)) === JSON.stringify(hidden.slice(0, 10)), "rows by hidden");
    // The terms of the condition are chips, and stay until those of the next one are known.
    const chips = async () => (await page.locator(".where .chip .mono").allTextContents()).join("|");
    const filter = async (text) => {
        await page.getByLabel("Filter by a condition").fill(text);
        await page.keyboard.press("Enter");
    };
    await choice(page, "Reached").selectOption("1");
    await filter("hidden>2 and state=completed");
    await until(async () => (await chips()) === "hidden>2|state=completed", "chips of the condition");
    await filter("hidden>4 and hidden>2");
    assert.equal(await chips(), "hidden>2|state=completed");
    assert.ok(await page.locator(".where .chip").first().isDisabled(), "they are of the condition before");
    answerNow();
    await until(async () => (await chips()) === "hidden>4|hidden>2", "chips of the next condition");
    await page.locator(".where .chip").first().click();
    await until(async () => (await chips()) === "hidden>2", "the condition without its first term");
    await page.getByLabel("Filter by a condition").fill("nothing>5");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({hasText: "nothing"}).waitFor();
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});
