// Measures the pages in a real Chromium before a real daemon and prints the figures as JSON:
//     HPSEARCH_BIN_DIR=BIN node measure.mjs SMALL LARGE
// SMALL and LARGE are state directories that make_store wrote, of 10,000 and of 100,000 trials. Daemon, browser and this
// program share the machine's cores. Times of first pages are of a browser context with an empty cache.
import {cpSync} from "node:fs";
import {join} from "node:path";
import {Stage, watchPromotions} from "../../tests/clients/web/stage.mjs";
import {buildPages} from "../../clients/web/build.mjs";

const repeats = 5;
const [small, large] = process.argv.slice(2);
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const figures = {};

/// A daemon with this store, its pages and a browser. No worker.
async function before(store, use) {
    const stage = new Stage();
    try {
        stage.pages = join(stage.folder, "pages");
        await buildPages(stage.pages);
        if (store) cpSync(store, join(stage.folder, "state"), {recursive: true});
        await stage.startDaemon();
        await use(stage);
        if (stage.faults.length > 0) throw new Error(stage.faults.join("\n"));
    } finally {
        await stage.close();
    }
}

/// Milliseconds from the start of the navigation until `ready` is there; the median of several first visits.
async function firstVisits(stage, address, ready, look) {
    const times = [];
    const looks = [];
    for (let i = 0; i < repeats; ++i) {
        const context = await stage.context();
        const page = await context.newPage();
        await page.goto(stage.url + address, {waitUntil: "commit"});
        times.push(await page.evaluate(ready));
        if (look) looks.push(await page.evaluate(look));
        await context.close();
    }
    return look ? [median(times), median(looks)] : median(times);
}

// In the page: milliseconds since its navigation at the first frame that has what it looks for.
const whenThere = (selector) => `new Promise((done) => {
    const look = () => document.querySelector(${JSON.stringify(selector)}) ? done(performance.now()) : requestAnimationFrame(look);
    look();
})`;
const whenAll = `new Promise((done) => {
    const look = () => document.querySelector("canvas[data-drawn]") && !document.querySelector(".page p[role=status]") ? done(performance.now()) : requestAnimationFrame(look);
    look();
})`;
const firstPaint = `new Promise((done) => {
    const paint = () => performance.getEntriesByName("first-contentful-paint")[0];
    const look = () => paint() ? done(paint().startTime) : requestAnimationFrame(look);
    look();
})`;

async function watchFrames(page) {
    await page.evaluate(() => {
        globalThis.frames_ = [];
        globalThis.tasks_ = [];
        const loop = (last) => requestAnimationFrame((now) => {
            globalThis.frames_.push(now - last);
            loop(now);
        });
        loop(performance.now());
        new PerformanceObserver((list) => globalThis.tasks_.push(...list.getEntries().map((each) => each.duration))).observe({type: "longtask", buffered: true});
    });
}
/// What was watched since the last call: the 95th percentile of a frame, the longest task.
const watched = (page) => page.evaluate(() => {
    const frames = globalThis.frames_.splice(0).sort((a, b) => a - b);
    return {frame: frames[Math.floor(frames.length * 0.95)], task: Math.max(0, ...globalThis.tasks_.splice(0)), frames: frames.length};
});
/// Bytes of scripts' objects and arrays after a collection.
async function memory(context, page) {
    const session = await context.newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const usage = await session.send("Runtime.getHeapUsage");
    await session.detach();
    return usage.usedSize + (usage.embedderHeapUsedSize ?? 0) + (usage.backingStorageSize ?? 0);
}
const rest = (page, ms) => page.waitForTimeout(ms);

