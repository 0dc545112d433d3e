// The table of an experiment's trials.
import {useMemo, useRef} from "preact/hooks";
import type {Experiment} from "../../api/shapes";
import {parse} from "../../plot/brush";
import {columnOf, wordOf, type Columns} from "../../plot/data/columns";
import {exampleOf} from "./where_example";
import {FilterChoice, readFilter} from "../../plot/page_parts";
import {brushedTrials} from "../../plot/data/parallel_model";
import {comparedName, LengthChooser, useDeclarations} from "../../plot/data/columns_frame";
import {comparedColumns, readLength} from "../../plot/data/compared";
import {selectionOf} from "../../state/selection";
import {useResource} from "../../state/resource";
import {go} from "../../state/router";
import {t, tCount, tWord} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {formatNumber} from "../../i18n/format";
import {toldApart} from "../../i18n/names";
import {Empty, Loading, View} from "../../design/states";
import {toneOf} from "../../design/state_mark";
import {trialStates} from "../../design/bars";
import {Menu} from "../../design/menu";
import {loadTrials, mostTrials} from "../../table/load_trials";
import {extraFields, standardFields} from "../../table/fields";
import {headLetters, labelOf, trialColumn} from "../../table/trial_columns";
import {daemonOrder, usePagedTrials} from "../../table/paged_trials";
import {useMatching, useTerms} from "../../table/use_condition";
import {useRows, type Rows} from "../../table/use_rows";
import {VirtualTable} from "../../table/virtual_table";
import {WhereField} from "../../table/where_field";
import {ColumnChooser} from "../../table/column_chooser";
import {trialActions} from "./trial_bulk_actions";
import type {ExperimentPageProps} from "../page_props";

const firstHparams = 12;
const firstExtras = ["reason", "slot_seconds"];

/// What the rows of the table come from: all trials, sorted here, or pages of them, sorted by the daemon.
interface Source {
    readonly columns: Columns;
    readonly rows: Rows;
    /// The terms of the filter's condition, undefined until the daemon has answered, or why it can't read the condition.
    readonly terms: readonly string[] | undefined;
    readonly problem: string | undefined;
    readonly matched: number;
    readonly total: number;
    readonly paged: boolean;
    readonly onEnd?: () => void;
}

/// What trials are compared by; a search that is shown in pages has no results at one length.
const comparedBy = (query: ExperimentPageProps["query"], paged: boolean) => (paged || query.get("len") === "any" ? "metric" : "result");
const defaultSort = (experiment: Experiment, by: string) => (experiment.smaller_is_better ? by : `-${by}`);

/// The time between requests for all trials, in milliseconds.
const refreshEvery = (experiment: Experiment) => (experiment.trials_total > 20_000 ? 5000 : 2000);

/// All trials: filtered and sorted in a Web Worker.
function AllTrials(props: ExperimentPageProps & {columns: Columns}) {
    const {experiment, query, columns} = props;
    const whole = useRef<HTMLDivElement>(null);
    const space = useDeclarations(experiment);
    const by = comparedBy(query, false);
    const ranges = query.get("b") ?? "";
    const scale = {
        smallerIsBetter: experiment.smaller_is_better,
        metricLabel: "",
        lengthLabel: "",
        space,
        rungCount: experiment.rungs.length,
        logMetric: query.get("y") === "log",
        clip: query.get("clip") === "off" ? "off" : query.get("clip") === "on" ? "on" : "auto",
    } as const;
    const brushed = useMemo(
        () =>
            ranges === "" ? undefined : Uint32Array.from(brushedTrials(comparedColumns(columns, readLength(query.get("len"))), parse(ranges), scale)),
        [columns, columns.filled, ranges, scale.logMetric, scale.clip, space, query.get("len")],
    );
    const busy = () => whole.current?.matches(":hover, :focus-within") === true || (whole.current?.querySelector(".virtual")?.scrollTop ?? 0) > 0;
    const {where, ready, matching, terms, problem} = useMatching(
        experiment.id,
        query.get("where") ?? "",
        readLength(query.get("len")),
        refreshEvery(experiment),
    );
    const rows = useRows(
        ready ? columns : undefined,
        {
            sort: query.get("sort") || defaultSort(experiment, by),
            where,
            ...(matching ? {matching} : {}),
            states: query.list("state"),
            filter: {...readFilter(query), smallerIsBetter: experiment.smaller_is_better, choice: readLength(query.get("len"))},
            ...(brushed && query.get("brushed") !== "no" ? {trials: brushed} : {}),
        },
        busy,
    );
    return (
        <div ref={whole}>
            <TrialTable
                {...props}
                {...(brushed ? {brushed: brushed.length} : {})}
                source={{columns, rows, terms, problem, matched: rows.rows.length, total: columns.filled, paged: false}}
            />
        </div>
    );
}

