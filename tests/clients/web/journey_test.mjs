// A user's ways through the pages, on a real search: submit by the form, watch, explain, compare, download; on a phone; with
// the keyboard alone; in Chinese. What the pages show is what the command line prints.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {existsSync, mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {digits, picture, readText, root, Stage, until} from "./stage.mjs";

let stage;
let search;

before(async () => {
    stage = await Stage.open();
    search = stage.submitDigits();
});
after(() => stage?.close());

const noFaults = () => assert.deepEqual(stage.faults.splice(0), []);

test("a newcomer submits by the form and watches the search", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(stage.url);
    await page.getByRole("link", {name: "digits-adaptive-asha"}).waitFor();
    await page.getByRole("link", {name: "New experiment"}).first().click();
    await page.getByRole("heading", {name: "New experiment"}).waitFor();
    // Nothing is submitted without its program by accident.
    const submit = page.getByRole("button", {name: "Submit"});
    await until(() => submit.isEnabled(), "the daemon's approval of the file that the form begins with");
    await submit.click();
    await page.getByText("The command names train.py, but no file was given").waitFor();
    await page.getByRole("button", {name: "Submit without files"}).waitFor();
    await page.getByLabel("Name", {exact: true}).first().fill("by-the-form");
    await page.getByLabel("Command", {exact: true}).fill("/usr/bin/python3 train.py");
    await page.getByLabel("Or single files").setInputFiles(join(root, "examples", "digits", "train.py"));
    // The text follows the form, and the form the text.
    const text = page.getByLabel("Experiment file");
    await until(async () => /name: by-the-form/.test(await text.inputValue()), "the form's name in the text");
    const file = readText(digits("random")).replace(/name: digits-random/, "name: by-the-form").replace(/max_trials: \d+/, "max_trials: 3").replace(/epochs: 27/, "epochs: 2");
    await text.fill(file);
    await until(async () => (await page.getByLabel("Metric").inputValue()) === "val_accuracy", "the text's metric in the form");
    await picture(page, "new");
    await page.getByRole("button", {name: "Submit"}).click();
    await page.waitForURL(/\/e\/\d+$/);
    const id = Number(/e\/(\d+)$/.exec(page.url())[1]);
    await page.getByRole("heading", {name: "by-the-form", level: 1}).waitFor();
    const config = await stage.api(`experiments/${id}/config`);
    assert.equal(config.searcher.max_trials, 3);
    assert.deepEqual(config.entrypoint, ["/usr/bin/python3", "train.py"]);
    await stage.untilEnded(id);
    await page.locator(".state-mark.large", {hasText: "Completed"}).waitFor();
    assert.equal((await stage.api(`experiments/${id}`)).trials.COMPLETED, 3);
    noFaults();
    await context.close();
});

test("a stopped trial is explained as the command line explains it", async () => {
    await stage.untilEnded(search);
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${search}/trials?state=STOPPED&sort=trial`);
    const first = page.locator("[data-row] [data-open]").first();
    const trial = Number(await first.textContent());
    await first.click();
    await page.getByRole("heading", {name: `Trial ${trial}`}).waitFor();
    const why = (await page.locator(".why-text").textContent()).trim();
    const printed = stage.hpsearch("explain", String(search), String(trial));
    assert.ok(printed.includes(why), `${why}\nis not in\n${printed}`);
    await picture(page, "trial");
    // Each decision that the command line prints stands in the page's story.
    const story = (await page.locator(".story").first().textContent()).replace(/\s+/g, " ");
    for (const line of printed.split("\n").filter((each) => /promoted to|paused at/.test(each))) {
        const sentence = line.replace(/^\s*\S+\s+/, "").trim();
        assert.ok(story.includes(sentence.replace(/^trial \d+ /, "")), `${sentence}\nis not in\n${story}`);
    }
    noFaults();
    await context.close();
});

test("the best trial, its numbers and its log are those of the command line", async () => {
    const best = JSON.parse(stage.hpsearch("best", String(search), "-o", "json"));
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${search}`);
    const figure = page.locator(".figures").first();
    await figure.getByRole("link", {name: `Trial ${best.trial}`}).waitFor();
    assert.ok((await figure.textContent()).includes(String(Math.round(best.best_metric * 1e4) / 1e4)));
    const {trials} = await stage.api(`experiments/${search}`);
    for (const [state, word] of [["COMPLETED", "Completed"], ["STOPPED", "Stopped"]]) {
        assert.ok((await page.locator(".legend").first().textContent()).includes(`${word} ${trials[state]}`), word);
    }
    await picture(page, "overview");
    await page.goto(`${stage.url}e/${search}/t/${best.trial}/log`);
    await page.locator(".log-line").first().waitFor();
    const log = stage.hpsearch("logs", String(search), String(best.trial));
    const last = log.trimEnd().split("\n").at(-1);
    await page.locator(".log-line", {hasText: last.trim()}).waitFor();
    await page.getByLabel("Search the log").fill("epoch   9");
    await page.getByText("1 of 1", {exact: true}).waitFor();
    await picture(page, "log");
    noFaults();
    await context.close();
});

