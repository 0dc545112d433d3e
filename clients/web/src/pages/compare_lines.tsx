// Tables with a column for each of the things that are compared.
import type {ComponentChildren} from "preact";
import {printExact} from "../api/exact";
import {formatValue, shortened} from "../i18n/format";
import {toldApart} from "../i18n/names";
import {ToldName} from "../design/told_name";

export interface Line {
    readonly key: string;
    readonly label: ComponentChildren;
    readonly cells: readonly ComponentChildren[];
    readonly differs: boolean;
    readonly mono?: boolean;
}

export function Lines({title, lines}: {title: string; lines: readonly Line[]}) {
    if (lines.length === 0) return null;
    return (
        <>
            <tr class="group">
                <th scope="rowgroup" colSpan={(lines[0]?.cells.length ?? 0) + 1}>
                    {title}
                </th>
            </tr>
            {lines.map((line) => (
                <tr key={line.key} class={line.differs ? "" : "same"}>
                    <th scope="row">{line.label}</th>
                    {line.cells.map((cell, index) => (
                        <td key={index} class={line.mono ? "mono" : ""}>
                            {cell}
                        </td>
                    ))}
                </tr>
            ))}
        </>
    );
}

const nameLetters = 28;

/// A line for each path that some of them have, those that differ first.
export function valueLines(all: readonly ReadonlyMap<string, unknown>[]): Line[] {
    const names = [...new Set(all.flatMap((values) => [...values.keys()]))];
    const told = toldApart(names, nameLetters);
    return names
        .map((name): Line => {
            const exact = all.map((values) => printExact(values.get(name)));
            return {
                key: name,
                label: <ToldName name={name} told={told.get(name)} />,
                cells: all.map((values) => (values.has(name) ? shortened(formatValue(values.get(name)), 60) : <span class="muted">–</span>)),
                differs: new Set(exact).size > 1,
                mono: true,
            };
        })
        .sort((a, b) => Number(b.differs) - Number(a.differs));
}
