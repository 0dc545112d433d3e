// Searches that are not as searches usually are: none or one trial, only NaN, all results equal, one category, 200
// hyperparameters, names of 500 characters, a text of 100 kB (more is refused), a training of ten million steps, an experiment that is deleted
// while its page is open. No page fails, leaves its width or stays empty. Trials are asked for and reported over HTTP.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Stage, until} from "./stage.mjs";

const nan = {class: "nan"};
const double = {type: "double", minval: 0, maxval: 1};
const tabs = ["", "/trials", "/curves", "/rungs", "/parallel", "/scatter", "/scatter?mode=pair", "/scatter?mode=contour", "/importance", "/history", "/timeline", "/checkpoints", "/events", "/config"];
let stage;
let context;

before(async () => {
    stage = await Stage.open({worker: false});
    context = await stage.context();
});
after(() => stage?.close());

async function post(path, body) {
    return stage.api(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
}

async function create(name, hyperparameters, trials, more = {}) {
    const config = {name, workers: "external", hyperparameters, searcher: {name: "random", metric: "loss", max_length: {epochs: 3}, max_trials: Math.max(1, trials), max_concurrent_trials: 50, ...more.searcher}, ...more.config};
    return (await post("experiments", {config})).experiment;
}

/// Takes `count` trials and reports what `result` gives for each step; every other trial is told to be complete.
async function train(id, count, result) {
    const {trials} = await post(`experiments/${id}/ask`, {count});
    assert.equal(trials.length, count);
    for (const {trial, lease, length} of trials) {
        for (let step = 1; step <= length; step += 1) await post(`experiments/${id}/trials/${trial}/report`, {lease, step, metrics: {loss: result(trial, step)}});
        await post(`experiments/${id}/trials/${trial}/tell`, {lease, state: "completed"});
    }
}

/// Opens each page; none fails, stays busy or empty, or is wider than the window.
async function visit(id, more = [], {width = 1280, visited = tabs} = {}) {
    const page = await context.newPage();
    await page.setViewportSize({width, height: 860});
    for (const tab of [...visited, ...more]) {
        await page.goto(`${stage.url}e/${id}${tab}`);
        await page.locator("h1").first().waitFor();
        await page.waitForFunction(() => !document.querySelector("[aria-busy=true]")).catch(() => assert.fail(`${tab} stays busy`));
        await page.waitForTimeout(150);
        const seen = await page.evaluate(() => ({text: document.querySelector("main").textContent, wide: document.documentElement.scrollWidth, alerts: [...document.querySelectorAll("[role=alert]")].map((each) => each.textContent)}));
        assert.deepEqual(stage.faults.splice(0), [], tab);
        assert.ok(seen.text.trim().length > 60, `${tab} shows ${seen.text}`);
        assert.doesNotMatch(seen.text, /undefined|\[object|Infinity%|NaN%/, tab);
        assert.deepEqual(seen.alerts.filter((each) => each.trim() !== ""), [], tab);
        assert.ok(seen.wide <= width, `${tab} is ${seen.wide} wide`);
    }
    return page;
}

test("an experiment without a trial shows on each page what would fill it", async () => {
    const page = await visit(await create("nothing yet", {x: double}, 4));
    await page.close();
});

test("one trial fills each page", async () => {
    const id = await create("one", {x: double}, 1);
    await train(id, 1, (_, step) => 1 / step);
    const page = await visit(id, ["/t/0", "/compare?t=0"]);
    await page.goto(`${stage.url}e/${id}`);
    await page.locator(".figures").first().getByRole("link", {name: "Trial 0"}).waitFor();
    await page.goto(`${stage.url}e/${id}/timeline`);
    await page.getByText("Trials at a time, at most: 1.").first().waitFor({state: "attached"});
    await page.goto(`${stage.url}e/${id}/t/0/log`);
    await page.getByText("no worker ran this trial").waitFor();
    await page.close();
});

test("only NaN: there is no best, and no trial is left out", async () => {
    const id = await create("only NaN", {x: double, kind: {type: "categorical", vals: ["only"]}}, 5);
    await train(id, 5, () => nan);
    const page = await visit(id, ["/t/0", "/compare?t=0,1"]);
    await page.goto(`${stage.url}e/${id}/trials`);
    await page.getByText("5 trials").first().waitFor();
    await until(async () => (await page.locator("[data-row]").count()) === 5, "five rows");
    await page.goto(`${stage.url}e/${id}/t/0`);
    await page.getByText("Every loss reported so far is NaN or infinite.").waitFor();
    await page.getByText("with loss NaN").waitFor();
    await page.goto(`${stage.url}e/${id}/history`);
    await page.getByText("Every loss reported so far is NaN or infinite.").waitFor();
    await page.close();
});

test("all results equal, and one category", async () => {
    const id = await create("all equal", {x: double, kind: {type: "categorical", vals: ["only"]}}, 6);
    await train(id, 6, () => 0.5);
    const page = await visit(id, [], {visited: ["", "/curves", "/rungs", "/parallel", "/scatter?mode=contour", "/history"]});
    await page.close();
});

test("200 hyperparameters: the parallel plot begins with 12 axes, and others can be chosen", async () => {
    const space = Object.fromEntries(Array.from({length: 200}, (_, n) => [`p${n}`, double]));
    const id = await create("many", space, 40);
    await train(id, 40, (trial) => (trial * 7919) % 101);
    const page = await visit(id, ["/t/0", "/compare?t=0,1,2"], {visited: ["", "/trials", "/parallel", "/scatter", "/importance"]});
    await page.goto(`${stage.url}e/${id}/parallel`);
    await page.locator("canvas[data-drawn]").first().waitFor();
    await page.locator(".plot-tool", {hasText: "Table"}).first().click();
    const columns = await page.locator(".plot-twin").first().locator("th").allTextContents();
    // Trial, metric, length and twelve hyperparameters, no more.
    assert.ok(columns.filter((name) => /^p\d+$/.test(name)).length === 12, columns.join(" "));
    const missing = Array.from({length: 200}, (_, n) => `p${n}`).find((name) => !columns.includes(name));
    await page.goto(`${stage.url}e/${id}/parallel?axes=hparams.${missing},metric`);
    await page.locator(".plot-tool", {hasText: "Table"}).first().click();
    await until(async () => (await page.locator(".plot-twin").first().locator("th").allTextContents()).includes(missing), `the axis ${missing}`);
    await page.goto(`${stage.url}e/${id}`);
    await page.getByRole("button", {name: "Show all 200"}).click();
    await page.locator("dt", {hasText: /^p199$/}).waitFor();
    await page.close();
});

test("names of 500 characters are cut in the middle and whole on request", async () => {
    const long = (letter) => letter.repeat(250) + "MIDDLE" + letter.repeat(244);
    const id = await create(long("n"), {[long("h")]: double, kind: {type: "categorical", vals: [long("v"), long("w")]}}, 3);
    await train(id, 3, (trial) => trial);
    await (await visit(id, ["/t/0", "/compare?t=0,1"])).close();
    await (await visit(id, ["/t/0"], {width: 390, visited: ["", "/trials", "/curves"]})).close();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${id}`);
    await page.goto(`${stage.url}e/${id}/t/0`);
    await page.locator(".places tr").first().waitFor();
    const heights = await page.locator(".places tr").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) < 200, `rows of ${heights.join(", ")} pixels: a column is squeezed`);
    await page.goto(`${stage.url}e/${id}`);
    const name = page.locator("dt", {hasText: "hh"}).first();
    await name.waitFor();
    assert.ok((await name.textContent()).length <= 60 && (await name.textContent()).includes("…"));
    assert.equal(await name.locator("[title]").getAttribute("title"), long("h"));
    await page.close();
});

test("twelve trials and long names are told apart at 1280 pixels, and each state has a pattern", async () => {
    const study = "vision-transformer-base-patch16-imagenet1k-pretrained-2026-11-ablation-";
    const block = "model.encoder.block.attention.dropout_probability_";
    const space = {activation: {type: "categorical", vals: ["gelu", "relu"]}, [`${block}early`]: double, [`${block}late`]: double};
    const first = await create(`${study}lr-1e-3`, space, 12);
    await create(`${study}lr-1e-4`, space, 1);
    await train(first, 12, (trial) => trial);
    const page = await context.newPage();
    await page.setViewportSize({width: 1280, height: 860});
    await page.goto(`${stage.url}experiments`);
    const link = page.getByRole("link", {name: "lr-1e-3", exact: true});
    await link.waitFor();
    assert.equal(await link.getAttribute("title"), `${study}lr-1e-3`);
    await page.locator(".name-shared", {hasText: study}).first().waitFor();
    const patterns = await page.evaluate(() => ["running", "good", "waiting", "stopped", "bad", "idle"].map((tone) => {
        const key = document.body.appendChild(Object.assign(document.createElement("span"), {className: `state-key tone-${tone}`}));
        const {backgroundImage, boxShadow} = getComputedStyle(key);
        key.remove();
        return `${backgroundImage} ${boxShadow}`.replace(/(color|rgba?|oklab)\([^()]*\)/g, "colour");
    }));
    assert.equal(new Set(patterns).size, patterns.length, "patterns without their colours");
    const title = async (path) => {
        await page.goto(`${stage.url}${path}`);
        return until(() => page.locator("h1:not(.unseen)").first().evaluate((each) => getComputedStyle(each).fontSize), `the title of ${path}`);
    };
    const sizes = [await title("experiments"), await title(`e/${first}`), await title(`e/${first}/t/0`), await title("nothing")];
    assert.equal(new Set(sizes).size, 1, sizes.join());
    await page.goto(`${stage.url}e/${first}/trials`);
    const heads = page.locator(".virtual thead th");
    await heads.filter({hasText: "Why"}).waitFor();
    const names = (await heads.allTextContents()).map((each) => each.trim());
    assert.ok(names.indexOf("Why") < names.indexOf("activation"), names.join());
    const why = await heads.filter({hasText: "Why"}).boundingBox();
    assert.ok(why.x + why.width <= 1248, `the reason ends at ${why.x + why.width}`);
    assert.ok(names.some((each) => each.startsWith("dropout_probability_early")), names.join());
    await page.goto(`${stage.url}e/${first}/compare?t=${Array.from({length: 12}, (_, trial) => trial).join()}`);
    await page.getByText("Hyperparameters that differ").waitFor();
    const table = await page.locator(".scroll-x").first().evaluate((each) => [each.scrollWidth, each.clientWidth]);
    assert.ok(table[0] <= table[1], `twelve trials are ${table[0]} wide`);
    await page.goto(`${stage.url}e/${first}/parallel`);
    await page.getByText("The most important hyperparameters stand on the left.").waitFor();
    await page.locator(".plot-tool", {hasText: "Table"}).first().click();
    const columns = await page.locator(".plot-twin").first().locator("th").allTextContents();
    const {hyperparameters} = await stage.api(`experiments/${first}/importance`);
    assert.deepEqual(columns.slice(1, 4), hyperparameters.map((each) => each.name));
    for (const [path, next] of [["nothing", "Workers"], ["e/9999", "Experiments"], [`e/${first}/t/99`, "Trials"]]) {
        await page.goto(`${stage.url}${path}`);
        await page.locator(".state-note").getByRole("link", {name: next}).waitFor();
    }
    stage.faults.splice(0);
    await page.close();
});

test("a hyperparameter of 100 kB is shown shortened, and one of 1 MB is refused with what is allowed", async () => {
    const text = "lorem ipsum ".repeat(80_000);
    await assert.rejects(create("too long", {prompt: text, x: double}, 1), (fault) => /"path":"hyperparameters"/.test(fault.message) && /at most \d+/.test(fault.message));
    const id = await create("long text", {prompt: {type: "categorical", vals: [text.slice(0, 100_000), "short"]}, constant: text.slice(0, 20_000), x: double}, 4);
    await train(id, 4, (trial) => trial);
    const page = await visit(id, ["/t/0"], {visited: ["", "/trials", "/parallel", "/scatter", "/config"]});
    for (const path of ["", "/t/0", "/trials", "/events", "/compare?t=0,1"]) {
        await page.goto(`${stage.url}e/${id}${path}`);
        await page.locator("h1").first().waitFor();
        await page.waitForTimeout(200);
        const shown = await page.evaluate(() => document.querySelector("main").innerText.length);
        assert.ok(shown < 100_000, `${path} shows ${shown} characters`);
    }
    await page.close();
});

test("a training of ten million steps is drawn from a few hundred points", async () => {
    const id = await create("endless", {x: double}, 1, {searcher: {max_length: {batches: 10_000_000}}});
    const {trials: [{lease}]} = await post(`experiments/${id}/ask`, {count: 1});
    for (let n = 1; n <= 1500; n += 1) await post(`experiments/${id}/trials/0/report`, {lease, step: n === 1500 ? 10_000_000 : n * 6666, metrics: {loss: 10 / n + (n % 7) * 0.01}});
    const page = await context.newPage();
    const sizes = [];
    page.on("response", async (response) => {
        if (/\/curves\?/.test(response.url())) sizes.push((await response.body().catch(() => "")).length);
    });
    for (const tab of ["curves", "t/0"]) {
        await page.goto(`${stage.url}e/${id}/${tab}`);
        await page.locator("figure canvas[data-drawn]").first().waitFor();
    }
    await until(() => sizes.length >= 2, "two answers with curves");
    assert.ok(Math.max(...sizes) < 60_000, `${sizes} bytes`);
    assert.deepEqual(stage.faults.splice(0), []);
    await page.close();
});

test("an experiment that is deleted while its pages are open is named as gone, and other tabs stay live", async () => {
    const id = await create("short-lived", {x: double}, 1);
    await train(id, 1, () => 1);
    await stage.untilEnded(id);
    const list = await context.newPage();
    await list.goto(`${stage.url}experiments`);
    await list.getByRole("link", {name: "short-lived"}).waitFor();
    const pages = [];
    for (const tab of ["", "/trials", "/curves", "/t/0"]) {
        const page = await context.newPage();
        await page.goto(`${stage.url}e/${id}${tab}`);
        await page.locator("h1").first().waitFor();
        pages.push(page);
    }
    await stage.api(`experiments/${id}`, {method: "DELETE"});
    await list.bringToFront();
    await list.getByRole("link", {name: "short-lived"}).waitFor({state: "detached"});
    for (const page of pages) {
        await page.reload();
        await page.getByText("Not found").first().waitFor();
        assert.notEqual((await page.locator("main").textContent()).trim(), "");
    }
    // Their topic is refused; it must not take the stream from the list.
    await create("after the deletion", {x: double}, 1);
    await list.getByRole("link", {name: "after the deletion"}).waitFor();
    await list.getByText("Live", {exact: true}).waitFor();
    assert.deepEqual(stage.faults.splice(0), []);
});