test("trials are filtered, sorted, chosen and compared", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${search}/trials`);
    await page.getByLabel("Filter by a condition").fill("activation!=relu and hidden<240");
    await page.keyboard.press("Enter");
    await page.waitForURL(/where=/);
    const printed = JSON.parse(stage.hpsearch("trials", String(search), "-o", "json", "--where", "activation!=relu and hidden<240"));
    const expected = (printed.trials ?? printed).length;
    await page.getByText(`${expected} of 24 trials`).waitFor();
    const boxes = page.locator("[data-row] input[type=checkbox]");
    await boxes.nth(0).click();
    await boxes.nth(1).click();
    await page.getByRole("button", {name: "2 selected"}).click();
    await page.getByRole("menuitem", {name: "Compare", exact: true}).click();
    await page.waitForURL(/compare\?t=\d+,\d+/);
    await page.getByText("Hyperparameters that differ").waitFor();
    await picture(page, "compare");
    // The address alone shows the same.
    const other = await context.newPage();
    await other.goto(page.url());
    await other.getByText("Hyperparameters that differ").waitFor();
    noFaults();
    await context.close();
});

const onePixel = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

/// The program that a newcomer writes to use a network of the digits search.
const useNetwork = `
import json, sys
import numpy as np
folder, checkpoint, hparams = sys.argv[1:]
sys.path.insert(0, folder)
import train
with np.load(checkpoint) as saved:
    epoch = int(saved["epoch"])
    network = {name: saved[name] for name in ("w1", "b1", "w2", "b2")}
_, _, images, labels = train.load_digits()
print(json.dumps({"epoch": epoch, **train.validated(network, images, labels, json.loads(hparams)["activation"])}))
`;

test("the best checkpoint is downloaded, is the one on the disk, and gives its result again", async () => {
    await stage.untilEnded(search);
    const best = JSON.parse(stage.hpsearch("best", String(search), "-o", "json"));
    const context = await stage.context({acceptDownloads: true});
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${search}/t/${best.trial}`);
    const link = page.locator(".checkpoint-list").getByRole("button", {name: "Download"}).first();
    await link.waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    const path = join(stage.folder, "best.tar");
    assert.equal(download.suggestedFilename(), `checkpoint-${search}-${best.trial}-${best.best_checkpoint.split("/").at(-1)}.tar`);
    await download.saveAs(path);
    const names = execFileSync("tar", ["tf", path], {encoding: "utf8"}).trim().split("\n");
    const file = names.find((name) => !name.endsWith("/"));
    const content = execFileSync("tar", ["xOf", path, file]);
    const name = file.split("/").at(-1);
    assert.ok(existsSync(join(best.best_checkpoint, name)), `${name} of ${names.join(" ")}`);
    assert.ok(content.equals(readFileSync(join(best.best_checkpoint, name))));
    const unpacked = join(stage.folder, "unpacked");
    mkdirSync(unpacked);
    execFileSync("tar", ["xf", path, "-C", unpacked]);
    const program = join(unpacked, "use.py");
    writeFileSync(program, useNetwork);
    const words = ["-B", program, join(root, "examples", "digits"), join(unpacked, file), JSON.stringify(best.hparams)];
    const result = JSON.parse(execFileSync("/usr/bin/python3", words, {encoding: "utf8"}));
    assert.deepEqual([result.epoch, result.val_accuracy], [best.best_checkpoint_step, best.best_checkpoint_metric]);
    assert.ok((await page.locator("body").textContent()).includes(String(Math.round(result.val_accuracy * 1e4) / 1e4)), "the result on the page");
    // The same file alone, out of the archive.
    await page.getByRole("link", {name: "All files of the trial"}).click();
    const row = page.locator("tr", {has: page.getByRole("link", {name, exact: true})}).first();
    await row.getByRole("cell", {name: best.best_checkpoint.split("/").at(-1).split("-")[0], exact: true}).waitFor();
    const [single] = await Promise.all([page.waitForEvent("download"), row.getByRole("button", {name: `Download ${name}`}).click()]);
    assert.equal(single.suggestedFilename(), name);
    assert.ok(content.equals(readFileSync(await single.path())), "the file out of the archive");
    await row.getByRole("link", {name}).click();
    await page.getByText("This file has no preview").waitFor();
    noFaults();
    await context.close();
});

