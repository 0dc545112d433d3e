// Which hyperparameters separate the best results from the others.
import {t, tCount, tWord} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {useResource} from "../../state/resource";
import {Empty, View} from "../../design/states";
import {Plot} from "../../plot/drawing/frame";
import {plotPace} from "../../plot/history_figure";
import {importanceFigure, importanceHeight, type Importance} from "../../plot/importance";
import {Choose} from "../../plot/page_parts";
import {ModelCard} from "./model_card";
import type {ExperimentPageProps} from "../page_props";

export default function Page(props: ExperimentPageProps) {
    return (
        <>
            <Bars {...props} />
            <ModelCard experiment={props.experiment} />
        </>
    );
}

function Bars({experiment, query}: ExperimentPageProps) {
    const rung = query.number("level");
    const resource = useResource<Importance>(
        `experiments/${experiment.id}/importance${rung === undefined ? "" : `?rung=${Math.max(0, Math.floor(rung))}`}`,
        {topic: `experiment:${experiment.id}`, every: plotPace(experiment) * 2},
    );
    const controls =
        experiment.rungs.length > 1 ? (
            <Choose
                label={t("plot.importance.at")}
                value={rung === undefined ? "" : String(rung)}
                onChange={(value) => query.set({level: value})}
                choices={[
                    {value: "", text: t("plot.importance.deepest")},
                    ...experiment.rungs.map(({length}, index) => ({
                        value: String(index),
                        text: amount(length, experiment.unit),
                    })),
                ]}
            />
        ) : null;
    return (
        <View resource={resource}>
            {(data) =>
                data.reason !== "" || data.hyperparameters.length === 0 ? (
                    <>
                        <div class="plot-bar">{controls}</div>
                        <Empty
                            title={t("plot.importance.none_title")}
                            ways={[
                                [`e/${experiment.id}/scatter`, "tab.scatter"],
                                [`e/${experiment.id}/trials`, "tab.trials"],
                            ]}
                        >
                            <p>
                                {t(experiment.ended_at === null ? "plot.importance.none_text" : "plot.importance.none_ended", {
                                    results: data.results,
                                    needed: data.needed,
                                })}
                            </p>
                        </Empty>
                    </>
                ) : (
                    <>
                        <p class="plot-lead">
                            {t("plot.importance.lead", {
                                metric: data.metric,
                                percent: Math.round(data.gamma * 100),
                                results: data.results,
                                amount: amount(data.length, experiment.unit),
                            })}
                            {data.others > 0 && <> {tCount("plot.importance.others", data.others)}</>} {t(`plot.importance.method_${data.method}`)}
                        </p>
                        <Plot
                            name="importance"
                            label={t("tab.importance")}
                            experiment={experiment.id}
                            height={importanceHeight(data)}
                            controls={controls}
                            make={(size, look) => importanceFigure(data, tWord(data.length === 1 ? "unit_one" : "unit", experiment.unit), size, look)}
                            deps={[data, experiment.unit]}
                        />
                    </>
                )
            }
        </View>
    );
}
