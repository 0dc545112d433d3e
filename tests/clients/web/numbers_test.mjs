// What plots show equals what the command line prints, for a real search: the best, counts, ranks, cut-offs, shares.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Stage, patience} from "./stage.mjs";

let stage;
let id;
let page;

before(async () => {
    stage = await Stage.open({slots: 2});
    id = stage.submitDigits({trials: 40});
    await stage.untilEnded(id);
    const context = await stage.context();
    page = await context.newPage();
});
after(() => stage?.close());

const json = (...words) => JSON.parse(stage.hpsearch("-o", "json", ...words));

/// The rows of a plot's table, by column.
async function tableOf(address) {
    await page.goto(`${stage.url}${address}`);
    await page.locator(".plot-tool", {hasText: "Table"}).first().click();
    await page.locator(".plot-twin").first().waitFor({timeout: patience});
    return page.locator(".plot-twin").first().evaluate((element) => {
        const names = [...element.querySelectorAll("th")].map((cell) => cell.textContent);
        return [...element.querySelectorAll("tbody tr")].map((row) => Object.fromEntries([...row.children].map((cell, index) => [names[index], cell.textContent])));
    });
}

/// Six digits, as both print them.
const six = (value) => Number(Number(value).toPrecision(6));

test("the rung ladder has the ranks, counts and cut-offs of explain", async () => {
    const rows = await tableOf(`e/${id}/rungs`);
    const {trials} = json("trials", String(id));
    assert.equal(rows.filter((row) => row.Rung === "0").length, trials.length, "every trial has a result at the first rung");
    let compared = 0;
    for (const trial of trials) {
        const {reason} = json("explain", String(id), String(trial.trial));
        if (reason.why !== "rung_closed") continue;
        const row = rows.find((each) => each.Trial === String(trial.trial) && each.Rung === String(reason.rung) && each.Bracket === String(reason.bracket));
        assert.ok(row, `trial ${trial.trial} is missing at rung ${reason.rung}`);
        assert.deepEqual([row.Rank, row.Keeps, row.Size, six(row["Cut-off"])], [String(reason.rank + 1), String(reason.keep), String(reason.size), six(reason.cutoff)], `trial ${trial.trial}`);
        assert.equal(six(row.Metric), six(trial.metric));
        assert.equal(row.State, "stopped");
        ++compared;
    }
    assert.ok(compared >= 10, `${compared} trials were stopped at a rung`);
    const reached = json("show", String(id)).rungs;
    for (const {length, reached: count} of reached) assert.equal(rows.filter((row) => row.Length === String(length)).length, count, `results at ${length}`);
});

test("the history ends at the best trial", async () => {
    const rows = await tableOf(`e/${id}/history`);
    const {best} = json("show", String(id));
    const last = rows[rows.length - 1];
    assert.equal(last.Trial, String(best.trial));
    const metric = Object.keys(last)[1];
    assert.equal(six(last[metric]), six(best.metric));
});

// Pages named other values, without the length that they were measured at.
test("the best is one trial with one value at one length on every page", async () => {
    const {best, metric, unit} = json("show", String(id));
    const value = String(Math.round(best.metric * 1e4) / 1e4);
    const length = `at ${best.step} ${unit}`;
    const has = async (address, place, parts) => {
        await page.goto(`${stage.url}${address}`);
        await page.locator(place).filter({hasText: parts[0]}).first().waitFor({timeout: patience});
        const text = (await page.locator(place).filter({hasText: parts[0]}).first().textContent()).replace(/\s+/g, " ");
        for (const part of parts) assert.ok(text.includes(part), `${part} is not in ${text}`);
    };
    await has(`e/${id}`, ".figures", [`Trial ${best.trial}`, value, length]);
    await has("", "tbody tr", [value, metric, length]);
    await has(`e/${id}/curves`, "main", [`by trial ${best.trial} ${length}`, `The best ${metric} is ${value}`]);
    await page.setViewportSize({width: 1280, height: 2400});  // A table makes the rows that are seen.
    for (const sort of ["trial", "-trial"]) {
        await page.goto(`${stage.url}e/${id}/trials?sort=${sort}`);
        const marked = page.locator("[data-row]").filter({has: page.locator(".good-tag")});
        await marked.first().waitFor({timeout: patience});
        assert.equal(await marked.locator("[data-open]").first().textContent(), String(best.trial), sort);
        assert.equal(await marked.count(), 1, sort);
    }
    await page.setViewportSize({width: 1280, height: 860});
    await page.goto(`${stage.url}e/${id}/checkpoints`);
    await page.getByRole("columnheader", {name: `${metric} there`}).first().waitFor({timeout: patience});
});