test("files of a trial appear when its program has ended, and their content is shown", async () => {
    const id = stage.submitScript({name: "leaves files", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, metrics: {loss: "loss {number}"}, max_restarts: 0,
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1}}, `
while [ ! -e '${stage.folder}/goon' ]; do sleep 0.2; done
mkdir out
printf '{"seed":9007199254740993,"classes":[1,2]}' > out/report.json
printf 'id,label\n1,"cat, dog"\n2,bird\n' > out/table.csv
printf 'first line\nsecond line\n' > notes.txt
printf '${onePixel.toString("hex").replace(/../g, (byte) => `\\${parseInt(byte, 16).toString(8).padStart(3, "0")}`)}' > out/picture.png
printf '{"layers": 3}' > "$HPSEARCH_CHECKPOINT_DIR/config.json"
echo "loss $HPSEARCH_HP_X"
`);
    const context = await stage.context({acceptDownloads: true});
    const page = await context.newPage();
    await until(async () => (await stage.api(`experiments/${id}`)).trials.RUNNING === 1, "the running trial");
    await page.goto(`${stage.url}e/${id}/t/0`);
    await page.getByRole("link", {name: "Files", exact: true}).click();
    await page.getByText("No files and no checkpoints.").waitFor();
    // The worker hands the files over some time after the last message about the trial: the second request from then on has them.
    let asked = 0;
    let ended = Infinity;
    await page.route(/\/trials\/0\/files$/, (route) => {
        asked += 1;
        return asked > ended + 1 ? route.continue() : route.fulfill({json: {files: [], left: [], dropped: [], left_unnamed: 0, dropped_unnamed: 0}});
    });
    writeFileSync(join(stage.folder, "goon"), "");
    await page.locator(".trial-head .state-mark", {hasText: "Completed"}).waitFor();
    ended = asked;
    const open = async (name) => {
        await page.locator(".file-table").getByRole("link", {name, exact: true}).click();
        await page.locator(".file-beside h2", {hasText: name}).waitFor();
    };
    const text = page.locator(".file-beside pre.file-view");
    await open("notes.txt");
    await text.filter({hasText: /^first line\nsecond line\n$/}).waitFor();
    await open("out/report.json");
    await text.filter({hasText: /^\{\n {2}"seed": 9007199254740993,\n {2}"classes": \[/}).waitFor();
    await open("out/table.csv");
    await page.locator(".file-beside td", {hasText: /^cat, dog$/}).waitFor();
    assert.deepEqual(await page.locator(".file-beside th").allTextContents(), ["id", "label"]);
    await open("out/picture.png");
    await until(async () => await page.locator("img.file-image").evaluate((image) => image.naturalWidth === 1), "the picture");
    await open("config.json");
    await text.filter({hasText: /^\{\n {2}"layers": 3\n\}$/}).waitFor();
    await picture(page, "files");
    // What the page lists is what the command line lists.
    const listed = JSON.parse(stage.hpsearch("files", String(id), "0", "-o", "json")).files.map(({path}) => path);
    assert.deepEqual(listed, ["notes.txt", "out/picture.png", "out/report.json", "out/table.csv"]);
    const names = await page.locator(".file-table tbody").first().getByRole("link").allTextContents();
    assert.deepEqual(names, listed);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Download all (tar)"}).click()]);
    assert.equal(download.suggestedFilename(), `files-${id}-0.tar`);
    const archive = join(stage.folder, "files.tar");
    stage.hpsearch("files", "tar", String(id), "0", archive);
    assert.ok(readFileSync(await download.path()).equals(readFileSync(archive)), "the archive of the command line");
    await page.reload();
    await text.filter({hasText: '"layers": 3'}).waitFor();
    noFaults();
    await context.close();
});

test("a whole log is searched although only its end is loaded", async () => {
    const id = stage.submitScript({name: "chatty", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, max_restarts: 0, searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 1}},
        "echo the needle of this log\ni=0\nwhile [ $i -lt 9000 ]; do echo line $i is hay and nothing else; i=$((i+1)); done\nexit 1\n");
    await stage.untilEnded(id);
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${id}/t/0/log`);
    await page.locator(".log-line").first().waitFor();
    await page.getByLabel("Search the log").fill("NEEDLE of");
    await page.getByText("No match").waitFor();
    await page.getByRole("button", {name: "Search the whole log"}).click();
    await page.locator(".log-hit", {hasText: "the needle of this log"}).click();
    await page.locator(".log-line", {hasText: "the needle of this log"}).waitFor();
    noFaults();
    await context.close();
});

test("two searches are compared from the list, by the numbers of the command line", async () => {
    const quick = (name, most) => stage.submitScript({name, hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, metrics: {loss: "loss {number}"},
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: most}}, `echo "loss $HPSEARCH_HP_X"\n`);
    const ids = [quick("fewer", 2), quick("more", 4)];
    for (const id of ids) await stage.untilEnded(id);
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}experiments`);
    for (const name of ["fewer", "more"]) await page.getByLabel(`Select ${name}`).check();
    await page.getByRole("button", {name: "2 selected"}).click();
    await page.getByRole("menuitem", {name: "Compare searches"}).click();
    await page.getByRole("heading", {name: "Compare searches"}).waitFor();
    const cells = async (row) => (await page.locator("tr", {has: page.getByRole("rowheader", {name: row, exact: true})}).locator("td").allTextContents()).map((text) => text.trim());
    await until(async () => (await cells("Trials")).join() === "2,4", "the trials of both");
    const searches = await Promise.all(ids.map((id) => stage.api(`experiments/${id}`)));
    const shown = await cells("Best");
    searches.forEach((search, index) => assert.ok(shown[index].startsWith(`loss ${Number(search.best.metric.toPrecision(4))}`), `${shown[index]}: ${search.best.metric}`));
    const better = searches[0].best.metric < searches[1].best.metric ? 0 : 1;
    assert.deepEqual(shown.map((text) => /best/i.test(text)), [better === 0, better === 1], "one is the best of both");
    assert.deepEqual(await cells("searcher.max_trials"), ["2", "4"]);
    const compared = JSON.parse(stage.hpsearch("compare", ...ids.map(String), "-o", "json"));
    assert.ok(compared, "the command line compares them, too");
    await picture(page, "compare-searches");
    // Both are in one plot, with their names: over trials, and over the hyperparameter that both files vary.
    await page.locator(".plot-legend li", {hasText: `${ids[1]} more`}).waitFor();
    const caption = (plot) => page.locator(`figure[data-plot="${plot}"] figcaption`).textContent();
    await page.locator('figure[data-plot="parallel"] canvas[data-drawn]').waitFor({state: "attached"});
    assert.match(await caption("history"), new RegExp(`Best loss: ${ids[0]} fewer [\\d.e-]+, ${ids[1]} more [\\d.e-]+\\.`));
    const winner = searches[better];
    assert.ok((await caption("parallel")).startsWith(`6 trials over 2 axes; each line is one trial. The best of them is trial ${winner.best.trial} (${winner.id} ${winner.name}) with `), await caption("parallel"));
    await page.locator('figure[data-plot="parallel"]').getByRole("button", {name: "Table"}).click();
    await until(async () => (await page.locator('figure[data-plot="parallel"] tbody tr').count()) === 6, "a row for each trial");
    noFaults();
    await context.close();
});

