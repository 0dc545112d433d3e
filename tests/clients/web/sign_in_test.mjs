// Pages of a daemon that wants a token: sign-in by token and by the one-time code of `hpsearch open`, changes, sign-out.
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Stage} from "./stage.mjs";

let stage;
let sessions = false;
let token;

before(async () => {
    stage = await Stage.open({worker: false, locked: true});
    sessions = (await fetch(`${stage.url}api/v1/session`)).status === 401 && (await fetch(`${stage.url}api/v1/session`, {method: "POST", headers: {"Content-Type": "application/json"}, body: '{"token":"x"}'})).status !== 404;
    token = /hps_[\w-]+/.exec(stage.hpsearch("token", "create", "--name", "tester", "--role", "admin"))?.[0] ?? "";
    stage.submitScript({name: "behind-the-door", hyperparameters: {x: 1}, searcher: {name: "single", metric: "loss", max_length: {epochs: 1}}}, "true\n");
});
after(() => stage?.close());

test("a token opens the pages, a change goes through, and signing out closes them", async (t) => {
    if (!sessions) return t.skip("the daemon has no sessions");
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}experiments`);
    await page.getByRole("heading", {name: "Sign in"}).waitFor();
    assert.equal(await page.getByText("behind-the-door").count(), 0);
    await page.getByLabel("Token").fill("hps_wrong");
    await page.getByRole("button", {name: "Sign in"}).click();
    await page.getByRole("alert").waitFor();
    // A daemon that wants a token is there.
    await page.waitForTimeout(1500);
    assert.equal(await page.getByText("Connection lost").count(), 0);
    assert.equal(await page.getByText("Disconnected").count(), 0);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", {name: "Sign in"}).click();
    // A live list may redraw its rows under the pointer: the address is opened instead of the link clicked.
    const link = page.getByRole("link", {name: "behind-the-door"});
    await link.waitFor();
    await page.goto(await link.evaluate((each) => each.href));
    await page.getByText("Live", {exact: true}).waitFor();
    await page.getByRole("button", {name: "Pause"}).click();
    await page.locator(".state-mark.large", {hasText: "Paused"}).waitFor();
    // The token is nowhere where a script could read it.
    assert.equal(await page.evaluate((secret) => JSON.stringify({...localStorage, ...sessionStorage, cookie: document.cookie}).includes(secret), token), false);
    await page.reload();
    await page.locator(".state-mark.large", {hasText: "Paused"}).waitFor();
    // A tab that is opened by its address gets the key from this one; a browser that has only the cookie signs in again.
    const tab = await context.newPage();
    await tab.goto(`${stage.url}experiments`);
    await tab.getByRole("link", {name: "behind-the-door"}).waitFor();
    await tab.close();
    const alone = await stage.context({storageState: {cookies: await context.cookies(), origins: []}});
    const stranger = await alone.newPage();
    await stranger.goto(`${stage.url}experiments`);
    await stranger.getByRole("heading", {name: "Sign in"}).waitFor();
    assert.equal(await stranger.getByText("behind-the-door").count(), 0);
    await alone.close();
    await page.getByRole("link", {name: "Settings"}).click();
    await page.getByRole("button", {name: "Sign out"}).click();
    await page.getByRole("heading", {name: "Sign in"}).waitFor();
    await page.goto(`${stage.url}experiments`);
    await page.getByRole("heading", {name: "Sign in"}).waitFor();
    assert.deepEqual(stage.faults.splice(0), []);
    return context.close();
});

test("a one-time code opens the pages once, and leaves the address", async (t) => {
    if (!sessions) return t.skip("the daemon has no sessions");
    let code;
    try {
        code = /#login=([\w.~-]+)/.exec(stage.hpsearch("open", "--no-browser"))?.[1];
    } catch {
        return t.skip("there is no hpsearch open --no-browser");
    }
    const context = await stage.context();
    const page = await context.newPage();
    await page.goto(`${stage.url}#login=${code}`);
    await page.getByRole("link", {name: "behind-the-door"}).waitFor();
    assert.equal(new URL(page.url()).hash, "");
    const other = await (await stage.context()).newPage();
    await other.goto(`${stage.url}#login=${code}`);
    await other.getByRole("heading", {name: "Sign in"}).waitFor();
    return context.close();
});

