// The types of the API's answers: npm run types [-- --check]
//
// Writes src/api/types.ts from the schemas of docs/openapi.json; with --check it only compares.
import {readFileSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import openapiTS, {astToString} from "openapi-typescript";

const here = dirname(fileURLToPath(import.meta.url));
const {
    openapi,
    info,
    components: {schemas},
} = JSON.parse(readFileSync(join(here, "..", "..", "docs", "openapi.json"), "utf8"));
// Pages name their routes themselves: without these, the file has a third of its length.
const tree = await openapiTS(
    {openapi, info, paths: {}, components: {schemas}},
    {rootTypes: true, rootTypesNoSchemaPrefix: true, immutable: true, alphabetize: true, emptyObjectsUnknown: true},
);
const text = `// Written by \`npm run types\` from docs/openapi.json.\n\n${astToString(tree)}`;
const file = join(here, "src", "api", "types.ts");
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
    console.error("clients/web/src/api/types.ts is older than docs/openapi.json: run npm --prefix web run types");
    process.exit(1);
}