test("an experiment is paused, resumed and canceled, and the dialog names the consequence", async () => {
    const id = stage.submitScript({name: "long", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 4}}, "sleep 600\n");
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${id}`);
    await until(async () => (await stage.api(`experiments/${id}`)).trials.RUNNING === 2, "two running trials");
    await page.getByRole("button", {name: "Pause"}).click();
    await page.locator(".state-mark.large", {hasText: "Paused"}).waitFor();
    await page.getByRole("button", {name: "Resume"}).click();
    await page.locator(".state-mark.large", {hasText: "Active"}).waitFor();
    await until(async () => (await stage.api(`experiments/${id}`)).trials.RUNNING === 2, "two running trials again");
    await page.getByRole("button", {name: "More"}).click();
    await page.getByRole("menuitem", {name: "Kill…"}).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 running trials end.").waitFor();
    assert.ok(await dialog.getByRole("button", {name: "Kill experiment"}).isDisabled());
    await dialog.getByLabel("Type long to confirm").fill("long");
    await dialog.getByRole("button", {name: "Kill experiment"}).click();
    await page.locator(".state-mark.large", {hasText: "Canceled"}).waitFor();
    noFaults();
    await context.close();
});

test("limits of an ended search are changed by the keyboard, and a refusal stands at its field", async () => {
    const id = stage.submitScript({name: "short", hyperparameters: {x: {type: "double", minval: 0, maxval: 1}}, metrics: {loss: "loss {number}"},
        searcher: {name: "random", metric: "loss", max_length: {epochs: 1}, max_trials: 2}}, `echo "loss $HPSEARCH_HP_X"\n`);
    await stage.untilEnded(id);
    const context = await stage.context();
    const page = await context.newPage();
    const sent = [];
    // Noted in the page: the driver of Firefox doesn't have the bodies of such requests.
    await page.exposeFunction("noteSent", (body) => { sent.push(JSON.parse(body)); });
    await page.addInitScript(() => {
        const send = window.fetch;
        window.fetch = (target, options) => {
            if (options?.method === "PATCH") window.noteSent(options.body);
            return send(target, options);
        };
    });
    await page.goto(`${stage.url}e/${id}/config`);
    await page.locator("pre.yaml", {hasText: "max_trials: 2"}).waitFor();
    // Fields that are as the daemon sets them are hidden.
    const defaults = page.getByRole("button", {name: /^\d+ default fields$/});
    await defaults.click();
    await page.locator("pre.yaml", {hasText: "pause_on_failures: 3"}).waitFor();
    await defaults.click();
    await page.locator("pre.yaml", {hasNotText: "pause_on_failures"}).waitFor();
    assert.match(await page.locator("pre.yaml").textContent(), /^entrypoint: \["sh", ?"program.sh"\]\nhyperparameters:\n {2}x:\n[^]*\nmetrics:\n {2}loss: "loss \{number\}"\n/);
    const written = page.getByRole("button", {name: "As written"});
    await written.click();
    await page.locator("pre.yaml", {hasText: '{"entrypoint":["sh","program.sh"],"name":"short"'}).waitFor();
    await written.click();
    await page.locator("pre.yaml", {hasNotText: '"entrypoint"'}).waitFor();
    const open = async () => {
        await page.getByRole("button", {name: "More"}).focus();
        await page.keyboard.press("Enter");
        await page.getByRole("menuitem", {name: "Limits…"}).focus();
        await page.keyboard.press("Enter");
        await page.getByRole("dialog", {name: "Limits of short"}).waitFor();
    };
    await open();
    const dialog = page.getByRole("dialog");
    const field = (name) => dialog.locator(`[name="${name}"]`);
    assert.deepEqual(await Promise.all(["searcher.max_trials", "searcher.max_concurrent_trials", "budget.max_time", "resources.priority"].map((name) => field(name).inputValue())), ["2", "16", "", "50"]);
    assert.ok(await dialog.getByRole("button", {name: "Change limits"}).isDisabled(), "nothing has changed");
    await page.keyboard.press("Escape");
    await dialog.waitFor({state: "detached"});
    await open();
    // The first field has the focus.
    await until(async () => await page.evaluate(() => document.activeElement.name === "searcher.max_trials"), "the focus in the first field");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("-1");
    await field("budget.max_time").fill("soon");
    await page.keyboard.press("Enter");
    await dialog.getByText("Nothing was changed.").waitFor();
    await until(async () => sent.length === 1, "the request to be seen here, too");
    const refusal = await fetch(`${stage.url}api/v1/experiments/${id}`, {method: "PATCH", headers: {"Content-Type": "application/json"}, body: JSON.stringify(sent[0])}).then((answer) => answer.json());
    assert.equal(refusal.errors.length, 2);
    for (const name of ["budget.max_time", "searcher.max_trials"]) {
        const {detail, allowed} = refusal.errors.find(({path}) => path === name);
        const sentence = allowed ? `${detail} (${allowed})` : detail;
        await dialog.locator(".field", {has: page.locator(`[name="${name}"]`)}).getByText(sentence, {exact: true}).waitFor();
        assert.equal(await field(name).getAttribute("aria-invalid"), "true");
    }
    await field("budget.max_time").fill("");
    await field("searcher.max_trials").fill("5");
    await dialog.getByText("3 trials more: the search plans 5 instead of 2.").waitFor();
    await picture(page, "limits");
    await page.keyboard.press("Enter");
    await dialog.waitFor({state: "detached"});
    await until(async () => sent.length === 2, "the second request to be seen");
    assert.deepEqual(sent, [{searcher: {max_trials: -1}, budget: {max_time: "soon"}}, {searcher: {max_trials: 5}}], "only what differs is sent");
    await page.locator("pre.yaml", {hasText: "max_trials: 5"}).waitFor();
    await until(async () => (await stage.api(`experiments/${id}`)).trials_total === 5, "five trials");
    assert.equal(JSON.parse(stage.hpsearch("config", String(id), "-o", "json")).searcher.max_trials, 5);
    noFaults();
    await context.close();
});

test("an operator quarantines a worker with a reason and releases it", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}workers`);
    await page.getByRole("link", {name: "worker-one"}).waitFor();
    await page.getByRole("button", {name: "More"}).click();
    await page.getByRole("menuitem", {name: "Quarantine…"}).click();
    await page.getByLabel("What is wrong with it").fill("its fan is loud");
    await page.getByRole("dialog").getByRole("button", {name: "Quarantine"}).click();
    await page.getByText("its fan is loud").first().waitFor();
    await page.locator(".state-mark", {hasText: "Quarantined"}).waitFor();
    await picture(page, "workers");
    await page.getByRole("button", {name: "More"}).click();
    await page.getByRole("menuitem", {name: "Release…"}).click();
    await page.getByRole("dialog").getByRole("button", {name: "Release"}).click();
    await page.locator(".state-mark", {hasText: "Connected"}).waitFor();
    noFaults();
    await context.close();
});

