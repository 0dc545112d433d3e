// What the model of a search has learnt, as `hpsearch model` prints it.
import type {Experiment} from "../../api/shapes";
import {numberOf} from "../../api/shapes";
import type {Model, ModelBest} from "../../api/types";
import {useResource} from "../../state/resource";
import {t, tCount} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {formatFixed, formatNumber, formatPercent, formatWithDeviation} from "../../i18n/format";
import {toldApart} from "../../i18n/names";
import {Link} from "../../design/link";
import {ToldName} from "../../design/told_name";
import {plotPace} from "../../plot/history_figure";
import {CopyConfiguration} from "./copy_configuration";
import {Hparams, nameLetters} from "./hparams";

/// Nothing for a search without a model.
export function ModelCard({experiment}: {experiment: Experiment}) {
    const {data: model} = useResource<Model | null>(`experiments/${experiment.id}/model`, {
        topic: `experiment:${experiment.id}`,
        every: plotPace(experiment) * 2,
    });
    if (!model) return null;
    const missing = model.needed - model.results;
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("model.title")}</h2>
            </div>
            {missing > 0 ? (
                <p>{tCount("model.missing", missing, {results: model.results, needed: model.needed})}</p>
            ) : model.hyperparameters.length === 0 ? (
                <p>{tCount("model.nothing", model.results)}</p>
            ) : (
                <>
                    <p class="plot-lead">{tCount("model.learnt", model.results)}</p>
                    <div class="columns">
                        <Learnt model={model} />
                        {model.best && <Expected experiment={experiment} metric={model.metric} best={model.best} />}
                    </div>
                </>
            )}
        </section>
    );
}

function Learnt({model}: {model: Model}) {
    const told = toldApart(
        model.hyperparameters.map((each) => each.name),
        nameLetters,
    );
    return (
        <div>
            <div class="scroll-x">
                <table class="table">
                    <caption class="unseen">{t("model.hyperparameters")}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{t("plot.importance.name")}</th>
                            <th scope="col" class="number">
                                {t("tab.importance")}
                            </th>
                            <th scope="col" class="number" title={t("model.length_scale_note")}>
                                {t("model.length_scale")}
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {model.hyperparameters.map((each) => (
                            <tr key={each.name}>
                                <th scope="row">
                                    <ToldName name={each.name} told={told.get(each.name)} />
                                </th>
                                <td class="number">{formatPercent(each.share)}</td>
                                <td class="number">{formatFixed(each.length_scale, 2)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="muted small">{t("model.length_scale_note")}</p>
            <div class="scroll-x section">
                <table class="table">
                    <caption class="unseen">{t("model.lengths")}</caption>
                    <thead>
                        <tr>
                            <th scope="col">{t("column.length")}</th>
                            <th scope="col" class="number">
                                {t("compare.results")}
                            </th>
                            <th scope="col" class="number">
                                {t("model.correlation")}
                            </th>
                        </tr>
                    </thead>
                    <tbody>
                        {model.lengths.map((each) => (
                            <tr key={each.length}>
                                <th scope="row">{amount(each.length, model.unit)}</th>
                                <td class="number">{formatNumber(each.results)}</td>
                                <td class="number">{formatFixed(numberOf(each.correlation), 2)}</td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
        </div>
    );
}

function Expected({experiment, metric, best}: {experiment: Experiment; metric: string; best: ModelBest}) {
    return (
        <div>
            <h3>{t("model.expected")}</h3>
            <p class="plot-lead">
                {t("model.expects", {metric, value: formatWithDeviation(numberOf(best.mean), numberOf(best.deviation))})}{" "}
                {best.trial === null ? (
                    t("model.untried")
                ) : (
                    <Link class="in-text" to={`e/${experiment.id}/t/${best.trial}`}>
                        {t("tab.trial", {trial: best.trial})}
                    </Link>
                )}
            </p>
            <Hparams values={best.hparams} />
            <CopyConfiguration experiment={experiment} trial={best} />
        </div>
    );
}
