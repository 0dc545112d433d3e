/** What the experiment's file declares of its hyperparameters: where an axis begins and ends, and on which scale. Pure. */

export type Declared =
    | {readonly kind: "range"; readonly low: number; readonly high: number; readonly log: boolean; readonly whole: boolean}
    /** Neighbours in the list are alike, as the daemon sees it: ascending numbers, or the file says so. */
    | {readonly kind: "choices"; readonly ordered: boolean}
    /** One value for all trials. */
    | {readonly kind: "constant"};

/** By the name of the column: hparams.optimizer.lr. */
export type Declarations = ReadonlyMap<string, Declared>;

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);
export const isNumber = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";

function declared(node: Tree): Declared {
    const {type, vals} = node;
    if (Array.isArray(vals)) {
        const ascending = vals.every((value, index) => isNumber(value) && (index === 0 || Number(vals[index - 1]) < Number(value)));
        return {kind: "choices", ordered: typeof node["ordered"] === "boolean" ? node["ordered"] : ascending && vals.length > 1};
    }
    const low = node["minval"];
    const high = node["maxval"];
    if (!isNumber(low) || !isNumber(high) || !(Number(low) <= Number(high))) return {kind: "constant"};
    if (type === "log") {
        const base = isNumber(node["base"]) ? Number(node["base"]) : 10;
        const ends = [base ** Number(low), base ** Number(high)];
        return {kind: "range", low: Math.min(...ends), high: Math.max(...ends), log: true, whole: false};
    }
    return type === "int" || type === "double"
        ? {kind: "range", low: Number(low), high: Number(high), log: node["scale"] === "log", whole: type === "int"}
        : {kind: "constant"};
}

/** Of the `hyperparameters` of a configuration as the daemon has it. */
export function declarationsOf(hyperparameters: unknown): Declarations {
    const found = new Map<string, Declared>();
    const walk = (tree: Tree, before: string) => {
        for (const [name, node] of Object.entries(tree)) {
            if (isTree(node) && typeof node["type"] !== "string") walk(node, `${before}${name}.`);
            else found.set(before + name, isTree(node) ? declared(node) : {kind: "constant"});
        }
    };
    if (isTree(hyperparameters)) walk(hyperparameters, "hparams.");
    return found;
}