test("an operator pauses, resumes and removes a queue", async () => {
    const settings = {backend: "slurm", arguments: ["-p", "gpu"], time_limit: 3600, workers: 1, backlog: 1, max_workers: 4, slots: null, idle_timeout: 60, give_back: 60,
        min_utilization: 0.5, pool: "", labels: {}, state_root: "", before: "", after: "", wrap: ""};
    await stage.api("queues", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({name: "gpu", settings})});
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}workers`);
    const queue = page.locator("table.queues tbody tr", {hasText: "gpu"});
    await queue.getByText("0 / 4").waitFor();
    const choose = async (item) => {
        await queue.getByRole("button", {name: "More"}).click();
        await page.getByRole("menuitem", {name: item}).click();
    };
    await choose("Pause");
    await queue.locator(".state-mark", {hasText: "Paused"}).waitFor();
    await picture(page, "queues");
    await choose("Resume");
    await queue.locator(".state-mark", {hasText: "Active"}).waitFor();
    await choose("Remove…");
    await page.getByRole("dialog").getByRole("button", {name: "Remove"}).click();
    await queue.waitFor({state: "detached"});
    assert.deepEqual((await stage.api("queues")).queues, []);
    noFaults();
    await context.close();
});

test("on a phone nothing but tables and plots scrolls sideways", async () => {
    const context = await stage.context({viewport: {width: 390, height: 844}, hasTouch: true, isMobile: true});
    const page = await context.newPage();
    for (const path of ["experiments", `e/${search}`, `e/${search}/curves`, `e/${search}/t/1`, `e/${search}/t/1/log`, "workers", "settings", "new"]) {
        await page.goto(stage.url + path);
        await page.locator("h1").first().waitFor();
        await page.waitForTimeout(300);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `${path} is ${wide} wide`);
        await picture(page, `phone-${path.replaceAll("/", "-")}`);
    }
    noFaults();
    await context.close();
});

test("the keyboard alone is enough", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}workers`);
    await page.getByRole("link", {name: "worker-one"}).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.waitForURL(/experiments/);
    await page.locator("[data-row]").first().waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("adaptive");
    await page.waitForURL(/q=adaptive/);
    // Inside a field a key is a letter.
    assert.equal(await page.getByRole("searchbox").inputValue(), "adaptive");
    await page.keyboard.press("Tab");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/e\/\d+$/);
    await page.locator(".tab[aria-current=page]", {hasText: "Overview"}).waitFor();
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("]");
    await page.waitForURL(/\/trials/);
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Previous and next tab").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("dialog").count(), 0);
    noFaults();
    await context.close();
});

