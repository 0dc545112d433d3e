// Bundles the tests (*_test.ts) with esbuild and runs them with node's own runner: npm test [-- NAME…]
import {build} from "esbuild";
import {spawnSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readdirSync, rmSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const tests = readdirSync(here).filter((name) => name.endsWith("_test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part))));
// Inside clients/web, so that the tests find esbuild.
mkdirSync(join(here, "..", "build"), {recursive: true});
const out = mkdtempSync(join(here, "..", "build", "test-"));
try {
    await build({
        entryPoints: tests.map((name) => join(here, name)),
        outdir: out,
        outExtension: {".js": ".mjs"},
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node18",
        jsx: "automatic",
        jsxImportSource: "preact",
        logLevel: "warning",
        define: {TABLE_WORKER: '"none.js"', WEB_FOLDER: JSON.stringify(dirname(here))},
        external: ["esbuild"],
        banner: {js: "import {createRequire as __createRequire} from 'node:module'; const require = __createRequire(import.meta.url);"},
    });
    const files = readdirSync(out)
        .filter((name) => name.endsWith(".mjs"))
        .map((name) => join(out, name));
    const run = spawnSync(process.execPath, ["--import", pathToFileURL(join(here, "fixtures", "browser_stubs.mjs")).href, "--test", ...files], {
        stdio: "inherit",
        cwd: dirname(here),
        env: {...process.env, NODE_OPTIONS: ""},
    });
    process.exitCode = run.status ?? 1;
} finally {
    rmSync(out, {recursive: true, force: true});
}