test("an administrator makes a token, whose secret is shown once, rotates it and revokes it", async () => {
    const context = await stage.context();
    const page = await context.newPage();
    const code = /#login=([\w.~-]+)/.exec(stage.hpsearch("open", "--no-browser", "--admin"))[1];
    await page.goto(`${stage.url}settings#login=${code}`);
    await page.getByRole("button", {name: "New token…"}).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name", {exact: true}).fill("reader");
    await dialog.getByLabel("Expires after").selectOption("7");
    await dialog.getByRole("button", {name: "Create token"}).click();
    const secret = async () => (await page.locator(".secret code").textContent()).trim();
    const first = await secret();
    const status = async (method, path, bearer) => (await fetch(`${stage.url}api/v1/${path}`, {method, headers: {Authorization: `Bearer ${bearer}`}})).status;
    assert.equal(await status("GET", "experiments", first), 200);
    assert.equal(await status("POST", "experiments/1/pause", first), 403, "a viewer changes nothing");
    const viewer = await (await stage.context()).newPage();
    await viewer.goto(`${stage.url}e/1`);
    await viewer.getByLabel("Token").fill(first);
    await viewer.getByRole("button", {name: "Sign in"}).click();
    await viewer.getByRole("heading", {name: "behind-the-door"}).waitFor();
    assert.equal(await viewer.locator(".head-actions button").count(), 0, "a viewer sees no action");
    assert.equal(await viewer.locator(".new-button").count(), 0, "nor the way to a new search");
    await page.goto(`${stage.url}e/1`);
    await page.locator(".head-actions").getByRole("button", {name: "More"}).waitFor();
    await page.goto(`${stage.url}settings`);
    const menu = async (item) => {
        await page.locator("tr", {hasText: "reader"}).getByRole("button", {name: "More"}).click();
        await page.getByRole("menuitem", {name: item}).click();
    };
    await menu("Rotate…");
    await dialog.getByRole("button", {name: "Rotate token"}).click();
    await dialog.waitFor({state: "hidden"});
    const second = await secret();
    assert.notEqual(second, first);
    assert.equal(await status("GET", "experiments", first), 401);
    assert.equal(await status("GET", "experiments", second), 200);
    // A reader finds no links to what only administrators see; its address says why.
    const reading = await stage.context();
    const reader = await reading.newPage();
    await reader.goto(`${stage.url}settings/audit`);
    await reader.getByLabel("Token").fill(second);
    await reader.getByRole("button", {name: "Sign in"}).click();
    await reader.getByText("Your role does not allow this").waitFor();
    await reader.getByRole("link", {name: "Usage"}).click();
    await reader.getByText(/No slot was used|In all .* slot hours/).first().waitFor();
    await reader.getByText("Live", {exact: true}).waitFor();
    assert.equal(await reader.getByRole("link", {name: /Audit|Workspaces/}).count(), 0);
    await page.getByRole("link", {name: "Audit"}).waitFor();
    await reading.close();
    await menu("Revoke…");
    await dialog.getByRole("button", {name: "Revoke token"}).click();
    await page.locator("tr", {hasText: "reader"}).waitFor({state: "detached"});
    assert.equal(await status("GET", "experiments", second), 401);
    // Once left, the page has no secret any more.
    await page.reload();
    await page.getByRole("button", {name: "New token…"}).waitFor();
    assert.equal(await page.locator(".secret").count(), 0);
    assert.deepEqual(stage.faults.splice(0), []);
    await context.close();
});
