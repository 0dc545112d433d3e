// Narrower ranges for the hyperparameters of a fork: what brushes on a plot ask for, in the kinds that the file declares.
import {parseExact, printExact} from "../api/exact";
import type {Yaml} from "./yaml";

/// By path: a range of values, or the categories that stay.
export type Ranges = Readonly<Record<string, readonly [number, number] | {readonly vals: readonly unknown[]}>>;
type Tree = {[key: string]: Yaml};

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

/// Four digits, away from the middle of the range: the trials at its ends stay inside.
function outwards(value: number, down: boolean): number {
    const size = value === 0 ? 1 : 10 ** (Math.floor(Math.log10(Math.abs(value))) - 3);
    const steps = Number((value / size).toPrecision(9));
    return Number(((down ? Math.floor(steps) : Math.ceil(steps)) * size).toPrecision(4));
}

/// Reads what an address carries; "" and what is damaged ask for nothing.
export function readRanges(text: string): Ranges {
    let read: unknown;
    try {
        read = parseExact(text);
    } catch {
        return {};
    }
    return isTree(read)
        ? (Object.fromEntries(
              Object.entries(read).filter(
                  ([, range]) =>
                      (Array.isArray(range) && range.length === 2 && range.every((end) => typeof end === "number" && Number.isFinite(end))) ||
                      (isTree(range) && Array.isArray(range["vals"])),
              ),
          ) as unknown as Ranges)
        : {};
}

/// The ends inside the declared ones; the declared ones where nothing would be left.
function inside(node: Tree, from: number, to: number): Tree {
    const low = Math.max(Number(node["minval"]), from);
    const high = Math.min(Number(node["maxval"]), to);
    return low < high ? {...node, minval: low, maxval: high} : node;
}

function narrowed(node: Tree, range: Ranges[string]): Tree {
    if ("vals" in range) {
        const kept = new Set(range.vals.map((value) => printExact(value)));
        const vals = Array.isArray(node["vals"]) ? node["vals"].filter((value) => kept.has(printExact(value))) : [];
        return vals.length > 0 ? {...node, vals} : node;
    }
    const [from, to] = range;
    if (node["type"] === "log") {
        const base = Number(node["base"] ?? 10);
        const exponent = (value: number) => Number((Math.log(value) / Math.log(base)).toPrecision(9));
        return from > 0 ? inside(node, outwards(exponent(from), true), outwards(exponent(to), false)) : node;
    }
    const step = Number(node["step"] ?? (node["type"] === "int" ? 1 : 0));
    if (!(step > 0)) return inside(node, outwards(from, true), outwards(to, false));
    // Steps count from the declared lower end. A range between two steps takes both.
    const first = Number(node["minval"]);
    const onStep = (value: number, round: (steps: number) => number) =>
        Number((first + round(Number(((value - first) / step).toPrecision(9))) * step).toPrecision(12));
    const low = onStep(Math.max(from, first), Math.ceil);
    const high = onStep(Math.min(to, Number(node["maxval"])), Math.floor);
    return low < high ? inside(node, low, high) : inside(node, onStep(from, Math.floor), onStep(from, Math.floor) + step);
}

/// The hyperparameters with narrower ranges. Paths that name none are left out.
export function narrow(space: Tree, ranges: Ranges): Tree {
    const walk = (tree: Tree, before: string): Tree =>
        Object.fromEntries(
            Object.entries(tree).map(([name, node]) => {
                const path = before + name;
                const range = Object.hasOwn(ranges, path) ? ranges[path] : undefined;
                if (!isTree(node)) return [name, node];
                if (range && typeof node["type"] === "string") return [name, narrowed(node, range)];
                return [name, typeof node["type"] === "string" ? node : walk(node, `${path}.`)];
            }),
        );
    return walk(space, "");
}
