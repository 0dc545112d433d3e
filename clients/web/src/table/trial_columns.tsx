// The columns that a table of trials can have.
import {exactText} from "../api/exact";
import {columnOf, wordOf, type Columns, type Column} from "../plot/data/columns";
import {nonfiniteText} from "../plot/data/compared";
import {t, tWord, type TextKey} from "../i18n/texts";
import {formatDuration, formatNumber, formatShortTime, formatValue, shortened} from "../i18n/format";
import type {ToldApart} from "../i18n/names";
import {daemonNow} from "../api/client";
import {Link} from "../design/link";
import {StateMark} from "../design/state_mark";
import type {TableColumn} from "./virtual_table";

const labels: Readonly<Record<string, TextKey>> = {
    trial: "column.trial",
    state: "list.state",
    reached: "column.reached",
    rung: "column.rung",
    last: "column.last",
    at: "column.at",
    length: "column.length",
    bracket: "column.bracket",
    attempts: "column.attempts",
    restarts: "column.restarts",
    slot_seconds: "column.slot_seconds",
    created_at: "list.created",
    ended_at: "column.ended_at",
    worker: "column.worker",
    failure: "column.failure",
    starred: "column.starred",
    labels: "column.labels",
    note: "column.note",
    reason: "column.reason",
    nonfinite: "column.nonfinite",
};

/// What a table names its two metrics: what is compared, and each trial's best.
export interface MetricNames {
    readonly metric: string;
    /// "at 9 epochs"; empty where no length is compared.
    readonly at: string;
    readonly result: string;
    readonly best: string;
    /// The trial that has the search's best.
    readonly bestTrial: number | null;
}

export const labelOf = (field: string, names: MetricNames): string =>
    field === "result"
        ? names.result
        : field === "metric"
          ? names.best
          : field.startsWith("hparams.")
            ? field.slice(8)
            : labels[field]
              ? t(labels[field]!)
              : field;

const missing: Readonly<Record<string, number>> = {u8: 0xff, u16: 0xffff, u32: 0xffffffff};

function valueOf(column: Column, row: number): number | undefined {
    const value = column.data[row]!;
    return value !== value || value === missing[column.type] ? undefined : value;
}

function wordText(name: string, word: unknown): string {
    if (name === "starred") return word === true ? "★" : "";
    if (name === "labels" && Array.isArray(word)) return word.join(", ");
    return name === "reason" ? tWord("why", String(word)) : formatValue(word);
}

const numberText = (name: string, value: number | bigint) => (name.startsWith("hparams.") ? formatValue(value) : formatNumber(value));

function cellOf(columns: Columns, column: Column, experiment: number, row: number, bestTrial: number | null) {
    const {name} = column;
    if (name === "trial") {
        const trial = column.data[row]!;
        return (
            <>
                <Link to={`e/${experiment}/t/${trial}`} class="strong" data-open>
                    {trial}
                </Link>
                {trial === bestTrial && (
                    <>
                        {" "}
                        <span class="tag good-tag">{t("trials.best")}</span>
                    </>
                )}
            </>
        );
    }
    if (name === "state") return <StateMark state={wordOf(column, row)} />;
    const value = valueOf(column, row);
    const odd = value === undefined && (name === "result" || name === "last") ? nonfiniteText(columns, row) : "";
    if (odd !== "") return <span class="nonfinite">{odd}</span>;
    if (value === undefined) return <span class="muted">–</span>;
    if (column.words) {
        const word = column.words[value];
        const text = wordText(name, word);
        return <span title={text.length > 40 ? text : undefined}>{shortened(text, 120)}</span>;
    }
    if (name === "slot_seconds") return formatDuration(value);
    if (name === "created_at" || name === "ended_at" || name === "started_at") return formatShortTime(value, daemonNow());
    if (name === "worker") return <Link to={`workers/${value}`}>{value}</Link>;
    const exact = column.integers?.get(row) ?? value;
    const at = name === "metric" ? columnOf(columns, "at") : undefined;
    if (at)
        return (
            <span title={exactText(exact)}>
                {formatNumber(exact)} <span class="muted small">{t("column.best_at", {at: formatNumber(valueOf(at, row) ?? 0)})}</span>
            </span>
        );
    return <span title={exactText(exact)}>{numberText(name, exact)}</span>;
}

/// Digits of the longest integer, which has all of them.
function digitsOf(column: Column, rows: number): number {
    if (column.type !== "i64") return 0;
    let most = 0;
    for (let row = 0; row < rows; row += 1) if (Math.abs(column.data[row]!) > most) most = Math.abs(column.data[row]!);
    return numberText(column.name, column.integers?.size ? BigInt(Math.round(most)) : most).length;
}

/// Longer heads give up what they share with others.
export const headLetters = 26;

const widths: Readonly<Record<string, number>> = {
    trial: 112,
    state: 118,
    nonfinite: 110,
    reason: 300,
    failure: 320,
    slot_seconds: 118,
    created_at: 128,
    ended_at: 128,
    rung: 72,
    reached: 92,
};

/// The head of a column in two lines. Hyperparameters that share the beginning of their names have it in the second.
function headOf(field: string, names: MetricNames, told: ReadonlyMap<string, ToldApart>): {readonly label: string; readonly sub: string} {
    if (field === "result" && names.at !== "") return {label: names.metric, sub: names.at};
    if (field === "metric") return {label: names.metric, sub: t("plot.compared.any")};
    const label = labelOf(field, names);
    const {own, shared} = told.get(label) ?? {own: label, shared: ""};
    return {label: own, sub: shared};
}

export function trialColumn(
    columns: Columns,
    field: string,
    experiment: number,
    names: MetricNames,
    told: ReadonlyMap<string, ToldApart>,
): TableColumn {
    const column = columnOf(columns, field);
    const {label, sub} = headOf(field, names, told);
    const whole = labelOf(field, names);
    const text = shortened(label, headLetters);
    const number = column !== undefined && (!column.words || column.words.every((word) => typeof word === "number")) && field !== "state";
    return {
        key: field,
        label: text,
        ...(sub === "" ? {} : {sub}),
        ...(sub !== "" || text !== label ? {title: whole} : {}),
        number: number && field !== "trial",
        width:
            (field === "result" || field === "metric" ? Math.max(150, text.length * 7.4 + 30) : widths[field]) ??
            Math.max(96, Math.min(240, Math.max(text.length * 8 + 36, column ? digitsOf(column, columns.filled) * 8.5 + 24 : 0))),
        cell: (row) => (column ? cellOf(columns, column, experiment, row, names.bestTrial) : <span class="muted">…</span>),
    };
}
