// Actions on selected trials.
import {change} from "../../api/client";
import {isServed} from "../../api/served";
import type {Experiment} from "../../api/shapes";
import {exactText, printExact} from "../../api/exact";
import {columnOf, exactOf, wordOf, type Columns} from "../../plot/data/columns";
import {go} from "../../state/router";
import {t, tCount} from "../../i18n/texts";
import {announce} from "../../design/announce";
import {ask} from "../../design/dialog";
import type {MenuItem} from "../../design/menu";
import {copyText} from "../../design/copy_text";

const mostCompared = 12;

/// A cell of CSV. A text that a spreadsheet would run as a formula gets a quote before it.
export function csvCell(text: string): string {
    const safe = /^[=+\-@\t\r]/.test(text) && !/^-?[\d.]+(e[+-]?\d+)?$/i.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvOf(columns: Columns, rows: Iterable<number>, fields: readonly string[]): string {
    const known = fields.map((field) => columnOf(columns, field)).filter((column) => column !== undefined);
    const lines = [known.map((column) => csvCell(column.name.replace(/^hparams\./, ""))).join(",")];
    for (const row of rows) {
        lines.push(
            known
                .map((column) => {
                    const value = exactOf(column, row);
                    return value === undefined
                        ? ""
                        : typeof value === "number" || typeof value === "bigint"
                          ? exactText(value)
                          : csvCell(typeof value === "string" ? value : value === null ? "" : printExact(value));
                })
                .join(","),
        );
    }
    return `${lines.join("\n")}\n`;
}

export function trialActions(
    experiment: Experiment,
    columns: Columns,
    rows: Uint32Array,
    fields: readonly string[],
    chosen: readonly number[],
    done: () => void,
): MenuItem[] {
    const trial = columnOf(columns, "trial")!;
    const state = columnOf(columns, "state");
    const all = new Set(chosen);
    const chosenRows = [...rows].filter((row) => all.has(trial.data[row]!));
    const inState = (...states: string[]) =>
        state ? chosenRows.filter((row) => states.includes(wordOf(state, row))).map((row) => trial.data[row]!) : [];
    const open = inState("RUNNING", "PENDING", "PAUSED");
    const failed = inState("FAILED");
    const each = (trials: readonly number[], verb: string) => async () => {
        for (const one of trials) await change("POST", `experiments/${experiment.id}/trials/${one}/${verb}`);
        done();
    };
    const items: MenuItem[] = [];
    if (chosen.length >= 2 && chosen.length <= mostCompared)
        items.push({label: t("trials.compare"), perform: () => go(`e/${experiment.id}/compare?t=${[...chosen].sort((a, b) => a - b).join(",")}`)});
    items.push({label: t("trials.show_curves"), perform: () => go(`e/${experiment.id}/curves?t=${chosen.slice(0, 60).join(",")}`)});
    items.push({label: t("trials.copy_csv"), perform: () => void copyText(csvOf(columns, chosenRows, fields)).then(() => announce(t("copy.done")))});
    items.push({label: t("trials.fork"), perform: () => go(`new?fork=${experiment.id}&points=${chosen.slice(0, 50).join(",")}`)});
    if (failed.length > 0 && isServed("/trials/{trial}/retry"))
        items.push({
            label: tCount("trials.retry", failed.length),
            perform: () =>
                ask({
                    title: tCount("trials.retry_title", failed.length),
                    action: t("trials.retry_action"),
                    perform: each(failed, "retry"),
                }),
        });
    if (open.length > 0) {
        items.push({
            label: tCount("trials.stop", open.length),
            danger: true,
            perform: () =>
                ask({
                    title: tCount("trials.stop_title", open.length),
                    body: t("trials.stop_effect"),
                    action: t("trials.stop_action"),
                    danger: true,
                    perform: each(open, "stop"),
                }),
        });
        items.push({
            label: tCount("trials.cancel", open.length),
            danger: true,
            perform: () =>
                ask({
                    title: tCount("trials.cancel_title", open.length),
                    body: t("trials.cancel_effect"),
                    action: t("trials.cancel_action"),
                    danger: true,
                    perform: each(open, "cancel"),
                }),
        });
    }
    items.push({label: t("trials.unselect"), perform: done});
    return items;
}
