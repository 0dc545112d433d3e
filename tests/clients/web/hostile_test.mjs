// Names, hyperparameters, logs and reasons that would be scripts, markup or formulas: the pages show them as text. The
// policy of the pages is never violated. And the pages work below any prefix.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
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
mkdir left
printf '%s' "<html><script>document.title='owned'</script><img src=x onerror=\\"document.title='owned'\\"></html>" > left/page.html
printf '%s' "<svg xmlns='http://www.w3.org/2000/svg' onload=\\"document.title='owned'\\"><script>document.title='owned'</script></svg>" > left/drawing.svg
printf '%s' "GIF89a/*<svg onload=document.title='owned'>*/=1;document.title='owned'" > left/both.gif
printf '%s' '{"<img src=x onerror=alert(1)>": "</script><script>alert(1)</script>", "__proto__": 1}' > left/odd.json
printf '%s' "=cmd|' /C calc'!A0,<script>alert(1)</script>
\\"<img src=x onerror=alert(1)>\\",2
" > left/odd.csv
while IFS= read -r name; do mkdir -p "left/$(dirname -- "$name")" && cp left/page.html "left/$name"; done <<'EOF' 2>/dev/null
${corpus.join("\n")}
EOF
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

const pagesOf = (id) => ["experiments", `e/${id}`, `e/${id}/trials`, `e/${id}/events`, `e/${id}/events?view=exact`, `e/${id}/config`, `e/${id}/t/0`, `e/${id}/t/0/log`, `e/${id}/t/1/log?stream=stderr`, `e/${id}/t/0/files`,
    `e/${id}/t/0/log?wrap=yes`, `e/${id}/compare?t=0,1,2,3`, `e/${id}/checkpoints`, `e/${id}/curves`, `e/${id}/rungs`, `e/${id}/parallel`, `e/${id}/scatter`, `e/${id}/importance`, `e/${id}/history`,
    `e/${id}/timeline`, "workers", "workers/1", `new?fork=${id}`, "settings", "settings/usage", "settings/audit"];

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
    await page.goto(`${stage.url}e/${hostile}/t/0/log?stream=stdout`);
    await page.getByText("<script>document.title='owned'</script>", {exact: true}).first().waitFor();
    const red = page.locator(".ansi-red-fg");
    assert.equal(await red.first().textContent(), "<b>red</b>");
    const shown = await page.locator(".log-box").textContent();
    assert.ok(shown.includes("\u2401\u2402"));
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("files that a program left are shown as text or as images, whatever is in them and however they are named", async () => {
    const list = () => stage.api(`experiments/${hostile}/trials/0/files`);
    await until(async () => (await list()).files.length > 0, "the files at the daemon");
    const {files} = await list();
    for (const name of ["page.html", "drawing.svg", "both.gif", "odd.json", "odd.csv", corpus[1], corpus[7], "__proto__"]) assert.ok(files.some(({path}) => path === `left/${name}`), `${name} of ${files.map(({path}) => path).join(" ")}`);
    const context = await stage.context({acceptDownloads: true});
    const page = await context.newPage();
    for (const {path} of files) {
        await page.goto(`${stage.url}e/${hostile}/t/0/files?file=${encodeURIComponent(path)}`);
        const shown = page.locator(".file-beside");
        // Browsers differ in whether they draw an image that begins well.
        await shown.locator(path.endsWith(".gif") ? "img.file-image, p.muted" : ".file-view").waitFor();
        if (/\.(html|svg)$/.test(path)) assert.match(await shown.locator("pre.file-view").textContent(), /^<(html|svg)/);
        const seen = await page.evaluate(() => ({
            title: document.title, reports: globalThis.cspReports, links: [...document.querySelectorAll("a[href]")].map((link) => link.protocol).filter((protocol) => !/^https?:$/.test(protocol)),
            foreign: document.querySelectorAll("#app script, #app iframe, #app object, #app embed, #app svg[onload], #app [onerror], #app [srcdoc], #app img:not([src^='blob:'])").length,
        }));
        assert.ok(seen.title.startsWith("Files of trial 0 · "), seen.title);
        assert.deepEqual([seen.reports, seen.links, seen.foreign], [[], [], 0], path);
    }
    // No control that turns the direction of writing is left in a name.
    assert.doesNotMatch(await page.locator("main").textContent(), /\u202e/);
    await page.locator(".file-table").getByText("left/⟨U+202E⟩gnp.exe").waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator("tr", {hasText: "drawing.svg"}).getByRole("button").click()]);
    assert.equal(download.suggestedFilename(), "drawing.svg");
    assert.match(readFileSync(await download.path(), "utf8"), /^<svg/);
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

