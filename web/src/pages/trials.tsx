// The table of an experiment's trials.
import {useMemo, useRef} from "preact/hooks";
import {columnOf, wordOf, type Columns} from "../plot/columns";
import {selectionOf} from "../state/selection";
import {useResource} from "../state/resource";
import {go} from "../state/router";
import {t, tCount, tWord} from "../i18n/texts";
import {formatNumber} from "../i18n/format";
import {Empty, View} from "../design/states";
import {toneOf} from "../design/state_mark";
import {trialStates} from "../design/bars";
import {Menu} from "../design/menu";
import {loadTrials} from "../table/load_trials";
import {extraFields, labelOf, standardFields, trialColumn} from "../table/trial_columns";
import {useRows} from "../table/use_rows";
import {VirtualTable} from "../table/virtual_table";
import {WhereField} from "../table/where_field";
import {ColumnChooser} from "../table/column_chooser";
import {trialActions} from "./trial_bulk_actions";
import type {ExperimentPageProps} from "./routes";

const firstHparams = 12;
const firstExtras = ["slot_seconds", "reason"];

function TrialTable({experiment, query, columns}: ExperimentPageProps & {columns: Columns}) {
    const whole = useRef<HTMLDivElement>(null);
    const lastChosen = useRef<number>(undefined);
    const selection = selectionOf(experiment.id);
    const hparams = columns.fields.map((field) => field.name).filter((name) => name.startsWith("hparams."));
    const fields = useMemo(() => {
        const chosen = query.list("columns");
        const known = new Set<string>([...standardFields, ...extraFields, ...hparams]);
        const listed = chosen.filter((name) => known.has(name) && name !== "trial");
        return ["trial", ...(listed.length > 0 ? listed : ["state", "metric", "reached", ...hparams.slice(0, firstHparams), ...firstExtras])];
    }, [query.get("columns"), hparams.join()]);
    const states = query.list("state");
    const sort = query.get("sort") ?? "";
    const where = query.get("where") ?? "";
    const brushed = query.get("brushed") === "yes" ? selection.brushed.value : null;
    const defaultSort = experiment.smaller_is_better ? "metric" : "-metric";
    const busy = () => whole.current?.matches(":hover, :focus-within") === true || (whole.current?.querySelector(".virtual")?.scrollTop ?? 0) > 0;
    const rows = useRows(columns, {sort: sort === "" ? defaultSort : sort, where, states, ...(brushed ? {trials: [...brushed]} : {})}, busy);
    const trials = columnOf(columns, "trial")!;
    const keyOf = (row: number) => trials.data[row]!;
    const chosen = selection.selected.value;
    const choose = (key: number, range: boolean) => {
        const next = new Set(chosen);
        const all = Array.from(rows.rows, keyOf);
        const from = all.indexOf(lastChosen.current ?? -1);
        const to = all.indexOf(key);
        if (range && from >= 0 && to >= 0) all.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((each) => next.add(each));
        else if (!next.delete(key)) next.add(key);
        lastChosen.current = key;
        selection.selected.value = next;
    };
    const state = columnOf(columns, "state");
    const counts = useMemo(() => {
        const found = new Map<string, number>();
        if (state) for (let row = 0; row < columns.filled; row += 1) found.set(wordOf(state, row), (found.get(wordOf(state, row)) ?? 0) + 1);
        return found;
    }, [columns, columns.filled]);
    const names = [...new Set([...columns.fields.map((field) => field.name), ...extraFields])];
    const example = (hparams.find((name) => columnOf(columns, name)?.words === undefined) ?? "hparams.lr").slice(8);
    return (
        <div ref={whole}>
            <div class="toolbar">
                <div class="chips" role="group" aria-label={t("list.by_state")}>
                    {trialStates.filter((each) => (counts.get(each) ?? 0) > 0 || states.includes(each)).map((each) => (
                        <button key={each} class={`chip tone-${toneOf(each)}`} aria-pressed={states.includes(each)}
                            onClick={() => query.set({state: (states.includes(each) ? states.filter((one) => one !== each) : [...states, each]).join(",")})}>
                            {tWord("state", each)} <span class="count">{formatNumber(counts.get(each) ?? 0)}</span></button>
                    ))}
                    {selection.brushed.value && <button class="chip" aria-pressed={brushed !== null} onClick={() => query.set({brushed: brushed ? "" : "yes"})}>{tCount("trials.brushed", selection.brushed.value.size)}</button>}
                </div>
                <div class="push chips">
                    {chosen.size > 0 && <Menu label={tCount("list.selected", chosen.size)} name="trials" items={trialActions(experiment, columns, rows.rows, fields, [...chosen], () => { selection.selected.value = new Set(); })} />}
                    <ColumnChooser names={names} shown={fields} labelOf={(name) => labelOf(name, experiment.metric)} onChange={(next) => query.set({columns: next.join(",")}, {replace: true})} />
                </div>
            </div>
            <WhereField value={where} problem={rows.problem} names={names} example={`${example}<0.1 and state=completed`} onChange={(text) => query.set({where: text})} />
            <p class="table-count muted small" role="status">
                {rows.rows.length === columns.filled ? tCount("trials.count", columns.filled) : t("trials.count_of", {n: formatNumber(rows.rows.length), total: formatNumber(columns.filled)})}
                {columns.total > columns.rows && <> · {t("trials.sampled", {total: formatNumber(columns.total)})}</>}
                {rows.fresh > 0 && <> · <button class="link" onClick={rows.update}>{tCount("trials.fresh", rows.fresh)}</button></>}
            </p>
            {rows.rows.length === 0 && rows.ready
                ? <Empty title={t("trials.nothing_found")}><button class="button" onClick={() => query.set({state: "", where: "", brushed: ""})}>{t("list.clear")}</button></Empty>
                : <VirtualTable caption={t("tab.trials")} rows={rows.rows} rowKey={keyOf} sort={sort === "" ? defaultSort : sort} onSort={(next) => query.set({sort: next})}
                    columns={fields.map((field) => trialColumn(columns, field, experiment.id, experiment.metric))}
                    chosen={chosen} onChoose={choose} chooseLabel={(key) => t("list.choose", {name: t("tab.trial", {trial: key})})} chooseAllLabel={t("list.choose_all")}
                    onChooseAll={() => { selection.selected.value = chosen.size >= rows.rows.length ? new Set() : new Set(Array.from(rows.rows, keyOf)); }}
                    onHover={(key) => { selection.hovered.value = key; }} hovered={selection.hovered.value} onOpen={(key) => go(`e/${experiment.id}/t/${key}`)} />}
        </div>
    );
}

export default function Trials(props: ExperimentPageProps) {
    const {experiment, query} = props;
    const listed = query.list("columns");
    const extras = (listed.length > 0 ? listed : firstExtras).concat((query.get("sort") ?? "").replaceAll("-", "").split(","))
        .filter((name) => (extraFields as readonly string[]).includes(name));
    const wanted = [...new Set(extras)].sort();
    const columns = useResource<Columns>(`experiments/${experiment.id}/columns#${wanted.join()}`, {
        topic: `trials:${experiment.id}`, every: experiment.trials_total > 20_000 ? 5000 : 2000,
        read: (_, signal) => loadTrials(experiment.id, wanted, experiment.trials_total, signal),
    });
    return (
        <View resource={columns} rows={10}>
            {(data) => data.rows === 0
                ? <Empty title={t("trials.empty")}><p>{experiment.waits_for ? t("overview.waits", {why: experiment.waits_for}) : t("trials.empty_text")}</p></Empty>
                : <TrialTable {...props} columns={data} />}
        </View>
    );
}
