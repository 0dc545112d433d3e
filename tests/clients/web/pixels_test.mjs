// Every plot with fixed data, pixel for pixel, against tests/clients/web/blessed. After a change that is meant:
// HPSEARCH_BLESS=1 node tests/clients/web/run.mjs pixels, and look at the pictures.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath, pathToFileURL} from "node:url";
import {buildPages} from "../../../clients/web/build.mjs";
import {serve} from "../../../clients/web/test/fixtures/serve.mjs";
import {chromiumPath} from "./browsers.mjs";
import {webRequire} from "./stage.mjs";

const blessed = join(dirname(fileURLToPath(import.meta.url)), "blessed");
const bless = process.env.HPSEARCH_BLESS === "1";
const {chromium} = webRequire("playwright-core");
const {PNG} = webRequire("pngjs");
const {default: pixelmatch} = await import(pathToFileURL(webRequire.resolve("pixelmatch")).href);

// Texts are a part of the pictures; other fonts draw others.
const font = spawnSync("fc-match", ["system-ui"], {encoding: "utf8"}).stdout ?? "";
const skip = /DejaVu/.test(font) ? false : `the usual font is ${font.trim() || "unknown"}, not DejaVu (fonts-dejavu)`;

const shots = [
    ["rungs", "e/1/rungs?t=4"], ["rungs-dark", "e/7/rungs", "dark"], ["rungs-brackets", "e/9/rungs", "light", 1000], ["rungs-many", "e/10/rungs"],
    ["curves", "e/1/curves"], ["curves-density", "e/1/curves?mode=density", "dark"], ["history", "e/1/history?vs=7"], ["history-nan", "e/5/history", "dark"],
    ["parallel", "e/1/parallel?b=metric:0-0.4&axes=hparams.learning_rate,hparams.width,hparams.optimizer,metric&best=20", "light", 480], ["parallel-many", "e/10/parallel?b=hparams.learning_rate:0.3-0.7&axes=hparams.learning_rate,hparams.optimizer,metric&best=20", "dark", 480],
    ["scatter", "e/1/scatter?mode=pair&px=hparams.learning_rate&py=metric"], ["scatter-many", "e/10/scatter?mode=pair&px=hparams.width&py=metric"],
    ["contour", "e/10/scatter?mode=contour"], ["importance", "e/10/importance"], ["timeline", "e/1/timeline"], ["timeline-binned", "e/10/timeline", "dark"],
];

let folder;
let served;
let browser;
before(async () => {
    if (skip) return;
    folder = mkdtempSync(join(tmpdir(), "hpsearch-web-pixels-"));
    await buildPages(folder);
    served = await serve(folder);
    browser = await chromium.launch({executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb", "--font-render-hinting=none"]});
});
after(async () => {
    await browser?.close();
    served?.server.close();
    if (folder) rmSync(folder, {recursive: true, force: true});
});

for (const [name, address, theme = "light", width = 760] of shots) {
    test(`the plot ${name} is drawn as it was`, {skip}, async () => {
        const context = await browser.newContext({viewport: {width, height: 900}, deviceScaleFactor: 1, locale: "en-GB", timezoneId: "UTC", colorScheme: theme, reducedMotion: "reduce"});
        const page = await context.newPage();
        const faults = [];
        page.on("pageerror", (error) => faults.push(error.stack));
        await page.goto(`http://127.0.0.1:${served.port}/${address}`);
        await page.waitForSelector("canvas[data-drawn]", {timeout: 30_000});
        await page.waitForFunction(() => !document.querySelector(".page p[role=status]"));
        // What comes in a second answer: other experiments, the heat map, a chosen trial.
        await page.waitForTimeout(600);
        const shot = await page.locator(".plot-area").first().screenshot({animations: "disabled"});
        await context.close();
        assert.deepEqual(faults, []);
        const file = join(blessed, `${name}.png`);
        if (bless) {
            mkdirSync(blessed, {recursive: true});
            writeFileSync(file, shot);
            return;
        }
        assert.ok(existsSync(file), `${file} is missing: HPSEARCH_BLESS=1 makes it`);
        const [now, then] = [PNG.sync.read(shot), PNG.sync.read(readFileSync(file))];
        assert.deepEqual([now.width, now.height], [then.width, then.height], "the size of the plot");
        const difference = new PNG({width: now.width, height: now.height});
        const changed = pixelmatch(now.data, then.data, difference.data, now.width, now.height, {threshold: 0.1});
        const share = changed / (now.width * now.height);
        if (share > 0.001) {
            const left = mkdtempSync(join(tmpdir(), "hpsearch-pixels-"));
            writeFileSync(join(left, `${name}.png`), shot);
            writeFileSync(join(left, `${name}-difference.png`), PNG.sync.write(difference));
            assert.fail(`${(share * 100).toFixed(2)} % of the pixels differ; both pictures are in ${left}`);
        }
    });
}