const day = 86_400_000;
const short = (name) => stage.submitScript({name, hyperparameters: {x: 1}, searcher: {name: "single", metric: "loss", max_length: {epochs: 1}}, max_restarts: 0}, "exit 1\n");

/// A page of a browser whose clock is wrong by `clockIsOff` milliseconds.
async function pageWithClock(context, off) {
    await context.addInitScript((wrong) => {
        const now = Date.now.bind(Date);
        globalThis.clockIsOff = wrong;
        Date.now = () => now() + globalThis.clockIsOff;
    }, off);
    return context.newPage();
}

/// Every age in the list is one of seconds or minutes that have passed.
const untilAgesFit = (page) => until(async () => {
    const ages = await page.locator("[data-row] td.nowrap.muted").allTextContents();
    return ages.length > 0 && ages.every((age) => /^(now|\d+ (second|minute)s? ago)$/.test(age));
}, "ages of minutes");

for (const [what, off] of Object.entries({"two days behind": -2 * day, "three days ahead": 3 * day, "ten years ahead": 3652 * day})) {
    test(`a browser's clock that is ${what} does not change ages`, async () => {
        const context = await stage.context();
        const page = await pageWithClock(context, off);
        await page.goto(`${stage.url}experiments`);
        await untilAgesFit(page);
        await context.close();
    });
}

test("a browser's clock that jumps while a page is open does not hold up changes", async () => {
    const context = await stage.context();
    const page = await pageWithClock(context, 0);
    await page.goto(`${stage.url}experiments`);
    await untilAgesFit(page);
    for (const [name, off] of [["after a jump back", -2 * day], ["after a jump ahead", 3652 * day]]) {
        await page.evaluate((wrong) => { globalThis.clockIsOff = wrong; }, off);
        const id = short(name);
        await page.getByRole("link", {name, exact: true}).waitFor();
        await stage.untilQuiet(id);
        await untilAgesFit(page);
    }
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});

