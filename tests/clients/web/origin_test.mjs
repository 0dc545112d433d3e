// Pages of other sites in the browser of somebody who may use the daemon: another port of the same host (to a browser the
// same site, so that cookies go along), another name, and a name that is bound to the daemon's address after its page was
// loaded. They read nothing, change nothing, and the daemon's log of events stays as it is.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import {after, before, test} from "node:test";
import {launchChromium} from "./browsers.mjs";
import {Stage} from "./stage.mjs";

const secret = "name-that-others-must-not-see";
const single = {hyperparameters: {x: 1}, searcher: {name: "single", metric: "loss", max_length: {epochs: 1}}};
let foreign;
let foreignPort;
let heard = [];
let chromium;

before(async () => {
    foreign = createServer((question, answer) => {
        if (question.headers.cookie) heard.push(question.headers.cookie);
        answer.writeHead(200, {"Content-Type": "text/html", "Referrer-Policy": "unsafe-url"});
        answer.end("<!doctype html><title>another site</title><body>");
    });
    await new Promise((done) => foreign.listen(0, "127.0.0.1", done));
    foreignPort = foreign.address().port;
    chromium = await launchChromium(["--host-resolver-rules=MAP *.example 127.0.0.1", "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"]);
});
after(async () => {
    await chromium?.close();
    foreign?.closeAllConnections();
    foreign?.close();
});

/// In a page of another site: each way to ask, and what came of it. Nothing may come of any.
async function attack({daemon, experiment, token}) {
    const api = `${daemon}api/v1/`;
    const change = `${api}experiments/${experiment}/pause`;
    const got = [];
    const outcome = async (name, ask) => {
        const answer = await Promise.race([ask().catch(() => ""), new Promise((done) => setTimeout(() => done(""), 4000))]);
        if (answer) got.push(`${name}: ${answer}`);
    };
    const ask = (name, url, init) => outcome(name, async () => {
        const answer = await fetch(url, init);
        return answer.type === "opaque" ? "" : `${answer.status} ${await answer.text()}`;
    });
    const element = (name, kind, attributes) => outcome(name, () => new Promise((done) => {
        const made = Object.assign(document.createElement(kind), attributes);
        made.onload = () => done(kind === "iframe" || kind === "object" ? made.contentDocument?.body?.textContent ?? "" : "loaded");
        made.onerror = () => done("");
        document.body.append(made);
    }));
    const form = (name, kind, content) => outcome(name, () => new Promise((done) => {
        const frame = Object.assign(document.createElement("iframe"), {name: `frame-${name}`});
        document.body.append(frame);
        const made = Object.assign(document.createElement("form"), {method: "post", action: change, enctype: kind, target: frame.name});
        const field = Object.assign(document.createElement("input"), {name: Object.keys(content)[0], value: Object.values(content)[0]});
        made.append(field);
        document.body.append(made);
        made.submit();
        setTimeout(() => {
            let text = "";
            try {
                text = frame.contentDocument?.body?.textContent ?? "";
            } catch {
                // Another origin's, as it should be.
            }
            done(text);
        }, 700);
    }));
    const bearer = token ? {Authorization: `Bearer ${token}`} : {};
    const json = {"Content-Type": "application/json"};
    const config = JSON.stringify({config: {name: "from-another-site", entrypoint: ["true"], hyperparameters: {x: 1}, searcher: {name: "single", metric: "loss", max_length: {epochs: 1}}}});
    await Promise.all([
        ask("fetch", `${api}experiments`), ask("fetch with cookies", `${api}experiments`, {credentials: "include"}), ask("fetch of the page", daemon),
        ask("fetch without CORS", `${api}experiments`, {mode: "no-cors", credentials: "include"}), ask("fetch with a token", `${api}experiments`, {headers: bearer}),
        ask("POST of text", change, {method: "POST", mode: "no-cors", credentials: "include", body: "{}"}),
        ask("POST without a body", change, {method: "POST", mode: "no-cors", credentials: "include"}),
        ask("POST of a form", change, {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({a: "1"})}),
        ask("POST of JSON", change, {method: "POST", credentials: "include", headers: json, body: "{}"}),
        ask("POST of an experiment", `${api}experiments`, {method: "POST", mode: "no-cors", credentials: "include", body: config}),
        ask("POST of JSON with a token", change, {method: "POST", headers: {...json, ...bearer}, body: "{}"}),
        ask("DELETE", `${api}experiments/${experiment}`, {method: "DELETE", credentials: "include"}),
        ask("sign-in", `${api}session`, {method: "POST", credentials: "include", mode: "no-cors", body: "{}"}),
        outcome("stream", () => new Promise((done) => {
            const source = new EventSource(`${api}events`, {withCredentials: true});
            source.onopen = () => done("open");
            source.onmessage = (event) => done(event.data);
            source.onerror = () => { source.close(); done(""); };
        })),
        outcome("socket", () => new Promise((done) => {
            const socket = new WebSocket(`${api.replace("http", "ws")}stream`);
            socket.onopen = () => done("open");
            socket.onerror = () => done("");
        })),
        outcome("beacon", async () => { navigator.sendBeacon(change, "{}"); return ""; }),
        element("image", "img", {src: `${api}experiments`}), element("image that changes", "img", {src: change}),
        element("script", "script", {src: `${api}experiments/${experiment}`}),
        element("style", "link", {rel: "stylesheet", href: `${api}experiments`}), element("frame", "iframe", {src: daemon}), element("object", "object", {data: daemon}),
        form("text", "text/plain", {'{"a":"': '"}'}), form("urlencoded", "application/x-www-form-urlencoded", {a: "1"}), form("multipart", "multipart/form-data", {a: "1"}),
        outcome("window", async () => {
            const opened = window.open(daemon);
            await new Promise((done) => setTimeout(done, 900));
            try {
                return opened?.document.body.textContent ?? "";
            } catch {
                return "";
            } finally {
                opened?.close();
            }
        }),
    ]);
    return got;
}