await before(null, async (stage) => {
    for (let i = 0; i < 100; ++i) {
        await stage.api("experiments", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({config: {
            name: `search ${i}`, entrypoint: ["true"], hyperparameters: {x: {type: "double", minval: 0, maxval: 1}},
            searcher: {name: "random", metric: "loss", max_length: 3, max_trials: 4}}})});
    }
    [figures.list, figures.first_paint] = await firstVisits(stage, "experiments", whenThere("tr[data-row] a"), firstPaint);
});
await before(small, async (stage) => {
    figures.overview_small = await firstVisits(stage, "e/1", whenThere("canvas[data-drawn]"));
});
await before(large, async (stage) => {
    figures.overview = await firstVisits(stage, "e/1", whenThere("canvas[data-drawn]"));
    figures.parallel_sample = await firstVisits(stage, "e/1/parallel", whenThere("canvas[data-drawn]"));
    figures.parallel = await firstVisits(stage, "e/1/parallel", whenAll);

    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/1/parallel`);
    await page.evaluate(whenAll);
    await rest(page, 2000);
    await watchFrames(page);
    await rest(page, 1000);
    figures.idle_frame = (await watched(page)).frame;
    const over = await page.locator("canvas.plot-over").first().boundingBox();
    for (let i = 0; i < 120; ++i) await page.mouse.move(over.x + 200 + i * 6, over.y + 100 + i * 1.5);
    const hover = await watched(page);
    await page.mouse.move(over.x + 34, over.y + 100);
    await page.mouse.down();
    for (let i = 0; i < 120; ++i) await page.mouse.move(over.x + 34, over.y + 110 + i * 2);
    const brush = await watched(page);
    await page.mouse.up();
    await rest(page, 1500);
    const settled = await watched(page);
    const parallelBytes = await memory(context, page);

    await page.goto(`${stage.url}e/1/scatter?mode=pair&px=hparams.optimizer.lr&py=metric`);
    await page.evaluate(whenAll);
    await rest(page, 2000);
    await watchFrames(page);
    await watched(page);
    const cloud = await page.locator("canvas.plot-over").first().boundingBox();
    await page.mouse.move(cloud.x + 300, cloud.y + 150);
    await page.keyboard.down("Shift");
    for (let i = 0; i < 60; ++i) await page.mouse.wheel(0, i < 30 ? -40 : 40);
    await page.keyboard.up("Shift");
    const zoom = await watched(page);

    await page.goto(`${stage.url}e/1/trials`);
    await page.waitForSelector("tr[data-row] a");
    await rest(page, 3000);
    await watchFrames(page);
    await watched(page);
    const sorts = [];
    for (let i = 0; i < repeats; ++i) {
        sorts.push(await page.evaluate(() => new Promise((done) => {
            const header = [...document.querySelectorAll("th button")].find((each) => /metric|loss/i.test(each.textContent ?? ""));
            const first = () => document.querySelector("tr[data-row] a")?.textContent;
            const was = first();
            const begun = performance.now();
            header.click();
            const look = () => first() !== was || performance.now() - begun > 5000 ? done(performance.now() - begun) : requestAnimationFrame(look);
            look();
        })));
        await rest(page, 500);
    }
    const table = await watched(page);
    Object.assign(figures, {
        hover_frame: hover.frame, brush_frame: brush.frame, zoom_frame: zoom.frame, sort: median(sorts),
        bytes: Math.max(parallelBytes, await memory(context, page)),
        longest_task: Math.max(hover.task, brush.task, settled.task, zoom.task, table.task),
    });
    await context.close();
});
// A search of 24 short trainings in two slots, on the same cores.
await before(null, async (stage) => {
    stage.startWorker(2);
    const search = stage.submitDigits();
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}e/${search}?story=all`);
    await page.waitForSelector(".page h2");
    const delays = await watchPromotions(page);
    await stage.untilEnded(search, 300_000);
    await rest(page, 3000);
    const found = await delays();
    figures.promotions = found.length;
    figures.promotion = median(found);
    figures.promotion_p95 = found[Math.ceil(found.length * 0.95) - 1];
    await context.close();
});
console.log(JSON.stringify(figures));
