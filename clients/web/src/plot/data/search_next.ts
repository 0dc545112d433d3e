/** What brushes mean for the next search: its points and its ranges. Pure. */
import type {Brushes} from "../brush";
import {exactText, printExact} from "../../api/exact";
import {columnOf, exactOf, type Columns} from "./columns";
import type {ParallelModel} from "./parallel_model";

/** A value as YAML reads it back: JSON is YAML. */
function scalar(value: unknown): string {
    return typeof value === "number" || typeof value === "bigint" ? exactText(value) : printExact(value);
}

/** {a.b: 1, c: 2} as nested maps in one line. */
function nested(pairs: readonly (readonly [string, unknown])[]): string {
    const tree: Record<string, unknown> = {};
    for (const [path, value] of pairs) {
        const parts = path.split(".");
        let node = tree;
        for (const part of parts.slice(0, -1)) node = (node[part] ??= {}) as Record<string, unknown>;
        node[parts[parts.length - 1]!] = value;
    }
    const print = (node: Record<string, unknown>): string =>
        `{${Object.entries(node)
            .map(
                ([name, value]) =>
                    `${/^[A-Za-z_][\w-]*$/.test(name) ? name : JSON.stringify(name)}: ${value !== null && typeof value === "object" && !Array.isArray(value) ? print(value as Record<string, unknown>) : scalar(value)}`,
            )
            .join(", ")}}`;
    return print(tree);
}

/** The best kept trials as `points_to_evaluate`. */
export function pointsYaml(columns: Columns, rows: readonly number[]): string {
    const fields = columns.fields.filter((field) => field.name.startsWith("hparams."));
    const lines = rows.map((row) => {
        const pairs = fields.flatMap((field): [string, unknown][] => {
            const value = exactOf(field, row);
            return value === undefined ? [] : [[field.name.slice(8), value]];
        });
        return `    - ${nested(pairs)}`;
    });
    return `${["searcher:", "  points_to_evaluate:", ...lines].join("\n")}\n`;
}

/** The brushed ranges by hyperparameter, for the form. A brush with several ranges gives the range around them. */
export function brushedRanges(
    model: ParallelModel,
    brushes: Brushes,
    columns: Columns,
): Record<string, readonly [number, number] | {readonly vals: readonly unknown[]}> {
    return Object.fromEntries(
        model.axes.flatMap((axis): [string, readonly [number, number] | {readonly vals: readonly unknown[]}][] => {
            const ranges = brushes[axis.name];
            if (!ranges || !axis.name.startsWith("hparams.")) return [];
            const column = columnOf(columns, axis.name);
            if (axis.words && column?.words) {
                return [
                    [
                        axis.name.slice(8),
                        {
                            vals: column.words.filter((_, code) =>
                                ranges.some(({from, to}) => axis.scale.at(code) >= from && axis.scale.at(code) <= to),
                            ),
                        },
                    ],
                ];
            }
            const ends = [ranges[0]!.from, ranges[ranges.length - 1]!.to].map((position) => Number(axis.scale.value(position).toPrecision(6)));
            return [[axis.name.slice(8), [ends[0]!, ends[1]!]]];
        }),
    );
}
