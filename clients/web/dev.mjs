// The development server: npm run dev -- --daemon 127.0.0.1:8077 [--port 8078] [--prefix /a/b]
//
// Builds the pages after every change of a source and serves them in front of a daemon.
import {watch} from "node:fs";
import {mkdtempSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {buildPages} from "./build.mjs";
import {servePages} from "./serve.mjs";

const words = process.argv.slice(2);
const option = (name, otherwise) => {
    const at = words.indexOf(`--${name}`);
    return at < 0 ? otherwise : words[at + 1];
};
const daemon = option("daemon", "127.0.0.1:8077");
const port = Number(option("port", "8078"));
const prefix = option("prefix", "");
const root = mkdtempSync(join(tmpdir(), "hpsearch-web-"));

let due;
const rebuild = async () => {
    try {
        await buildPages(root, {readable: true});
        console.log(`${new Date().toLocaleTimeString()} built`);
    } catch (problem) {
        console.error(problem.message);
    }
};
await rebuild();
watch(join(dirname(fileURLToPath(import.meta.url)), "src"), {recursive: true}, () => {
    clearTimeout(due);
    due = setTimeout(rebuild, 100);
});
servePages({root, daemon, prefix}).listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}${prefix}/ shows the daemon at ${daemon}`));
