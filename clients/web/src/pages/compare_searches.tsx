// Up to eight searches side by side: results, the best configurations, what differs in their files and programs, and their
// trials in plots.
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
import {Lazy} from "./lazy";
import type {PageProps} from "./page_props";

const mostSearches = 8;
const nameLetters = 24;
const digestLetters = 12;
const loadPlots = () => import("./plot_pages").then((pages) => ({default: pages.SearchPlots}));

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

/// The program that new trials of a search run: its checkout, its files and where they came from.
function programOf({git, programs, context_digest, context_directory}: Experiment): Map<string, string> {
    const digest = programs.at(-1)?.context_digest ?? context_digest;
    return new Map(
        [
            [t("compare.commit"), git ? git.commit.slice(0, digestLetters) + (git.dirty ? t("config.git_dirty") : "") : ""],
            [t("form.program"), digest.slice(0, digestLetters)],
            [t("form.directory"), context_directory],
        ].filter((fact): fact is [string, string] => fact[1] !== ""),
    );
}

/// Whether a result of one search can be better than one of another.
function haveOneMetric(all: readonly Compared[]): boolean {
    const first = all[0]!.experiment;
    return all.every(({experiment: {metric, smaller_is_better}}) => metric === first.metric && smaller_is_better === first.smaller_is_better);
}

/// The best of searches that have one metric.
function bestOf(all: readonly Compared[]): Compared | undefined {
    const smaller = all[0]!.experiment.smaller_is_better;
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
                    const oneMetric = haveOneMetric(all);
                    const best = oneMetric ? bestOf(all) : undefined;
                    const fact = (label: string, cell: (each: Compared) => ComponentChildren): Line => ({
                        key: label,
                        label,
                        cells: all.map(cell),
                        differs: true,
                    });
                    const configurations = valueLines(all.map(({best: trial}) => new Map(flatHparams(trial?.hparams ?? {}))));
                    const files = valueLines(all.map(({config}) => new Map(flatHparams(config)))).filter((line) => line.differs);
                    const programs = valueLines(all.map(({experiment}) => programOf(experiment))).filter((line) => line.differs);
                    const told = toldApart(
                        all.map(({experiment}) => experiment.name),
                        nameLetters,
                    );
                    const plotted = all.map(({experiment, config}) => ({
                        experiment,
                        config,
                        name: `${experiment.id} ${told.get(experiment.name)?.own}`,
                    }));
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
                                        <Lines title={t("compare.programs")} lines={programs} />
                                    </tbody>
                                </table>
                            </div>
                            {all.length > 1 && <Lazy load={loadPlots} props={{all: plotted, query, oneMetric}} />}
                        </>
                    );
                }}
            </View>
        </>
    );
}
