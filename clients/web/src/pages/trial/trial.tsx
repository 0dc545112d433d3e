// A trial: its state and why, hyperparameters, curves, attempts, log, checkpoints.
import {daemonNow} from "../../api/client";
import type {Experiment, Explanation, Reason, Trial, Worker} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {t, tWord} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {formatDuration, formatNumber, formatShortTime, formatTime, plain} from "../../i18n/format";
import {Link} from "../../design/link";
import {announce} from "../../design/announce";
import {copyText} from "../../design/copy_text";
import {View} from "../../design/states";
import {toneOf} from "../../design/state_mark";
import {useNow} from "../../design/now";
import {readWorkers} from "../workers/read_workers";
import {LogView} from "../../log/log_view";
import {attemptsOf, isFailed} from "./attempts";
import {Failure} from "./failure";
import {CopyConfiguration} from "../experiment/copy_configuration";
import {HparamPlaces} from "../space_place";
import {Lazy} from "../lazy";
import {reasonText, storyOf} from "../story";
import {StoryList} from "../story_list";
import {TrialCheckpoints} from "./trial_checkpoints";
import {TrialHeader} from "./trial_header";
import type {ExperimentPageProps} from "../page_props";

/// Where the programs of attempts leave what TensorBoard reads (docs/job-contract.md).
const tensorboard = "ml/output/tensorboard";
const loadCurves = () => import("../plot_pages").then((pages) => ({default: pages.TrialCurves}));

/// The numbers behind the decision, as a small table.
function Numbers({reason, metric, unit, trial}: {reason: Reason; metric: string; unit: string; trial: Trial}) {
    const cutoff = reason.cutoff;
    const rows: [string, string][] = [[metric, formatNumber(trial.metric)]];
    if (reason.rank !== undefined && reason.rank !== null)
        rows.push([t("why_table.rank"), reason.size ? t("why_table.rank_of", {rank: reason.rank + 1, size: reason.size}) : String(reason.rank + 1)]);
    if (cutoff !== undefined && cutoff !== null) rows.push([t("why_table.cutoff"), formatNumber(cutoff)]);
    if (reason.keep !== undefined && reason.keep !== null) rows.push([t("why_table.keep"), formatNumber(reason.keep)]);
    if (reason.at !== undefined && reason.at !== null) rows.push([t("column.rung"), amount(reason.at, unit)]);
    if (reason.bracket) rows.push([t("column.bracket"), String(reason.bracket)]);
    return (
        <dl class="numbers">
            {rows.map(([label, value]) => (
                <div key={label}>
                    <dt>{label}</dt>
                    <dd>{value}</dd>
                </div>
            ))}
        </dl>
    );
}

function Why({experiment, trial, explanation}: {experiment: Experiment; trial: Trial; explanation: Explanation}) {
    const open = ["RUNNING", "PENDING", "PAUSED"].includes(trial.state);
    const reason = reasonText(explanation.reason, explanation.unit);
    return (
        <section class={`why tone-${toneOf(trial.state)}`} aria-label={t("trial.why")}>
            <h2 class="unseen">{t("trial.why")}</h2>
            <p class="why-text">{open && explanation.now ? explanation.now : reason || explanation.reason.text}</p>
            {open && explanation.next && <p class="muted">{t("trial.then", {next: explanation.next})}</p>}
            <Numbers reason={explanation.reason} metric={experiment.metric} unit={explanation.unit} trial={trial} />
        </section>
    );
}

interface AttemptsProps {
    readonly experiment: Experiment;
    readonly trial: Trial;
    readonly explanation: Explanation;
    readonly now: number;
    /// Its search has no workers.
    readonly external: boolean;
}

function Attempts({experiment, trial, explanation, now, external}: AttemptsProps) {
    const workers = useResource<Worker[]>("workers#names", {read: (_, signal) => readWorkers(signal)});
    const names = new Map((workers.data ?? []).map((each) => [each.id, each.name]));
    const attempts = attemptsOf(explanation.history);
    if (attempts.length === 0) return <p class="muted">{t("trial.no_attempt")}</p>;
    return (
        <div class="scroll-x">
            <table class="table">
                <caption class="unseen">{t("trial.attempts")}</caption>
                <thead>
                    <tr>
                        <th scope="col">{t("log.attempt")}</th>
                        <th scope="col">{t("column.worker")}</th>
                        <th scope="col">{t("trial.started")}</th>
                        <th scope="col" class="number">
                            {t("trial.took")}
                        </th>
                        <th scope="col">{t("trial.end")}</th>
                    </tr>
                </thead>
                <tbody>
                    {attempts.map((each) => {
                        const bad = isFailed(each);
                        const end =
                            each.cause === undefined
                                ? tWord("state", "RUNNING")
                                : each.message !== ""
                                  ? plain(each.message)
                                  : each.cause === "signaled"
                                    ? t("story.signal", {code: each.code ?? 0})
                                    : each.cause === "exited"
                                      ? each.code === 0
                                          ? t("trial.exited")
                                          : t("story.exit", {code: each.code ?? 0})
                                      : tWord("cause", each.cause);
                        return (
                            <tr key={each.attempt}>
                                <td>
                                    <Link to={`e/${experiment.id}/t/${trial.trial}/log?attempt=${each.attempt}`} title={t("trial.open_log")}>
                                        {each.attempt}
                                    </Link>
                                </td>
                                <td>
                                    {each.places.length === 0 || external
                                        ? "–"
                                        : each.places.map(({worker, slots}, rank) => (
                                              <span class="place-of-rank nowrap" key={rank}>
                                                  <Link class="in-text" to={`workers/${worker}`}>
                                                      {names.get(worker) ?? worker}
                                                  </Link>
                                                  {slots.length > 0 && <span class="muted"> {t("trial.slots", {slots: slots.join(", ")})}</span>}
                                              </span>
                                          ))}
                                </td>
                                <td class="nowrap" title={formatTime(each.started ?? each.leased)}>
                                    {formatShortTime(each.started ?? each.leased, now)}
                                </td>
                                <td class="number nowrap">{formatDuration((each.ended ?? now) - (each.started ?? each.leased))}</td>
                                <td class={bad ? "bad" : "muted"}>{end}</td>
                            </tr>
                        );
                    })}
                </tbody>
            </table>
        </div>
    );
}

