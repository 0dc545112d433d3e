// The base of the tests of the pages: a real daemon with a worker, the built pages, and Chromium.
import {spawn, spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {buildPages} from "../../../clients/web/build.mjs";
import {servePages} from "../../../clients/web/serve.mjs";
import {launchChromium, launchFirefox} from "./browsers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "..", "..", "..");
/// Packages of clients/web/node_modules.
export const webRequire = createRequire(join(root, "clients", "web", "package.json"));

const bin = process.env.HPSEARCH_BIN_DIR ?? join(root, "build", "dev", "bin");

export const patience = 30_000;

/// Waits until `condition` returns something, and returns it.
export async function until(condition, what, most = patience) {
    const end = Date.now() + most;
    for (;;) {
        const found = await condition();
        if (found) return found;
        if (Date.now() > end) throw new Error(`${what} did not happen within ${most / 1000} s`);
        await new Promise((wake) => setTimeout(wake, 50));
    }
}

/// How Chromium and Firefox report an answer that is not 200: the pages show that themselves.
const refusedAnswer = /Failed to load resource|establish a connection to the server at|was interrupted while the page was loading/;

export class Stage {
    constructor() {
        this.folder = mkdtempSync(join(tmpdir(), "hpsearch-web-"));
        this.processes = new Set();
        this.servers = [];
        this.faults = [];
    }

    /// `locked`: the daemon wants a token.
    static async open({slots = 2, worker = true, locked = false} = {}) {
        const stage = new Stage();
        stage.locked = locked;
        stage.pages = join(stage.folder, "pages");
        await buildPages(stage.pages);
        await stage.startDaemon();
        if (worker) stage.startWorker(slots);
        return stage;
    }

    start(program, words, log) {
        const child = spawn(join(bin, program), words, {stdio: ["ignore", "pipe", "pipe"]});
        this.processes.add(child);
        child.log = "";
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => { child.log += bytes; });
        child.on("exit", () => this.processes.delete(child));
        return child;
    }

    async startDaemon() {
        const state = join(this.folder, "state");
        const ports = this.ports ?? {http: "127.0.0.1:0", workers: "tcp://127.0.0.1:0"};
        this.daemon = this.start("hpsearchd", ["--state-dir", state, "--http", ports.http, ...(this.locked ? [] : ["--http-open"]), "--workers", ports.workers, "--workers-open", "--web-root", this.pages]);
        const ready = await until(() => {
            if (this.daemon.exitCode !== null) throw new Error(`hpsearchd ended: ${this.daemon.log}`);
            return /ready: clients .* and (127\.0\.0\.1:\d+), workers (tcp:\/\/[^,]+)/.exec(this.daemon.log);
        }, "the daemon's start");
        this.ports = {http: ready[1], workers: ready[2]};
        this.url = `http://${ready[1]}/`;
    }

    startWorker(slots) {
        this.worker = this.start("hpsearch-worker", ["--daemon", this.ports.workers, "--state-dir", join(this.folder, "worker"), "--slots", `cpu:${slots}`, "--name", "worker-one"]);
    }

    /// Ends the daemon as a crash does; its ports stay the same at the next start.
    async killDaemon() {
        const ended = new Promise((done) => this.daemon.once("exit", done));
        this.daemon.kill("SIGKILL");
        await ended;
    }

    hpsearch(...words) {
        const run = spawnSync(join(bin, "hpsearch"), words, {encoding: "utf8", env: {...process.env, HPSEARCH_SERVER: this.locked ? `unix://${join(this.folder, "state", "api.sock")}` : this.ports.http}});
        if (run.status !== 0) throw new Error(`hpsearch ${words.join(" ")}: ${run.stderr}${this.daemon.exitCode === null ? "" : this.daemon.log}`);
        return run.stdout;
    }

    submit(file, ...words) {
        return Number(/experiment (\d+)/.exec(this.hpsearch("submit", file, ...words))[1]);
    }

    /// The digits search of the examples, with fewer and shorter trainings: rungs at 1, 3 and 9 epochs.
    submitDigits({trials = 24, name = "digits-adaptive-asha"} = {}) {
        const folder = join(root, "examples", "digits");
        const text = readText(join(folder, "adaptive_asha.yaml")).replace("max_trials: 100", `max_trials: ${trials}`).replace("epochs: 81", "epochs: 9")
            .replace("max_rungs: 4", "max_rungs: 3").replace("name: digits-adaptive-asha", `name: ${name}`);
        const file = join(mkdtempSync(join(this.folder, "search-")), "search.yaml");
        writeFileSync(file, text);
        return this.submit(file, folder);
    }

    /// An experiment whose program is a few lines of shell.
    submitScript(config, script) {
        const folder = mkdtempSync(join(this.folder, "program-"));
        writeFileSync(join(folder, "program.sh"), script, {mode: 0o755});
        writeFileSync(join(folder, "experiment.json"), JSON.stringify({entrypoint: ["sh", "program.sh"], ...config}));
        return this.submit(join(folder, "experiment.json"));
    }

    async api(path, init) {
        const answer = await fetch(`${this.url}api/v1/${path}`, init);
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
        return answer.json();
    }

    async untilEnded(experiment, most = 180_000) {
        await until(async () => (await this.api(`experiments/${experiment}`)).ended_at !== null, `the end of experiment ${experiment}`, most);
    }

    /// An experiment whose trials all fail pauses itself.
    async untilQuiet(experiment, most = 180_000) {
        await until(async () => (await this.api(`experiments/${experiment}`)).state !== "ACTIVE", `the end of experiment ${experiment}`, most);
    }

    /// The pages behind a proxy below `prefix`.
    async behind(prefix, intercept) {
        const server = servePages({root: this.pages, daemon: this.ports.http, prefix, intercept});
        await new Promise((done) => server.listen(0, "127.0.0.1", done));
        this.servers.push(server);
        return `http://127.0.0.1:${server.address().port}${encodeURI(prefix)}/`;
    }

    /// HPSEARCH_BROWSER=firefox: that one instead of Chromium.
    async browser() {
        this.launched ??= await (process.env.HPSEARCH_BROWSER === "firefox" ? launchFirefox() : launchChromium());
        return this.launched;
    }

    /// A context of its own: cookies, storage, theme. What goes wrong in its pages is collected in `faults`.
    async context(options = {}) {
        const browser = await this.browser();
        const context = await browser.newContext({viewport: {width: 1280, height: 860}, locale: "en-GB", ...options});
        context.setDefaultTimeout(patience);
        await context.addInitScript(() => {
            globalThis.cspReports = [];
            document.addEventListener("securitypolicyviolation", (event) => globalThis.cspReports.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
        });
        context.on("page", (page) => {
            page.on("pageerror", (fault) => {
                if (!refusedAnswer.test(fault.message)) this.faults.push(`${page.url()}: ${fault.message}`);
            });
            page.on("console", (message) => {
                if (message.type() === "error" && !refusedAnswer.test(message.text())) this.faults.push(`${page.url()}: ${message.text()}`);
            });
            page.on("dialog", (dialog) => {
                this.faults.push(`${page.url()}: dialog ${dialog.message()}`);
                void dialog.dismiss();
            });
        });
        return context;
    }

    async close() {
        await this.launched?.close();
        for (const server of this.servers) {
            server.closeAllConnections?.();
            server.close();
        }
        const all = [...this.processes];
        await Promise.all(all.map((child) => new Promise((done) => {
            child.once("exit", done);
            child.kill("SIGTERM");
            setTimeout(() => child.kill("SIGKILL"), 8000).unref();
        })));
        if (existsSync(this.folder)) rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
    }
}

/// Notes when each promotion of now on is seen in the story of an open page. The returned function gives the milliseconds
/// between their decisions, which are before their commits, and then.
export async function watchPromotions(page) {
    await page.evaluate(() => {
        const seen = new Map();
        const begun = Date.now();
        const look = () => {
            for (const line of document.querySelectorAll(".story li")) {
                const at = line.querySelector("time")?.dateTime;
                const key = `${at} ${line.lastChild.textContent}`;
                if (/promoted to/.test(key) && Date.parse(at) >= begun && !seen.has(key)) seen.set(key, Date.now() - Date.parse(at));
            }
        };
        globalThis.promotionsSeen = seen;
        new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["datetime"]});
    });
    return () => page.evaluate(() => [...globalThis.promotionsSeen.values()].sort((a, b) => a - b));
}

export const digits = (name) => join(root, "examples", "digits", `${name}.yaml`);

/// Where screenshots of failed and of documented journeys go; "" for none.
export const pictures = process.env.HPSEARCH_WEB_PICTURES ?? "";
export async function picture(page, name) {
    if (pictures === "") return;
    mkdirSync(pictures, {recursive: true});
    await page.screenshot({path: join(pictures, `${name}.png`)});
}

export const readText = (path) => readFileSync(path, "utf8");