test("all pages are there in Chinese, with the sentences of the daemon", async () => {
    await stage.untilEnded(search);
    const context = await stage.context({locale: "zh-CN"});
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${search}`);
    await page.getByRole("link", {name: "概览"}).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), "zh-CN");
    await page.locator(".state-mark.large", {hasText: "已完成"}).waitFor();
    await picture(page, "overview-zh");
    const reasonIn = async (language) => (await stage.api(`experiments/${search}/trials/0`, {headers: {"Accept-Language": language}})).reason.text;
    const [chinese, english] = [await reasonIn("zh-CN,zh;q=0.9"), await reasonIn("en")];
    assert.match(chinese, /[一-龥]/);
    assert.doesNotMatch(english, /[一-龥]/);
    const reason = (text) => page.locator("table.compare td", {hasText: text}).first();
    await page.goto(`${stage.url}e/${search}/compare?t=0,1`);
    await reason(chinese).waitFor();
    // Another tab chooses another language, for all of them.
    const settings = await context.newPage();
    await settings.goto(`${stage.url}settings`);
    await settings.getByRole("button", {name: "English"}).click();
    await page.bringToFront();
    await reason(english).waitFor();
    noFaults();
    await context.close();
});

test("an unknown address says so, and a damaged one opens with defaults", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}nothing/here`);
    await page.getByText("There is no such page").waitFor();
    await page.goto(`${stage.url}e/999`);
    await page.getByText("Not found").waitFor();
    await page.goto(`${stage.url}e/${search}/trials?sort=nothing&columns=nothing&where=)&t=x`);
    await page.getByText("is not expected here").waitFor();
    noFaults();
    await context.close();
});