const stateOf = (stage, experiment) => [stage.hpsearch("list", "-o", "json"), stage.hpsearch("events", String(experiment))];

test("a page of another port or name gets nothing and changes nothing at a daemon that asks for no token", async () => {
    const stage = await Stage.open({worker: false});
    try {
        const experiment = stage.submitScript({name: secret, ...single}, "true\n");
        const before = stateOf(stage, experiment);
        const context = await chromium.newContext();
        for (const host of ["127.0.0.1", "localhost", "evil.example"]) {
            const page = await context.newPage();
            const refused = [];
            page.on("response", (response) => {
                if (response.request().method() === "POST") refused.push(response.status());
            });
            await page.goto(`http://${host}:${foreignPort}/`);
            assert.deepEqual(await page.evaluate(attack, {daemon: stage.url, experiment, token: ""}), [], host);
            // They did arrive: the daemon refused them, and not the browser.
            assert.ok(refused.length >= 3, `${host}: ${refused}`);
            assert.deepEqual([...new Set(refused)], [403], host);
            await page.close();
        }
        assert.deepEqual(stateOf(stage, experiment), before);
        // The same from the daemon's own page goes through: what was refused above was refused for where it came from.
        const own = await context.newPage();
        await own.goto(`${stage.url}experiments`);
        assert.equal(await own.evaluate((id) => fetch(`/api/v1/experiments/${id}/pause`, {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then((answer) => answer.status), experiment), 200);
        assert.notDeepEqual(stateOf(stage, experiment), before);
        await context.close();
    } finally {
        await stage.close();
    }
});

test("a page of another port gets and changes nothing with the cookie of somebody who is signed in, nor with a token", async () => {
    const stage = await Stage.open({worker: false, locked: true});
    try {
        const token = /hps_[\w-]+/.exec(stage.hpsearch("token", "create", "--name", "tester", "--role", "admin"))[0];
        const experiment = stage.submitScript({name: secret, ...single}, "true\n");
        const before = stateOf(stage, experiment);
        const context = await chromium.newContext();
        const own = await context.newPage();
        await own.goto(`${stage.url}experiments`);
        await own.getByLabel("Token").fill(token);
        await own.getByRole("button", {name: "Sign in"}).click();
        await own.getByRole("link", {name: secret}).waitFor();
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${foreignPort}/`);
        assert.deepEqual(await page.evaluate(attack, {daemon: stage.url, experiment, token}), []);
        // Browsers send a cookie to every port of its host: the server there has it. Without the key that only this page has it
        // is worth nothing, and even a page that signed in makes no tokens.
        const [cookie] = heard;
        assert.ok(cookie, "the other port gets the cookie");
        for (const [method, path] of [["GET", "experiments"], ["GET", "session"], ["GET", "stream?topics=cluster"], ["POST", "tokens"], ["POST", `experiments/${experiment}/pause`]]) {
            const answer = await fetch(`${stage.url}api/v1/${path}`, {method, headers: {Cookie: cookie, "Content-Type": "application/json"}, ...(method === "POST" ? {body: "{}"} : {})});
            assert.equal(answer.status, 401, path);
            await answer.body?.cancel();
        }
        assert.deepEqual(stateOf(stage, experiment), before);
        // Still signed in: nobody was signed out from outside either.
        await own.reload();
        await own.getByRole("link", {name: secret}).waitFor();
        await context.close();
    } finally {
        await stage.close();
    }
});

test("a name that is bound to the daemon's address is refused, although the browser takes it for one site", async () => {
    const stage = await Stage.open({worker: false});
    try {
        const experiment = stage.submitScript({name: secret, ...single}, "true\n");
        const before = stateOf(stage, experiment);
        const port = new URL(stage.url).port;
        const context = await chromium.newContext();
        const page = await context.newPage();
        const rebound = `http://rebound.example:${port}/`;
        // The attacker's page, as it was before the name was bound to another address.
        await page.route(`${rebound}attack`, (route) => route.fulfill({contentType: "text/html", body: "<!doctype html><body>"}));
        await page.goto(`${rebound}attack`);
        const answers = await page.evaluate(async (id) => {
            const answer = async (path, init) => {
                const got = await fetch(path, init);
                return [path, got.status, await got.text()];
            };
            const json = {"Content-Type": "application/json"};
            return Promise.all([answer("/"), answer("/api/v1/experiments"), answer(`/api/v1/experiments/${id}`), answer("/metrics"), answer("/version"), answer("/api/v1/events", {headers: {Accept: "text/event-stream"}}),
                answer(`/api/v1/experiments/${id}/pause`, {method: "POST", headers: json, body: "{}"}), answer(`/api/v1/experiments/${id}`, {method: "DELETE"})]);
        }, experiment);
        for (const [path, status, text] of answers) {
            assert.equal(status, 403, path);
            assert.ok(!text.includes(secret), path);
        }
        assert.deepEqual(stateOf(stage, experiment), before);
        await context.close();
    } finally {
        await stage.close();
    }
});
