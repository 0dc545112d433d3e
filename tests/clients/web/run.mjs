// Runs one test of the pages: node tests/clients/web/run.mjs NAME. Exit code 77: skipped, with the reason printed.
import {spawnSync} from "node:child_process";
import {existsSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {chromiumPath, firefoxPath} from "./browsers.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, "..", "..", "..", "clients", "web");
const name = process.argv[2];

function skip(reason) {
    console.log(`skipped: ${reason}`);
    process.exit(77);
}

if (Number(process.versions.node.split(".")[0]) < 18) skip(`Node.js is version ${process.versions.node}; the pages need 18 or newer`);
if (!existsSync(join(web, "node_modules", "esbuild"))) skip("clients/web/node_modules is missing: run scripts/setup test, or npm ci --ignore-scripts in clients/web");

const run = (command, words, options = {}) => process.exit(spawnSync(command, words, {stdio: "inherit", ...options}).status ?? 1);

if (name === "unit") run(process.execPath, [join(web, "test", "run.mjs")]);
if (name === "types") {
    const {status} = spawnSync(process.execPath, [join(web, "types.mjs"), "--check"], {stdio: "inherit"});
    if (status !== 0) process.exit(status ?? 1);
    run(process.execPath, [join(web, "node_modules", "typescript-native", "bin", "tsc"), "--noEmit", "-p", web]);
}
const file = join(here, `${name}_test.mjs`);
if (!existsSync(file)) {
    console.error(`there is no ${file}`);
    process.exit(2);
}
if (process.env.HPSEARCH_BROWSER === "firefox" && !firefoxPath) skip("Firefox is missing: install Debian's firefox-esr (scripts/setup test)");
if (name !== "budget" && !chromiumPath) skip("Chromium is missing: install Debian's chromium (scripts/setup test)");
run(process.execPath, ["--test", file]);