export default function TrialPage({experiment, query, captured}: ExperimentPageProps) {
    const number = Number(captured[0]);
    const base = `experiments/${experiment.id}/trials/${number}`;
    const live = {topic: `trials:${experiment.id}`, every: 1000};
    const trial = useResource<Trial>(base, live);
    const explanation = useResource<Explanation>(`${base}/explain`, live);
    const config = useResource<Record<string, unknown>>(`experiments/${experiment.id}/config`);
    useNow(trial.data?.state === "RUNNING");
    const now = daemonNow();
    const space = (config.data?.["hyperparameters"] ?? {}) as Record<string, unknown>;
    return (
        <View top resource={trial}>
            {(data) => (
                <>
                    <TrialHeader experiment={experiment} trial={data} current="trial" done={trial.reload} />
                    {data.last_failure && <Failure experiment={experiment.id} trial={data} explanation={explanation.data} />}
                    {explanation.data && <Why experiment={experiment} trial={data} explanation={explanation.data} />}
                    <div class="columns section">
                        <div>
                            <section class="section">
                                <div class="section-head">
                                    <h2>{t("tab.curves")}</h2>
                                </div>
                                <Lazy load={loadCurves} props={{experiment, trial: number, query}} />
                            </section>
                            <section class="section">
                                <div class="section-head">
                                    <h2>{t("trial.story")}</h2>
                                </div>
                                <View resource={explanation} rows={4}>
                                    {(told) => (
                                        <StoryList
                                            experiment={experiment.id}
                                            lines={storyOf(told.history, experiment.metric, experiment.unit).reverse()}
                                        />
                                    )}
                                </View>
                            </section>
                            <section class="section">
                                <div class="section-head">
                                    <h2>{t("trial.attempts")}</h2>
                                </div>
                                <View resource={explanation} rows={3}>
                                    {(told) => (
                                        <Attempts
                                            experiment={experiment}
                                            trial={data}
                                            explanation={told}
                                            now={now}
                                            external={config.data?.["workers"] === "external"}
                                        />
                                    )}
                                </View>
                            </section>
                        </div>
                        <div>
                            <section class="section">
                                <div class="section-head">
                                    <h2>{t("trial.hparams")}</h2>
                                </div>
                                <HparamPlaces values={data.hparams} space={space} />
                                <CopyConfiguration experiment={experiment} trial={data} />
                            </section>
                            <section class="section">
                                <div class="section-head">
                                    <h2>{t("trial.facts")}</h2>
                                </div>
                                <dl class="facts">
                                    <dt>{t("trial.best", {metric: experiment.metric})}</dt>
                                    <dd>
                                        {formatNumber(data.best_metric)}{" "}
                                        {data.best_step !== null && (
                                            <span class="muted">{t("trial.at", {amount: amount(data.best_step, experiment.unit)})}</span>
                                        )}
                                    </dd>
                                    <dt>{t("column.reached")}</dt>
                                    <dd>
                                        {t("trial.reached_of", {reached: formatNumber(data.reached), length: amount(data.length, experiment.unit)})}
                                    </dd>
                                    <dt>{t("column.slot_seconds")}</dt>
                                    <dd>{formatDuration(data.slot_seconds)}</dd>
                                    <dt>{t("column.attempts")}</dt>
                                    <dd>{data.attempts}</dd>
                                    <dt>{t("column.restarts")}</dt>
                                    <dd>{data.restarts}</dd>
                                    <dt>{t("list.created")}</dt>
                                    <dd>{formatTime(data.created_at)}</dd>
                                    {data.ended_at !== null && (
                                        <>
                                            <dt>{t("column.ended_at")}</dt>
                                            <dd>{formatTime(data.ended_at)}</dd>
                                        </>
                                    )}
                                    <dt>TensorBoard</dt>
                                    <dd>
                                        <span class="mono">{tensorboard}</span>{" "}
                                        <button class="link" onClick={() => void copyText(tensorboard).then(() => announce(t("copy.done")))}>
                                            {t("copy.path")}
                                        </button>{" "}
                                        <span class="row-sub">{t("trial.tensorboard")}</span>
                                    </dd>
                                </dl>
                            </section>
                            <TrialCheckpoints experiment={experiment} trial={number} />
                        </div>
                    </div>
                    <section class="section">
                        <div class="section-head">
                            <h2>{t("trial.log")}</h2>
                            <Link class="small push" to={`e/${experiment.id}/t/${number}/log`}>
                                {t("trial.whole_log")}
                            </Link>
                        </div>
                        <LogView
                            key={number}
                            path={`${base}/log?stream=stdout`}
                            live={data.state === "RUNNING"}
                            at={undefined}
                            wrap={false}
                            search={query.get("q") ?? ""}
                            onSearch={(q) => query.set({q}, {replace: true})}
                            onPoint={() => {}}
                            height="260px"
                        />
                    </section>
                </>
            )}
        </View>
    );
}