// Results of 1 epoch stood beside those of 9, as if they could be compared.
test("the parallel plot compares at one length, which it names, as the rung ladder has it", async () => {
    const rows = await tableOf(`e/${id}/parallel`);
    const {metric} = json("show", String(id));
    const name = Object.keys(rows[0]).find((each) => each.startsWith(`${metric} at `));
    assert.ok(name, `no length in ${Object.keys(rows[0])}`);
    const length = /at (\d+)/.exec(name)[1];
    const ladder = (await tableOf(`e/${id}/rungs`)).filter((row) => row.Length === length && row.Metric !== "–");
    assert.ok(rows.length >= 10);
    assert.deepEqual(rows.map((row) => [row.Trial, six(row[name])]).sort(), ladder.map((row) => [row.Trial, six(row.Metric)]).sort());
});

test("by choice, the parallel plot has every trial with its best, best first", async () => {
    const rows = await tableOf(`e/${id}/parallel?len=any`);
    const {trials} = json("trials", String(id));
    assert.equal(rows.length, trials.length);
    const {metric, best} = json("show", String(id));
    const name = `best ${metric}`;
    assert.equal(six(rows[0][name]), six(best.metric));
    for (const trial of trials) {
        const row = rows.find((each) => each.Trial === String(trial.trial));
        assert.ok(Math.abs(Number(row[name]) - trial.best_metric) <= 1e-5 * Math.abs(trial.best_metric), `trial ${trial.trial}: ${row[name]} and ${trial.best_metric}`);
    }
});

test("importance is what hpsearch importance prints", async () => {
    const printed = json("importance", String(id));
    if (printed.hyperparameters.length === 0) {
        await page.goto(`${stage.url}e/${id}/importance`);
        await page.getByText(String(printed.needed)).first().waitFor({timeout: patience});
        return;
    }
    const rows = await tableOf(`e/${id}/importance`);
    assert.deepEqual(rows.map((row) => [Object.values(row)[1], Number(Number(Object.values(row)[2]).toFixed(6))]),
        printed.hyperparameters.map((each) => [each.name, Number(each.share.toFixed(6))]));
});

test("the timeline has every attempt", async () => {
    const rows = await tableOf(`e/${id}/timeline`);
    const {trials} = json("trials", String(id));
    assert.equal(rows.length, trials.reduce((sum, trial) => sum + trial.attempts, 0));
});

/// The cells of each row of the first table with this caption.
async function cellsOf(caption) {
    const table = page.locator("table", {has: page.locator("caption", {hasText: caption})});
    await table.locator("tbody tr").first().waitFor({timeout: patience});
    return table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent.trim())));
}

