// Builds the pages: node clients/web/build.mjs --out DIR [--readable]
//
// Writes index.html (its {{base}} is filled in by the daemon), assets/NAME.HASH.EXT, LICENSES.txt and SOURCES.sha256.
// The same sources give the same bytes.
import {build} from "esbuild";
import {createHash} from "node:crypto";
import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync} from "node:fs";
import {basename, dirname, join, relative, resolve} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/// Every file under a folder, in an order that doesn't depend on the file system.
function filesUnder(folder) {
    return readdirSync(folder, {withFileTypes: true})
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .flatMap((entry) => {
            const path = join(folder, entry.name);
            return entry.isDirectory() ? filesUnder(path) : [path];
        });
}

/// The digest that tells a build of these sources from any other: SHA-256 over names and contents of what a build reads.
export function sourcesDigest() {
    const digest = createHash("sha256");
    for (const path of [...filesUnder(join(here, "src")), join(here, "package-lock.json"), join(here, "build.mjs"), join(here, "index.html")]) {
        const content = createHash("sha256").update(readFileSync(path)).digest("hex");
        digest.update(`${content}  ${relative(here, path)}\n`);
    }
    return digest.digest("hex");
}

/// Texts of other languages without their keys, in the order of the English ones: a quarter of their weight.
const textsWithoutKeys = {
    name: "texts without keys",
    setup({onLoad}) {
        onLoad({filter: /[\\/]i18n[\\/]zh-CN[\w.]*\.json$/}, ({path}) => {
            const read = (name) => JSON.parse(readFileSync(name, "utf8"));
            const texts = read(path);
            return {contents: JSON.stringify(Object.keys(read(path.replace("zh-CN", "en"))).map((key) => texts[key])), loader: "json"};
        });
    },
};

const shared = (out, readable) => ({
    absWorkingDir: here,
    outdir: join(out, "assets"),
    bundle: true,
    format: "esm",
    target: ["chrome111", "firefox115", "safari16.4"],
    minify: !readable,
    sourcemap: false,
    legalComments: "none",
    metafile: true,
    charset: "utf8",
    jsx: "automatic",
    jsxImportSource: "preact",
    entryNames: "[name].[hash]",
    chunkNames: "[name].[hash]",
    assetNames: "[name].[hash]",
    logLevel: "warning",
    plugins: [textsWithoutKeys],
});

/// The name under assets/ that an entry point got.
const nameOf = (result, entry, ending) =>
    Object.entries(result.metafile.outputs)
        .filter(([path, output]) => output.entryPoint === entry && path.endsWith(ending))
        .map(([path]) => basename(path))[0];

/// Scripts that the first page needs, but for main's own: without a hint, a browser finds them one after another.
function firstScripts(metafile, main) {
    const needed = new Set();
    const need = (path) => {
        if (needed.has(path)) return;
        needed.add(path);
        for (const {path: other, kind} of metafile.outputs[path].imports) if (kind !== "dynamic-import" && metafile.outputs[other]) need(other);
    };
    need(main);
    need(Object.keys(metafile.outputs).find((path) => metafile.outputs[path].entryPoint === "src/pages/experiments.tsx"));
    return [...needed]
        .filter((path) => path !== main)
        .map((path) => basename(path))
        .sort();
}

/// Licences of the packages whose code is in the outputs.
function licences(metafiles) {
    const packages = new Set();
    for (const metafile of metafiles) {
        for (const output of Object.values(metafile.outputs)) {
            for (const [input, {bytesInOutput}] of Object.entries(output.inputs)) {
                const found = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input);
                if (found && bytesInOutput > 0) packages.add(found[1]);
            }
        }
    }
    return [...packages]
        .sort()
        .map((name) => {
            const folder = join(here, "node_modules", name);
            const {version, license} = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
            const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
            const text = file ? readFileSync(join(folder, file), "utf8").trim() : `License: ${license}`;
            return `${name} ${version} (${license})\n\n${text}\n`;
        })
        .join("\n----------------------------------------------------------------------\n\n");
}

export async function buildPages(out, {readable = false} = {}) {
    out = resolve(out);
    rmSync(join(out, "assets"), {recursive: true, force: true});
    mkdirSync(join(out, "assets"), {recursive: true});
    // Workers have their own file each. The pages name it, so it is built first.
    const workers = await build({...shared(out, readable), entryPoints: ["src/table/table_worker.ts"]});
    const pages = await build({
        ...shared(out, readable),
        entryPoints: ["src/main.tsx"],
        splitting: true,
        define: {TABLE_WORKER: JSON.stringify(nameOf(workers, "src/table/table_worker.ts", ".js"))},
    });
    const script = nameOf(pages, "src/main.tsx", ".js");
    const main = Object.keys(pages.metafile.outputs).find((path) => path.endsWith(script));
    const style = basename(pages.metafile.outputs[main].cssBundle);
    const hints = firstScripts(pages.metafile, main)
        .map((name) => `<link rel="modulepreload" href="{{base}}assets/${name}">`)
        .join("\n");
    const html = readFileSync(join(here, "index.html"), "utf8").replace("{{style}}", style).replace("{{script}}", script).replace("{{hints}}", hints);
    writeFileSync(join(out, "index.html"), html);
    writeFileSync(join(out, "LICENSES.txt"), licences([workers.metafile, pages.metafile]));
    writeFileSync(join(out, "SOURCES.sha256"), `${sourcesDigest()}\n`);
    return {metafile: pages.metafile};
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
    const words = process.argv.slice(2);
    const at = words.indexOf("--out");
    if (words.includes("--digest")) {
        console.log(sourcesDigest());
    } else if (at < 0 || !words[at + 1]) {
        console.error("usage: node clients/web/build.mjs --out DIR [--readable] | --digest");
        process.exit(2);
    } else {
        await buildPages(words[at + 1], {readable: words.includes("--readable")});
        if (!existsSync(join(words[at + 1], "index.html")) || !statSync(join(words[at + 1], "index.html")).size) process.exit(1);
    }
}