/// More trials than a browser should hold: pages in the daemon's order, as far as they were scrolled to.
function PagedTable(props: ExperimentPageProps) {
    const {experiment, query} = props;
    const {fromRung} = readFilter(query);
    const where = query.get("where") ?? "";
    const reached = fromRung > 0 ? `rung>=${fromRung}` : "";
    const trials = usePagedTrials(experiment.id, {
        sort: daemonOrder(query.get("sort") || defaultSort(experiment, "metric"), experiment.smaller_is_better),
        where: where !== "" && reached !== "" ? `(${where}) and ${reached}` : where + reached,
        states: query.list("state"),
    });
    const condition = useTerms(experiment.id, where);
    const {columns, matched = 0} = trials;
    const problem = condition.problem ?? trials.problem;
    const rows = useMemo(() => Uint32Array.from({length: columns?.filled ?? 0}, (_, row) => row), [columns]);
    if (!columns)
        return problem ? (
            <p class="field-problem" role="alert">
                {problem.message || t("state.unreachable")}
            </p>
        ) : (
            <Loading rows={10} />
        );
    return (
        <TrialTable
            {...props}
            source={{
                columns,
                rows: {rows, fresh: 0, update: () => {}, ready: !trials.loading},
                terms: problem ? [] : condition.terms,
                problem: problem && (problem.message || t("state.unreachable")),
                matched,
                total: experiment.trials_total,
                paged: true,
                onEnd: trials.more,
            }}
        />
    );
}