test("the model's card has the numbers of hpsearch model, and copies the configuration", async () => {
    const post = (path, body) => stage.api(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    const double = {type: "double", minval: 0, maxval: 1};
    const {experiment} = await post("experiments", {config: {name: "modelled", workers: "external", hyperparameters: {x: double, y: double, kind: {type: "categorical", vals: ["a", "b"]}},
        searcher: {name: "random", sampler: "model", metric: "loss", max_length: {epochs: 2}, max_trials: 12}, reproducibility: {experiment_seed: 7}}});
    const card = page.locator("section", {has: page.getByRole("heading", {name: "The search’s model"})});
    await page.goto(`${stage.url}e/${experiment}/importance`);
    await card.getByText("The model has 0 results and needs").waitFor({timeout: patience});
    for (let count = 0; count < 12; count += 1) {
        const {trials: [{trial, lease, hparams}]} = await post(`experiments/${experiment}/ask`, {count: 1});
        for (const step of [1, 2]) await post(`experiments/${experiment}/trials/${trial}/report`, {lease, step, metrics: {loss: (hparams.x - 0.3) ** 2 + hparams.y / 10 + 1 / step}});
        await post(`experiments/${experiment}/trials/${trial}/tell`, {lease, state: "completed"});
    }
    await stage.untilEnded(experiment);
    await page.goto(`${stage.url}e/${experiment}/importance`);
    const printed = stage.hpsearch("model", String(experiment));
    const rows = (line) => printed.split("\n").map((each) => each.trim().split(/\s{2,}/)).filter((parts) => line.test(parts.join(" ")));
    assert.deepEqual(await cellsOf("Importance of hyperparameters to the model"), rows(/^(x|y|kind) \d+ %/).map((parts) => [parts[0], parts[1].replace(" ", ""), parts[2]]));
    assert.deepEqual(await cellsOf("How results at each length agree"), rows(/^\d+ \d+ -?[\d.]+$/).map(([length, ...rest]) => [`${length} epoch${length === "1" ? "" : "s"}`, ...rest]));
    const expected = /expected to be the best: (loss .+) at full length; (.+)/.exec(printed);
    await card.getByText(`${expected[1]} at full length; ${expected[2].replace("trial", "Trial")}`).waitFor({timeout: patience});
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await card.getByRole("button", {name: "Copy as…"}).click();
    await card.getByRole("menuitem", {name: "JSON"}).click();
    await card.getByRole("button", {name: "Copied"}).waitFor();
    assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())), json("model", String(experiment)).best.hparams);
    // A search that draws at random has none.
    await page.goto(`${stage.url}e/${id}/importance`);
    await page.locator("canvas[data-drawn], .state-note").first().waitFor({timeout: patience});
    assert.equal(await card.count(), 0);
});

test("usage, workspaces and audit have the numbers of the command line", async () => {
    await page.goto(`${stage.url}settings`);
    await page.getByRole("link", {name: "Usage"}).click();
    const used = (by) => json("usage", "--by", by).usage.map((row) => [row[by], (row.slot_seconds / 3600).toFixed(2), "", String(row.slots), String(row.experiments), String(row.trials)]);
    assert.deepEqual(await cellsOf("Usage"), used("user"));
    await page.getByRole("button", {name: "Experiment", exact: true}).click();
    await page.getByRole("columnheader", {name: "Experiment", exact: true}).waitFor();
    assert.deepEqual(await cellsOf("Usage"), used("experiment"));
    const all = /in all (\S+) slot hours/.exec(stage.hpsearch("usage"))[1];
    await page.getByText(`In all ${all} slot hours.`).waitFor();
    await page.getByRole("link", {name: "Workspaces"}).click();
    const [[name, experiments, slots, , active, , , hours]] = await cellsOf("Workspaces");
    const line = stage.hpsearch("workspace", "list").split("\n")[1].trim().split(/\s{2,}/);
    assert.deepEqual([name, slots, active, experiments, hours], line.slice(0, 5));
    await page.getByRole("link", {name: "Audit"}).click();
    const shown = await cellsOf("Audit");
    const {entries} = json("audit", "list");
    assert.deepEqual(shown.map((row) => [row[0], row[2], row[3], row[4]]), entries.reverse().map((each) => [String(each.number), each.name || "–", each.from, String(each.status)]));
    const printed = stage.hpsearch("audit", "list");
    for (const row of shown) assert.ok(printed.replace(/\s+/g, "").includes(row[5].replace(/\s+/g, "")), row[5]);
    await page.getByRole("searchbox").fill("no line has this");
    await page.getByText("No line matches").waitFor();
});

test("no page reported a violated policy or an error", async () => {
    assert.deepEqual(stage.faults, []);
});
