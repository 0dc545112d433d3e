// Up to twelve trials side by side: what differs first.
import type {ComponentChildren} from "preact";
import {get, Problem} from "../../api/client";
import {numberOf, type Trial} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {t, tWord} from "../../i18n/texts";
import {formatDuration, formatNumber} from "../../i18n/format";
import {Empty, View} from "../../design/states";
import {Link} from "../../design/link";
import {StateMark} from "../../design/state_mark";
import {flatHparams} from "../../state/hparams";
import {Lines, valueLines, type Line} from "../compare_lines";
import {Lazy} from "../lazy";
import type {ExperimentPageProps} from "../page_props";

const mostTrials = 12;
/// More of them get narrow columns.
const mostWide = 6;
const loadCurves = () => import("../plot_pages").then((pages) => ({default: pages.CompareCurves}));

export default function Compare({experiment, query}: ExperimentPageProps) {
    const numbers = [
        ...new Set(
            query
                .list("t")
                .map(Number)
                .filter((number) => Number.isInteger(number) && number >= 0),
        ),
    ];
    const shown = numbers.slice(0, mostTrials);
    const spelled = shown.join(",");
    const trials = useResource<(Trial | null)[]>(shown.length === 0 ? null : `experiments/${experiment.id}/compare#${spelled}`, {
        topic: `trials:${experiment.id}`,
        every: 3000,
        read: (_, signal) =>
            Promise.all(
                shown.map((number) =>
                    get<Trial>(`experiments/${experiment.id}/trials/${number}`, signal).catch((cause: unknown) => {
                        if (cause instanceof Problem && cause.status === 404) return null;
                        throw cause;
                    }),
                ),
            ),
    });
    const trialsPage = [[`e/${experiment.id}/trials`, "tab.trials"]] as const;
    if (shown.length === 0)
        return (
            <Empty top title={t("compare.empty")} ways={trialsPage}>
                <p>{t("compare.empty_text")}</p>
            </Empty>
        );
    return (
        <>
            <div class="section-head">
                <h1>{t("tab.compare")}</h1>
                {numbers.length > mostTrials && <span class="muted">{t("compare.most", {n: mostTrials})}</span>}
            </div>
            <View resource={trials}>
                {(list) => {
                    const found = list.filter((each): each is Trial => each !== null);
                    if (found.length === 0) return <Empty title={t("compare.empty")} ways={trialsPage} />;
                    const flat = found.map((trial) => new Map(flatHparams(trial.hparams)));
                    const hparams = valueLines(flat);
                    const better = (a: number, b: number) => (experiment.smaller_is_better ? a < b : a > b);
                    const best = found.reduce<Trial | undefined>((so, each) => {
                        const metric = numberOf(each.best_metric);
                        return !Number.isNaN(metric) && (so === undefined || better(metric, numberOf(so.best_metric))) ? each : so;
                    }, undefined);
                    const dense = found.length > mostWide;
                    const fact = (label: string, cell: (trial: Trial) => ComponentChildren): Line => ({
                        key: label,
                        label,
                        cells: found.map(cell),
                        differs: true,
                    });
                    return (
                        <>
                            <div class="scroll-x">
                                <table class={`table compare${dense ? " dense" : ""}`}>
                                    <caption class="unseen">{t("tab.compare")}</caption>
                                    <thead>
                                        <tr>
                                            <td />
                                            {found.map((trial) => (
                                                <th key={trial.trial} scope="col">
                                                    <Link to={`e/${experiment.id}/t/${trial.trial}`} class="strong">
                                                        {t("tab.trial", {trial: trial.trial})}
                                                    </Link>
                                                    {found.length > 1 && (
                                                        <button
                                                            class="icon-button tiny"
                                                            aria-label={t("compare.remove", {trial: trial.trial})}
                                                            onClick={() => query.set({t: shown.filter((each) => each !== trial.trial).join(",")})}
                                                        >
                                                            ×
                                                        </button>
                                                    )}
                                                </th>
                                            ))}
                                        </tr>
                                    </thead>
                                    <tbody>
                                        <Lines
                                            title={t("compare.results")}
                                            lines={[
                                                fact(t("list.state"), (trial) => <StateMark state={trial.state} />),
                                                fact(t("trial.best", {metric: experiment.metric}), (trial) => (
                                                    <span class={trial === best ? "strong" : ""}>
                                                        {formatNumber(trial.best_metric)}
                                                        {trial === best && found.length > 1 ? (
                                                            <span class="tag good-tag">{t("compare.best")}</span>
                                                        ) : null}
                                                    </span>
                                                )),
                                                fact(t("column.last"), (trial) => formatNumber(trial.metric)),
                                                fact(t("column.reached"), (trial) => formatNumber(trial.reached)),
                                                fact(t("column.slot_seconds"), (trial) => formatDuration(trial.slot_seconds)),
                                                fact(t("column.attempts"), (trial) => trial.attempts),
                                                fact(t("tab.checkpoints"), (trial) =>
                                                    trial.best_checkpoint ? trial.best_checkpoint.split("/").at(-1) : "–",
                                                ),
                                                fact(t("column.reason"), (trial) => (
                                                    <span class="small" title={trial.reason.text}>
                                                        {dense ? tWord("why", trial.reason.why) : trial.reason.text}
                                                    </span>
                                                )),
                                            ]}
                                        />
                                        <Lines title={t("compare.differ")} lines={hparams.filter((line) => line.differs)} />
                                        <Lines title={t("compare.same")} lines={hparams.filter((line) => !line.differs)} />
                                    </tbody>
                                </table>
                            </div>
                            <section class="section">
                                <div class="section-head">
                                    <h2>{t("tab.curves")}</h2>
                                </div>
                                <Lazy load={loadCurves} props={{experiment, trials: found.map((trial) => trial.trial), query}} />
                            </section>
                        </>
                    );
                }}
            </View>
        </>
    );
}