test("a page that goes offline says since when, keeps its data, and goes on by itself", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}experiments`);
    await page.locator("[data-row]").first().waitFor();
    await page.locator(".live-dot.live").waitFor();
    const rows = await page.locator("[data-row]").count();
    await page.evaluate(() => { globalThis.neverReloaded = true; });
    await context.setOffline(true);
    const note = page.getByText(/Connection lost \d+ s ago/);
    await note.waitFor();
    const seconds = async () => Number(/lost (\d+) s/.exec(await note.textContent())[1]);
    const first = await seconds();
    await until(async () => await seconds() > first, "a greater age of the data");
    // What happens meanwhile is not seen, and what was seen stays.
    const id = short("while offline");
    await stage.untilQuiet(id);
    assert.equal(await page.locator("[data-row]").count(), rows);
    await context.setOffline(false);
    await note.waitFor({state: "hidden"});
    await page.locator(".live-dot.live").waitFor();
    const printed = JSON.parse(stage.hpsearch("list", "-o", "json"));
    const all = printed.experiments ?? printed;
    const row = page.locator("[data-row]", {has: page.getByRole("link", {name: "while offline", exact: true})});
    await row.waitFor();
    assert.equal(await page.locator("[data-row]").count(), all.length);
    const {state} = await stage.api(`experiments/${id}`);
    await row.getByText(state, {exact: false}).first().waitFor();
    // Not only once: later changes arrive, too.
    short("after offline");
    await page.getByRole("link", {name: "after offline", exact: true}).waitFor();
    assert.equal(await page.evaluate(() => globalThis.neverReloaded), true);
    // Requests that fail are what the browser reports of being offline.
    assert.deepEqual(stage.faults.splice(0).filter((fault) => !/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/.test(fault)), []);
    await context.close();
});

test("a list is there within four seconds over a slow line", async () => {
    // No clock: what the first page asks for one after another, and how much of it, at 400 ms a round and 50 kB a second.
    const context = await stage.context();
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    const asked = new Map();
    session.on("Network.requestWillBeSent", ({requestId, request, initiator}) => asked.set(requestId, {path: new URL(request.url).pathname, by: initiator.type, bytes: 0}));
    session.on("Network.loadingFinished", ({requestId, encodedDataLength}) => { asked.get(requestId).bytes = encodedDataLength; });
    await page.goto(`${stage.url}experiments`);
    await page.locator("[data-row]").first().waitFor();
    const all = [...asked.values()].filter(({path}) => !path.endsWith("/stream") && !path.endsWith("/openapi.json"));
    const files = all.filter(({path}) => path.includes("/assets/"));
    assert.ok(files.length >= 3, "scripts and styles");
    assert.deepEqual(files.filter(({by}) => by === "script").map(({path}) => path), [], "files that the page's head does not name");
    const bytes = all.reduce((sum, each) => sum + each.bytes, 0);
    // The page, its files six at a time, the list.
    const rounds = 1 + Math.ceil(files.length / 6) + 1;
    console.log(`${bytes} bytes in ${rounds} rounds: ${(rounds * 0.4 + bytes / 50_000).toFixed(1)} s`);
    assert.ok(rounds * 0.4 + bytes / 50_000 <= 4, `${bytes} bytes in ${rounds} rounds`);
    await context.close();
});

/// A value that an address may have: right, damaged, huge, of another page.
function oddValue(random) {
    const values = ["", "1", "-1", "0", "NaN", "1e999", "999999999999999999999", "%", "%25", "%E4", "a,b,,c", "1,2,3", "1,x,3", "0.5-0.2", "metric:0-1;metric:", ":::;;;", "{\"a\":1}", "null", "true", "__proto__", "constructor",
        "-metric", "~metric", "hparams.choice", "log", "quantile", "density", "pair", "contour", "exact", "200", "10", "../..", "x".repeat(300), ...corpus];
    return values[Math.floor(random() * values.length)];
}

test("pages open with any state in their address", async () => {
    const seed = Number(process.env.HPSEARCH_SEED ?? 20261127);
    console.log(`seed ${seed}`);
    let state = seed >>> 0;
    const random = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
    const names = ["t", "best", "rung", "len", "b", "y", "clip", "span", "axes", "mode", "n", "x", "xlog", "smooth", "zoom", "metric", "group", "px", "py", "colour", "view", "all", "vs", "level", "from", "to", "at", "where", "sort", "columns", "state", "brushed",
        "kind", "q", "view", "show", "attempt", "rank", "stream", "wrap", "fork", "points", "narrow", "gone", "story", "file", "of", "by", "since", "refusals"];
    const context = await stage.context();
    const page = await context.newPage();
    const pages = pagesOf(hostile).map((path) => path.split("?")[0]);
    for (let n = 0; n < 40; n += 1) {
        const path = pages[Math.floor(random() * pages.length)];
        const query = Array.from({length: 1 + Math.floor(random() * 6)}, () => `${names[Math.floor(random() * names.length)]}=${encodeURIComponent(oddValue(random))}`).join("&");
        const address = `${path}?${query}`;
        await page.goto(stage.url + address);
        // A page or a sentence about what is wrong, and no fault of a script.
        await page.locator("h1, .title, .state-note, [role=alert]").first().waitFor().catch(() => assert.fail(`seed ${seed}: ${address} shows nothing`));
        await page.waitForTimeout(120);
        assert.deepEqual(stage.faults.splice(0), [], `seed ${seed}: ${address}`);
        assert.notEqual((await page.locator("main").textContent()).trim(), "", `seed ${seed}: ${address}`);
        assert.deepEqual(await page.evaluate(() => globalThis.cspReports), [], `seed ${seed}: ${address}`);
    }
    await context.close();
});
