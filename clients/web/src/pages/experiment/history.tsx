// The best so far of this experiment, beside up to five others.
import {useEffect, useState} from "preact/hooks";
import {get} from "../../api/client";
import type {ExperimentSummary} from "../../api/shapes";
import {t} from "../../i18n/texts";
import {useResource} from "../../state/resource";
import {toldApart} from "../../i18n/names";
import {View} from "../../design/states";
import {LoadedSoFar} from "../../plot/data/columns_frame";
import {readLength} from "../../plot/data/compared";
import type {Clip} from "../../plot/drawing/domain";
import {HISTORY_FIELDS, HistoryPlot, readX, StatesOverTime, useHistory, XChoice} from "../../plot/history_figure";
import type {History} from "../../plot/history";
import {SearchLegend} from "../../plot/search_legend";
import {Choose, FilterChoice, readFilter, ScaleChoice, useChosen} from "../../plot/page_parts";
import type {ScaleKind} from "../../plot/drawing/scale";
import {useColumns} from "../../plot/data/use_columns";
import type {ExperimentPageProps} from "../page_props";

const mostOthers = 5;
const nameLetters = 30;

export default function Page({experiment, query}: ExperimentPageProps) {
    useChosen(experiment.id, query);
    const history = useHistory(experiment);
    const choice = readLength(query.get("len"));
    const {columns, complete} = useColumns(experiment, HISTORY_FIELDS, typeof choice === "number" ? choice : undefined);
    const x = readX(query, "time");
    const ids = query
        .list("vs")
        .map(Number)
        .filter((id) => Number.isInteger(id) && id > 0 && id !== experiment.id)
        .slice(0, mostOthers);
    const others = useOthers(ids);
    return (
        <View resource={history}>
            {(data) => (
                <>
                    {columns && !complete && <LoadedSoFar columns={columns} />}
                    <HistoryPlot
                        experiment={experiment}
                        history={data}
                        columns={columns}
                        x={x}
                        others={others}
                        height={380}
                        filter={readFilter(query)}
                        choice={choice}
                        kind={(query.get("y") as ScaleKind | undefined) ?? "linear"}
                        clip={(query.get("clip") as Clip | undefined) ?? "auto"}
                        controls={
                            <>
                                <XChoice query={query} usual="time" />
                                <FilterChoice query={query} experiment={experiment} />
                                <ScaleChoice query={query} />
                                <Compare experiment={experiment} query={query} captured={[]} ids={ids} />
                            </>
                        }
                    />
                    {others.length > 0 && <SearchLegend names={[experiment.name || `${experiment.id}`, ...others.map(({name}) => name)]} />}
                    <h2 class="plot-title">{t("plot.states.label")}</h2>
                    <StatesOverTime experiment={experiment} columns={complete ? columns : null} height={240} />
                </>
            )}
        </View>
    );
}

/// Histories of other experiments. One that can't be read is left out.
function useOthers(ids: readonly number[]): readonly {name: string; history: History}[] {
    const [others, setOthers] = useState<readonly {name: string; history: History}[]>([]);
    const key = ids.join(",");
    useEffect(() => {
        const control = new AbortController();
        const read = async (id: number) => {
            const [summary, history] = await Promise.all([
                get<ExperimentSummary>(`experiments/${id}`, control.signal),
                get<History>(`experiments/${id}/history`, control.signal),
            ]);
            return {name: summary.name || `${id}`, history};
        };
        void Promise.allSettled(ids.map(read)).then((all) => {
            if (!control.signal.aborted) setOthers(all.flatMap((each) => (each.status === "fulfilled" ? [each.value] : [])));
        });
        return () => control.abort();
    }, [key]);
    return others;
}

function Compare({experiment, query, ids}: ExperimentPageProps & {ids: readonly number[]}) {
    const list = useResource<{experiments: ExperimentSummary[]}>("experiments?limit=100");
    const open = (list.data?.experiments ?? []).filter(
        (each) => each.id !== experiment.id && each.metric === experiment.metric && !ids.includes(each.id),
    );
    const told = toldApart(
        open.map((each) => each.name),
        nameLetters,
    );
    return (
        <>
            {ids.map((id) => (
                <button
                    type="button"
                    class="plot-chip"
                    key={id}
                    onClick={() => query.set({vs: ids.filter((each) => each !== id).join(",")})}
                    aria-label={t("plot.history.without", {id})}
                >
                    {id} ×
                </button>
            ))}
            {open.length > 0 && ids.length < mostOthers && (
                <Choose
                    label={t("plot.history.compare")}
                    value=""
                    onChange={(value) => value && query.set({vs: [...ids, value].join(",")})}
                    choices={[
                        {value: "", text: "–"},
                        ...open.map((each) => ({value: String(each.id), text: `${each.id} ${told.get(each.name)?.own}`})),
                    ]}
                />
            )}
        </>
    );
}