test("what a page ignores of its address is said in one line, which removes it", async () => {
    await stage.untilEnded(search);
    const {trials} = await stage.api(`experiments/${search}`);
    for (const [locale, sentence, remove] of [["en-GB", "Not understood in the address, and ignored: ", "Remove"], ["zh-CN", "地址中有无法识别的部分，已忽略：", "移除"]]) {
        const context = await stage.context({locale});
        const page = await context.newPage();
        const note = page.locator(".ignored");
        for (const [address, said, left] of [
            ["experiments?sort=loudness&q=adaptive&state=ACTIVE,COMPLETED,BUSY", "sort=loudness · state=BUSY", "experiments?q=adaptive&state=ACTIVE,COMPLETED"],
            [`e/${search}/trials?colour=rung&state=COMPLETED&%ff=1`, "%ff=1 · colour=rung", `e/${search}/trials?state=COMPLETED`],
            [`e/${search}/curves?y=cubic&zoom=9,1`, "y=cubic · zoom=9,1", `e/${search}/curves`],
            [`e/${search}/t/1/log?stream=stdwhat`, "stream=stdwhat", `e/${search}/t/1/log`],
            ["new?fork=none", "fork=none", "new"],
            ["workers?gone=perhaps", "gone=perhaps", "workers"],
        ]) {
            await page.goto(stage.url + address);
            await note.filter({hasText: `${sentence}${said} ${remove}`}).waitFor();
            if (address.includes("trials")) await until(async () => await page.locator("[data-row]").count() === trials.COMPLETED, "the completed trials alone");
            await note.getByRole("button", {name: remove}).click();
            await note.waitFor({state: "detached"});
            assert.equal(page.url(), stage.url + left);
        }
        // The page's own addresses are understood.
        await page.goto(`${stage.url}e/${search}/scatter?mode=pair&px=hparams.learning_rate&py=metric&best=50&rung=1`);
        await page.locator("canvas[data-drawn]").first().waitFor();
        assert.equal(await note.count(), 0);
        noFaults();
        await context.close();
    }
});
