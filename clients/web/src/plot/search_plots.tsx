/** The best so far and the trials of several searches, a colour for each search. */
import {useMemo} from "preact/hooks";
import {get} from "../api/client";
import type {Experiment} from "../api/shapes";
import {View} from "../design/states";
import {formatNumber} from "../i18n/format";
import {t} from "../i18n/texts";
import {useResource} from "../state/resource";
import {go, type Query} from "../state/router";
import {comparedColumns} from "./data/compared";
import {comparedName} from "./data/columns_frame";
import type {Columns} from "./data/columns";
import {commonLength, joinedColumns, joinedSpace, ownTrial} from "./data/joined_searches";
import {MOST_AXES, parallelModel, varyingNames} from "./data/parallel_model";
import {declarationsOf, type Declarations} from "./data/space";
import {readColumns} from "./data/use_columns";
import type {Clip} from "./drawing/domain";
import type {ScaleKind} from "./drawing/scale";
import type {History} from "./history";
import {EVERY, HistoryPlot, readX, XChoice} from "./history_figure";
import {ScaleChoice} from "./page_parts";
import {MOST_LINES} from "./parallel";
import {ParallelPlot, useAxes, useBrushes} from "./parallel_plot";
import {SearchLegend} from "./search_legend";

export interface PlottedSearch {
    readonly experiment: Experiment;
    readonly config: Readonly<Record<string, unknown>>;
    /** Told apart from the others. */
    readonly name: string;
}

interface Answers {
    readonly history: History;
    readonly others: readonly {readonly name: string; readonly history: History}[];
    /** Of all searches; `length` says where they are compared, null: each trial at its best. */
    readonly rows: Columns;
    readonly sampled: boolean;
}

export interface SearchPlotsProps {
    readonly all: readonly PlottedSearch[];
    readonly query: Query;
    /** Whether a result of one can be better than one of another. */
    readonly oneMetric: boolean;
}

/** The most hyperparameters that are read, of which those with several values become axes. */
const mostNames = 50;

export default function SearchPlots({all, query, oneMetric}: SearchPlotsProps) {
    const searches = all.map(({experiment}) => experiment);
    const ids = searches.map(({id}) => id).join();
    const spaces = useMemo(() => all.map(({config}) => declarationsOf(config["hyperparameters"])), [ids]);
    const space = useMemo(() => joinedSpace(spaces), [spaces]);
    const most = Math.floor(MOST_LINES / all.length);
    const answers = useResource<Answers>(`experiments#plots=${ids}`, {
        topic: searches.every(({ended_at}) => ended_at !== null) ? undefined : "experiments",
        every: 5000,
        read: async (_, signal) => {
            const read = (search: number, at = "") => {
                // A comma in a name would begin another name.
                const names = [...space.keys()].filter((name) => spaces[search]!.has(name) && !name.includes(","));
                const fields = encodeURIComponent(["trial,result,metric,nonfinite", ...names.slice(0, mostNames)].join());
                return readColumns(`experiments/${searches[search]!.id}/columns?sample=${most}&fields=${fields}${at}`, signal);
            };
            const [histories, first] = await Promise.all([
                Promise.all(searches.map(({id}) => get<History>(`experiments/${id}/history`, signal))),
                Promise.all(searches.map((_, search) => read(search))),
            ]);
            const length = searches.every(({unit}) => unit === searches[0]!.unit) ? commonLength(first) : undefined;
            const columns = await Promise.all(
                first.map((each, search) => (!length || each.length === length ? each : read(search, `&length=${length}`))),
            );
            const [own, ...others] = histories.map((history, search) => ({name: all[search]!.name, history}));
            return {
                history: own!.history,
                others,
                rows: {
                    ...joinedColumns(
                        columns.map((each) => comparedColumns(each, length ?? "any")),
                        space,
                        oneMetric,
                    ),
                    length: length ?? null,
                },
                sampled: columns.some(({rows, total}) => rows < total),
            };
        },
    });
    return (
        <section class="section">
            <SearchLegend names={all.map(({name}) => name)} />
            <View resource={answers} rows={8}>
                {({history, others, rows, sampled}) => (
                    <>
                        <h2 class="plot-title">{t("tab.history")}</h2>
                        {oneMetric ? (
                            <HistoryPlot
                                experiment={{...searches[0]!, name: all[0]!.name}}
                                history={history}
                                columns={null}
                                x={readX(query, "trials")}
                                others={others}
                                height={320}
                                kind={(query.get("y") as ScaleKind | undefined) ?? "linear"}
                                clip={(query.get("clip") as Clip | undefined) ?? "auto"}
                                controls={
                                    <>
                                        <XChoice query={query} usual="trials" />
                                        <ScaleChoice query={query} />
                                    </>
                                }
                            />
                        ) : (
                            <p class="muted">{t("plot.searches.metrics")}</p>
                        )}
                        <h2 class="plot-title">{t("tab.parallel")}</h2>
                        <Parallel all={all} query={query} rows={rows} oneMetric={oneMetric} space={space} />
                        {sampled && <p class="muted small">{t("plot.searches.sampled", {n: formatNumber(most)})}</p>}
                    </>
                )}
            </View>
        </section>
    );
}

interface ParallelProps extends SearchPlotsProps {
    readonly rows: Columns;
    readonly space: Declarations;
}

function Parallel({all, query, rows, oneMetric, space}: ParallelProps) {
    const {experiment} = all[0]!;
    const usual = [...varyingNames(rows).slice(0, MOST_AXES - 1), ...(oneMetric ? ["metric"] : [])];
    const axes = useAxes(query, usual, (name) => usual.includes(name));
    const {names} = axes;
    const logMetric = query.get("y") === "log";
    const model = useMemo(
        () =>
            parallelModel(rows, names, {
                smallerIsBetter: experiment.smaller_is_better,
                metricLabel: comparedName(experiment, rows, rows.length === null),
                lengthLabel: "",
                logMetric,
                clip: "auto",
                space,
                rungCount: 1,
                searches: all.map(({name}) => name),
            }),
        [rows, names.join(), logMetric],
    );
    const brushing = useBrushes(query, model, axes);
    const shared = usual.length > Number(oneMetric);
    if (rows.filled === 0 || !shared) return <p class="muted">{t(shared ? "plot.compared.none_text" : "plot.searches.no_axes")}</p>;
    return (
        <>
            <ParallelPlot
                model={model}
                brushing={brushing}
                filter={EVERY}
                onSelect={(hit) => {
                    const [search, trial] = ownTrial(hit.trial, all.length);
                    go(`e/${all[search]!.experiment.id}/t/${trial}`);
                }}
            />
            <p class="muted small">{t("plot.parallel.how")}</p>
        </>
    );
}