function TrialTable({experiment, query, source, brushed}: ExperimentPageProps & {source: Source; brushed?: number}) {
    const {columns, rows} = source;
    const lastChosen = useRef<number>(undefined);
    const selection = selectionOf(experiment.id);
    const hparams = columns.fields.map((field) => field.name).filter((name) => name.startsWith("hparams."));
    const fields = useMemo(() => {
        const chosen = query.list("columns");
        const known = new Set<string>([...standardFields, ...extraFields, ...hparams]);
        const listed = chosen.filter((name) => known.has(name) && name !== "trial");
        return [
            "trial",
            ...(listed.length > 0
                ? listed
                : ["state", ...(source.paged ? [] : ["result"]), "metric", "reached", "reason", ...hparams.slice(0, firstHparams), "slot_seconds"]),
        ];
    }, [query.get("columns"), hparams.join()]);
    const told = useMemo(
        () =>
            toldApart(
                hparams.map((name) => name.slice(8)),
                headLetters,
            ),
        [hparams.join()],
    );
    const metricNames = {
        metric: experiment.metric,
        at: columns.length ? t("trial.at", {amount: amount(columns.length, experiment.unit)}) : "",
        result: comparedName(experiment, columns, false),
        best: comparedName(experiment, columns, true),
        bestTrial: experiment.best?.trial ?? null,
    };
    const states = query.list("state");
    const sort = query.get("sort") ?? "";
    const where = query.get("where") ?? "";
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
        if (source.paged) for (const [name, count] of Object.entries(experiment.trials)) found.set(name, count);
        else if (state) for (let row = 0; row < columns.filled; row += 1) found.set(wordOf(state, row), (found.get(wordOf(state, row)) ?? 0) + 1);
        return found;
    }, [columns, columns.filled, source.paged ? experiment.trials : null]);
    const names = [...new Set([...columns.fields.map((field) => field.name), ...extraFields])];
    const example = exampleOf(columns, hparams);
    return (
        <>
            <div class="toolbar">
                <div class="chips" role="group" aria-label={t("list.by_state")}>
                    {trialStates
                        .filter((each) => (counts.get(each) ?? 0) > 0 || states.includes(each))
                        .map((each) => (
                            <button
                                key={each}
                                class={`chip tone-${toneOf(each)}`}
                                aria-pressed={states.includes(each)}
                                onClick={() =>
                                    query.set({state: (states.includes(each) ? states.filter((one) => one !== each) : [...states, each]).join(",")})
                                }
                            >
                                {tWord("state", each)} <span class="count">{formatNumber(counts.get(each) ?? 0)}</span>
                            </button>
                        ))}
                    {brushed !== undefined && (
                        <button
                            class="chip"
                            aria-pressed={query.get("brushed") !== "no"}
                            onClick={() => query.set({brushed: query.get("brushed") === "no" ? "" : "no"})}
                        >
                            {tCount("trials.brushed", brushed)}
                        </button>
                    )}
                </div>
                <div class="plot-controls">
                    <LengthChooser experiment={experiment} query={query} columns={columns} />
                    <FilterChoice query={query} experiment={experiment} onlyRungs={source.paged} />
                </div>
                <div class="push chips">
                    {chosen.size > 0 && (
                        <Menu
                            label={tCount("list.selected", chosen.size)}
                            name="trials"
                            items={trialActions(experiment, columns, rows.rows, fields, [...chosen], () => {
                                selection.selected.value = new Set();
                            })}
                        />
                    )}
                    <ColumnChooser
                        names={names}
                        shown={fields}
                        labelOf={(name) => labelOf(name, metricNames)}
                        onChange={(next) => query.set({columns: next.join(",")}, {replace: true})}
                    />
                </div>
            </div>
            <WhereField
                value={where}
                problem={source.problem}
                terms={source.terms}
                names={names}
                example={`${example} and state=completed`}
                onChange={(text) => query.set({where: text})}
            />
            <p class="table-count muted small" role="status">
                {source.matched === source.total
                    ? tCount("trials.count", source.total)
                    : t("trials.count_of", {n: formatNumber(source.matched), total: formatNumber(source.total)})}
                {source.paged && <> · {t("trials.paged", {n: formatNumber(rows.rows.length)})}</>}
                {rows.fresh > 0 && (
                    <>
                        {" "}
                        ·{" "}
                        <button class="link" onClick={rows.update}>
                            {tCount("trials.fresh", rows.fresh)}
                        </button>
                    </>
                )}
            </p>
            {rows.rows.length === 0 && rows.ready ? (
                <Empty title={t("trials.nothing_found")}>
                    <button class="button" onClick={() => query.set({state: "", where: "", b: "", best: "", rung: ""})}>
                        {t("list.clear")}
                    </button>
                </Empty>
            ) : (
                <VirtualTable
                    caption={t("tab.trials")}
                    rows={rows.rows}
                    rowKey={keyOf}
                    sort={sort === "" ? defaultSort(experiment, comparedBy(query, source.paged)) : sort}
                    {...(source.onEnd ? {onEnd: source.onEnd} : {})}
                    onSort={(next) => query.set({sort: next})}
                    columns={fields.map((field) => trialColumn(columns, field, experiment.id, metricNames, told))}
                    chosen={chosen}
                    onChoose={choose}
                    chooseLabel={(key) => t("list.choose", {name: t("tab.trial", {trial: key})})}
                    chooseAllLabel={t("list.choose_all")}
                    onChooseAll={() => {
                        selection.selected.value = chosen.size >= rows.rows.length ? new Set() : new Set(Array.from(rows.rows, keyOf));
                    }}
                    onHover={(key) => {
                        selection.hovered.value = key;
                    }}
                    hovered={selection.hovered.value}
                    onOpen={(key) => go(`e/${experiment.id}/t/${key}`)}
                />
            )}
        </>
    );
}

export default function Trials(props: ExperimentPageProps) {
    return props.experiment.trials_total > mostTrials ? <PagedTable {...props} /> : <Loaded {...props} />;
}

function Loaded(props: ExperimentPageProps) {
    const {experiment, query} = props;
    const listed = query.list("columns");
    const extras = (listed.length > 0 ? listed : firstExtras)
        .concat((query.get("sort") ?? "").replaceAll("-", "").split(","))
        .filter((name) => (extraFields as readonly string[]).includes(name));
    const wanted = [...new Set(extras)].sort();
    const choice = readLength(query.get("len"));
    const length = typeof choice === "number" ? choice : undefined;
    const columns = useResource<Columns>(`experiments/${experiment.id}/columns#${length ?? ""},${wanted.join()}`, {
        topic: `trials:${experiment.id}`,
        every: refreshEvery(experiment),
        read: (_, signal) => loadTrials(experiment.id, wanted, length, signal),
    });
    return (
        <View resource={columns} rows={10}>
            {(data) =>
                data.rows === 0 ? (
                    <Empty
                        title={t("trials.empty")}
                        ways={[
                            [`e/${experiment.id}`, "tab.overview"],
                            ["workers", "nav.workers"],
                        ]}
                    >
                        <p>{experiment.waits_for ? t("overview.waits", {why: experiment.waits_for}) : t("trials.empty_text")}</p>
                    </Empty>
                ) : (
                    <AllTrials {...props} columns={data} />
                )
            }
        </View>
    );
}
