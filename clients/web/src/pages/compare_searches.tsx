// Up to eight searches side by side: results, the best configurations, and what differs in their files.
import type {ComponentChildren} from "preact";
import {get, Problem} from "../api/client";
import {numberOf, type Experiment, type Trial} from "../api/shapes";
import {flatHparams} from "../state/hparams";
import {useResource} from "../state/resource";
import {t} from "../i18n/texts";
import {amount} from "../i18n/amount";
import {formatDuration, formatNumber, formatPercent} from "../i18n/format";
import {toldApart} from "../i18n/names";
import {Empty, View} from "../design/states";
import {Link} from "../design/link";
import {Shared} from "../design/told_name";
import {StateMark} from "../design/state_mark";
import {Lines, valueLines, type Line} from "./compare_lines";
import type {PageProps} from "./page_props";

const mostSearches = 8;
const nameLetters = 24;

interface Compared {
    readonly experiment: Experiment;
    readonly config: Record<string, unknown>;
    readonly best: Trial | null;
}

async function readOne(id: number, signal: AbortSignal): Promise<Compared | null> {
    try {
        const [experiment, config, best] = await Promise.all([
            get<Experiment>(`experiments/${id}`, signal),
            get<Record<string, unknown>>(`experiments/${id}/config`, signal),
            get<Trial | null>(`experiments/${id}/best`, signal),
        ]);
        return {experiment, config, best};
    } catch (cause) {
        if (cause instanceof Problem && cause.status === 404) return null;
        throw cause;
    }
}

/// The best of searches whose results can be compared; undefined if their metrics differ.
function bestOf(all: readonly Compared[]): Compared | undefined {
    const {metric, smaller_is_better: smaller} = all[0]!.experiment;
    if (all.some(({experiment}) => experiment.metric !== metric || experiment.smaller_is_better !== smaller)) return undefined;
    const better = (a: number, b: number) => (smaller ? a < b : a > b);
    return all.reduce<Compared | undefined>((so, each) => {
        const result = numberOf(each.experiment.best?.metric ?? null);
        return !Number.isNaN(result) && (so === undefined || better(result, numberOf(so.experiment.best!.metric))) ? each : so;
    }, undefined);
}

export default function CompareSearches({query}: PageProps) {
    const ids = [...new Set(query.list("e").map(Number))].slice(0, mostSearches);
    const list = useResource<(Compared | null)[]>(ids.length === 0 ? null : `experiments#compare=${ids.join(",")}`, {
        topic: "experiments",
        every: 3000,
        read: (_, signal) => Promise.all(ids.map((id) => readOne(id, signal))),
    });
    const nothing = (
        <Empty top title={t("compare.no_searches")} ways={[["experiments", "nav.experiments"]]}>
            <p>{t("compare.choose_searches")}</p>
        </Empty>
    );
    if (ids.length === 0) return nothing;
    return (
        <>
            <div class="section-head list-head">
                <h1>{t("compare.searches")}</h1>
            </div>
            <View resource={list}>
                {(answers) => {
                    const all = answers.filter((each): each is Compared => each !== null);
                    if (all.length === 0) return nothing;
                    const best = bestOf(all);
                    const fact = (label: string, cell: (each: Compared) => ComponentChildren): Line => ({
                        key: label,
                        label,
                        cells: all.map(cell),
                        differs: true,
                    });
                    const configurations = valueLines(all.map(({best: trial}) => new Map(flatHparams(trial?.hparams ?? {}))));
                    const files = valueLines(all.map(({config}) => new Map(flatHparams(config)))).filter((line) => line.differs);
                    const told = toldApart(
                        all.map(({experiment}) => experiment.name),
                        nameLetters,
                    );
                    const [first, ...others] = all.map(({experiment}) => experiment.id);
                    return (
                        <>
                            <div class="scroll-x">
                                <table class="table compare">
                                    <caption class="unseen">{t("compare.searches")}</caption>
                                    <thead>
                                        <tr>
                                            <td />
                                            {all.map(({experiment}) => (
                                                <th key={experiment.id} scope="col">
                                                    <Link to={`e/${experiment.id}`} class="strong" title={experiment.name}>
                                                        {experiment.id} {told.get(experiment.name)?.own}
                                                    </Link>
                                                    <Shared told={told.get(experiment.name)} />
                                                </th>
                                            ))}
                                        </tr>
                                    </thead>
                                    <tbody>
                                        <Lines
                                            title={t("compare.results")}
                                            lines={[
                                                fact(t("list.state"), ({experiment}) => <StateMark state={experiment.state} />),
                                                fact(t("overview.searcher"), ({experiment}) => experiment.searcher),
                                                fact(t("list.best"), (each) =>
                                                    each.experiment.best ? (
                                                        <>
                                                            <span class={each === best ? "strong" : ""}>
                                                                {each.experiment.metric} {formatNumber(each.experiment.best.metric)}
                                                            </span>
                                                            {each === best && all.length > 1 && " "}
                                                            {each === best && all.length > 1 && <span class="tag good-tag">{t("compare.best")}</span>}
                                                            <span class="row-sub">
                                                                <Link class="in-text" to={`e/${each.experiment.id}/t/${each.experiment.best.trial}`}>
                                                                    {t("tab.trial", {trial: each.experiment.best.trial})}
                                                                </Link>{" "}
                                                                {t("trial.at", {amount: amount(each.experiment.best.step, each.experiment.unit)})}
                                                            </span>
                                                        </>
                                                    ) : (
                                                        "–"
                                                    ),
                                                ),
                                                fact(t("list.trials"), ({experiment}) => formatNumber(experiment.trials_total)),
                                                fact(t("overview.trained"), ({experiment}) => (
                                                    <>
                                                        {amount(experiment.length_trained, experiment.unit)}
                                                        <span class="row-sub">
                                                            {numberOf(experiment.length_full) > 0 &&
                                                                t("compare.of_full", {
                                                                    share: formatPercent(
                                                                        numberOf(experiment.length_trained) / numberOf(experiment.length_full),
                                                                    ),
                                                                })}
                                                        </span>
                                                    </>
                                                )),
                                                fact(t("column.slot_seconds"), ({experiment}) => formatDuration(experiment.slot_seconds)),
                                            ]}
                                        />
                                        <Lines title={t("overview.best_configuration")} lines={configurations} />
                                        <Lines title={t("compare.files")} lines={files} />
                                    </tbody>
                                </table>
                            </div>
                            {others.length > 0 && (
                                <p class="section">
                                    <Link to={`e/${first}/history?vs=${others.join(",")}`}>{t("compare.histories")}</Link>
                                </p>
                            )}
                        </>
                    );
                }}
            </View>
        </>
    );
}
