// Names, hyperparameters, logs and reasons that would be scripts, markup or formulas: the pages show them as text. The
// policy of the pages is never violated. And the pages work below any prefix.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Stage, until} from "./stage.mjs";

const corpus = [
    "<script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", "\"><svg onload=document.title='owned'>", "javascript:document.title='owned'",
    "{{constructor.constructor('document.title=1')()}}", "</textarea><script>document.title='owned'</script>", "'-document.title='owned'-'", "\u202egnp.exe", "=cmd|' /C calc'!A0",
    "data:text/html,<script>1</script>", "<iframe srcdoc='<script>parent.document.title=1</script>'>", "&lt;b&gt;&#x3c;i&#x3e;", "😀".repeat(60), "中文名称", "a".repeat(500), "__proto__", "constructor",
];

let stage;
let hostile;

before(async () => {
    stage = await Stage.open();
    const script = `cat <<'EOF'
${corpus.join("\n")}
EOF
printf '\\033[31m<b>red</b>\\033[0m \\033]8;;javascript:document.title=1\\007link\\033]8;;\\007 \\377\\376 \\001\\002\\n'
printf '${corpus.slice(0, 3).join(" ").replaceAll("'", "'\\''").replaceAll("%", "%%")}\\n' >&2
exit 1
`;
    hostile = stage.submitScript({
        name: corpus[1].slice(0, 120), description: corpus.join(" "), labels: corpus.filter((each) => each.length < 60).slice(0, 6), max_restarts: 0,
        hyperparameters: {
            "<img src=x onerror=alert(1)>": {type: "double", minval: 0, maxval: 1}, __proto__x: 1, toString: {type: "int", minval: 1, maxval: 9},
            choice: {type: "categorical", vals: corpus}, text: corpus.join("|"),
        },
        searcher: {name: "random", metric: "<b>loss</b>", max_length: {epochs: 1}, max_trials: 6},
    }, script);
    await stage.untilQuiet(hostile);
});
after(() => stage?.close());

const pagesOf = (id) => ["experiments", `e/${id}`, `e/${id}/trials`, `e/${id}/events`, `e/${id}/events?view=exact`, `e/${id}/config`, `e/${id}/t/0`, `e/${id}/t/0/log`, `e/${id}/t/1/log?stream=stderr`,
    `e/${id}/t/0/log?wrap=yes`, `e/${id}/compare?t=0,1,2,3`, `e/${id}/checkpoints`, `e/${id}/curves`, `e/${id}/rungs`, `e/${id}/parallel`, `e/${id}/scatter`, `e/${id}/importance`, `e/${id}/history`,
    `e/${id}/timeline`, "workers", "workers/1", `new?fork=${id}`, "settings"];

async function visit(base, context) {
    const page = await context.newPage();
    for (const path of pagesOf(hostile)) {
        await page.goto(base + path);
        await page.locator("h1").first().waitFor();
        await page.waitForTimeout(250);
        const seen = await page.evaluate(() => ({
            title: document.title, reports: globalThis.cspReports, foreign: document.querySelectorAll("#app script, #app iframe, #app img, #app [onload], #app [onerror]").length,
            links: [...document.querySelectorAll("a[href]")].map((link) => link.protocol).filter((protocol) => !/^(https?|blob):$/.test(protocol)),
        }));
        assert.deepEqual(seen.reports, [], path);
        assert.equal(seen.foreign, 0, path);
        assert.deepEqual(seen.links, [], path);
        assert.ok(!["owned", "1"].includes(seen.title), path);
    }
    await page.close();
}

test("hostile texts are shown as texts, on every page", async () => {
    const context = await stage.context();
    await visit(stage.url, context);
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${hostile}/t/0/log`);
    await page.getByText("<script>document.title='owned'</script>", {exact: true}).first().waitFor();
    const red = page.locator(".ansi-red-fg");
    assert.equal(await red.first().textContent(), "<b>red</b>");
    const shown = await page.locator(".log-box").textContent();
    assert.ok(shown.includes("\u2401\u2402"));
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("hostile addresses are read as text", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    for (const text of corpus) {
        await page.goto(`${stage.url}experiments?q=${encodeURIComponent(text)}`);
        await page.getByRole("searchbox").waitFor();
        assert.equal(await page.getByRole("searchbox").inputValue(), text);
        await page.goto(`${stage.url}e/${hostile}/trials?where=${encodeURIComponent(text)}&columns=${encodeURIComponent(text)}&sort=${encodeURIComponent(text)}`);
        await page.getByLabel("Filter by a condition").waitFor();
        assert.deepEqual(await page.evaluate(() => globalThis.cspReports), []);
    }
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("the pages work below a prefix with a blank", async () => {
    const base = await stage.behind("/a b/x");
    const context = await stage.context();
    await visit(base, context);
    const page = await context.newPage();
    await page.goto(`${base}e/${hostile}/t/0`);
    await page.getByRole("link", {name: "Log", exact: true}).click();
    await page.waitForURL(`**/a%20b/x/e/${hostile}/t/0/log`);
    await page.reload();
    await page.locator(".log-line").first().waitFor();
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("a browser's clock that is days off does not change ages", async (t) => {
    if (!(await fetch(`${stage.url}api/v1/status`)).headers.get("Date")) {
        t.skip("the daemon sends no Date");
        return;
    }
    const context = await stage.context();
    await context.addInitScript(() => {
        const now = Date.now.bind(Date);
        Date.now = () => now() + 3 * 86_400_000;
    });
    const page = await context.newPage();
    await page.goto(`${stage.url}experiments`);
    await until(async () => /(second|minute)s? ago|now/.test(await page.locator("[data-row]").first().textContent()), "an age of minutes");
    await context.close();
});

test("a list comes over a slow line", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.emulateNetworkConditions", {offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000});
    const start = performance.now();
    await page.goto(`${stage.url}experiments`);
    await page.locator("[data-row]").first().waitFor();
    console.log(`list over a slow line: ${Math.round(performance.now() - start)} ms`);
    await context.close();
});
