// Overview of an experiment: where it stands, the best trial, what was decided last.
import type {ComponentChildren} from "preact";
import {daemonNow} from "../../api/client";
import {numberOf, type Experiment, type StoredEvent, type Trial} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {t, tCount, tWord} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {formatDuration, formatNumber, formatPercent, formatTime, plain} from "../../i18n/format";
import {Link} from "../../design/link";
import {View} from "../../design/states";
import {toneOf} from "../../design/state_mark";
import {timeLeft, trialStates} from "../../design/bars";
import {useMemo} from "preact/hooks";
import {useNow} from "../../design/now";
import {Hparams} from "./hparams";
import {CopyConfiguration} from "./copy_configuration";
import {lastEventsAgain} from "./last_events";
import {FailedSearch, troubleOf} from "../failed_search";
import {Lazy} from "../lazy";
import {storyOf} from "../story";
import {StoryList} from "../story_list";
import type {ExperimentPageProps} from "../page_props";

const loadHistory = () => import("../plot_pages").then((pages) => ({default: pages.HistoryFigure}));
const shownLines = 50;
const firstLines = 8;

function Figure({label, value, note}: {label: string; value: ComponentChildren; note?: ComponentChildren}) {
    return (
        <div>
            <div class="figure-label">{label}</div>
            <div class="figure-value">{value}</div>
            {note && <div class="figure-note">{note}</div>}
        </div>
    );
}

function Figures({experiment, now}: {experiment: Experiment; now: number}) {
    const {best, progress, length_full: full, length_trained: trained, slot_seconds: slots} = experiment;
    const left = timeLeft(experiment, now);
    const from = experiment.first_lease_at ?? experiment.created_at;
    const until = experiment.ended_at ?? now;
    const running = experiment.trials["RUNNING"] ?? 0;
    const again = numberOf(trained) > numberOf(full);
    return (
        <div class="figures">
            <Figure
                label={t("overview.best", {metric: experiment.metric})}
                value={best ? formatNumber(best.metric) : "–"}
                note={
                    best ? (
                        <>
                            <Link class="in-text" to={`e/${experiment.id}/t/${best.trial}`}>
                                {t("tab.trial", {trial: best.trial})}
                            </Link>{" "}
                            {t("trial.at", {amount: amount(best.step, experiment.unit)})}
                        </>
                    ) : (
                        t("overview.no_result")
                    )
                }
            />
            <Figure
                label={t("list.progress")}
                value={formatPercent(progress)}
                note={
                    left !== undefined
                        ? t("list.left", {time: formatDuration(left)})
                        : experiment.ended_at
                          ? t("overview.ended", {time: formatTime(experiment.ended_at)})
                          : undefined
                }
            />
            <Figure
                label={t("list.trials")}
                value={formatNumber(experiment.trials_total)}
                note={running > 0 ? tCount("overview.running", running) : undefined}
            />
            <Figure label={t("overview.time")} value={formatDuration(until - from)} note={t("overview.slot_time", {time: formatDuration(slots)})} />
            <Figure
                label={t("overview.trained")}
                value={again ? amount(trained, experiment.unit) : numberOf(full) > 0 ? formatPercent(numberOf(trained) / numberOf(full)) : "–"}
                note={t(again ? "overview.trained_again" : "overview.trained_note", {
                    trained: formatNumber(trained),
                    full: formatNumber(full),
                    unit: numberOf(full) === 1 ? tWord("unit_one", experiment.unit) : tWord("unit", experiment.unit),
                })}
            />
        </div>
    );
}

function TrialStates({experiment}: {experiment: Experiment}) {
    const parts = trialStates.filter((state) => (experiment.trials[state] ?? 0) > 0);
    return (
        <>
            <div class="bar tall state-bar">
                {parts.map((state) => (
                    <span key={state} class={`tone-${toneOf(state)}`} style={{flexGrow: experiment.trials[state]}} />
                ))}
            </div>
            <ul class="legend">
                {parts.map((state) => (
                    <li key={state} class={`tone-${toneOf(state)}`}>
                        <Link to={`e/${experiment.id}/trials?state=${state}`}>
                            <span class={`state-key tone-${toneOf(state)}`} /> {tWord("state", state)} <b>{formatNumber(experiment.trials[state])}</b>
                        </Link>
                    </li>
                ))}
            </ul>
        </>
    );
}

function Rungs({experiment}: {experiment: Experiment}) {
    if (experiment.rungs.length < 2) return null;
    const most = Math.max(...experiment.rungs.map((rung) => rung.reached), 1);
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("overview.rungs")}</h2>
                <Link class="small push" to={`e/${experiment.id}/rungs`}>
                    {t("overview.rungs_link")}
                </Link>
            </div>
            <ol class="rung-bars">
                {experiment.rungs.map((rung) => (
                    <li key={rung.length}>
                        <span class="rung-length">
                            {formatNumber(rung.length)}{" "}
                            <span class="muted">{rung.length === 1 ? tWord("unit_one", experiment.unit) : tWord("unit", experiment.unit)}</span>
                        </span>
                        <span class="bar">
                            <span class="tone-running" style={{width: `${(100 * rung.reached) / most}%`}} />
                        </span>
                        <span class="rung-count">{formatNumber(rung.reached)}</span>
                    </li>
                ))}
            </ol>
        </section>
    );
}

function Best({experiment}: {experiment: Experiment}) {
    const best = useResource<Trial | null>(experiment.best ? `experiments/${experiment.id}/best` : null, {
        topic: `experiment:${experiment.id}`,
        every: 3000,
    });
    if (!experiment.best) return null;
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("overview.best_configuration")}</h2>
            </div>
            <View resource={best} rows={4}>
                {(trial) =>
                    trial && (
                        <>
                            <Hparams values={trial.hparams} />
                            <CopyConfiguration experiment={experiment} trial={trial} />
                        </>
                    )
                }
            </View>
        </section>
    );
}

function LastDecisions({experiment, all, query}: {experiment: Experiment; all: boolean; query: ExperimentPageProps["query"]}) {
    const read = useMemo(() => lastEventsAgain(experiment.id, shownLines * 6), [experiment.id]);
    const events = useResource<StoredEvent[]>(`experiments/${experiment.id}#story`, {
        topic: `experiment:${experiment.id}`,
        every: 500,
        read: (_, signal) => read(signal),
    });
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("overview.story")}</h2>
                <Link class="small push" to={`e/${experiment.id}/events`}>
                    {t("overview.story_link")}
                </Link>
            </div>
            <View resource={events} rows={5}>
                {(list) => {
                    const lines = storyOf(list, experiment.metric, experiment.unit)
                        .filter((line) => line.kind === "decision" || line.kind === "experiment" || line.trouble)
                        .reverse()
                        .slice(0, shownLines);
                    if (lines.length === 0) return <p class="muted">{t("overview.no_story")}</p>;
                    return (
                        <>
                            <StoryList experiment={experiment.id} lines={all ? lines : lines.slice(0, firstLines)} />
                            {!all && lines.length > firstLines && (
                                <button class="link small" onClick={() => query.set({story: "all"}, {replace: true})}>
                                    {t("overview.more_story", {n: lines.length})}
                                </button>
                            )}
                        </>
                    );
                }}
            </View>
        </section>
    );
}

export default function Overview({experiment, query}: ExperimentPageProps) {
    useNow(experiment.state === "ACTIVE");
    const now = daemonNow();
    const trouble = troubleOf(experiment);
    return (
        <>
            {experiment.waits_for && <p class="note tone-waiting">{t("overview.waits", {why: experiment.waits_for})}</p>}
            {trouble !== undefined && <FailedSearch experiment={experiment} trouble={trouble} />}
            {experiment.reason && plain(experiment.reason) !== trouble && (
                <p class={`note tone-${toneOf(experiment.state)}`}>{plain(experiment.reason)}</p>
            )}
            {experiment.notes.map((note, index) => (
                <p class="note tone-waiting" key={index}>
                    <Link class="in-text" to={`e/${experiment.id}/t/${note.trial}`}>
                        {t("tab.trial", {trial: note.trial})}
                    </Link>
                    : {plain(note.text)}
                    {note.attempts > 1 && ` ${t("overview.note_attempts", {n: note.attempts})}`}
                </p>
            ))}
            <section class="section">
                <Figures experiment={experiment} now={now} />
            </section>
            <div class="columns section">
                <div>
                    {experiment.trials_total > 0 && (
                        <section class="section">
                            <div class="section-head">
                                <h2>{t("overview.history", {metric: experiment.metric})}</h2>
                                <Link class="small push" to={`e/${experiment.id}/history`}>
                                    {t("overview.history_link")}
                                </Link>
                            </div>
                            <Lazy load={loadHistory} props={{experiment, query}} />
                        </section>
                    )}
                    <LastDecisions experiment={experiment} all={query.get("story") === "all"} query={query} />
                </div>
                <div>
                    <Best experiment={experiment} />
                    <section class="section">
                        <div class="section-head">
                            <h2>{t("list.trials")}</h2>
                        </div>
                        <TrialStates experiment={experiment} />
                    </section>
                    <Rungs experiment={experiment} />
                    <section class="section">
                        <div class="section-head">
                            <h2>{t("overview.about")}</h2>
                        </div>
                        <dl class="facts">
                            <dt>{t("overview.searcher")}</dt>
                            <dd>{experiment.searcher}</dd>
                            <dt>{t("overview.metric")}</dt>
                            <dd>
                                {experiment.metric}{" "}
                                <span class="muted">{experiment.smaller_is_better ? t("overview.smaller") : t("overview.larger")}</span>
                            </dd>
                            <dt>{t("overview.max_length")}</dt>
                            <dd>{amount(experiment.max_length, experiment.unit)}</dd>
                            {experiment.owner && (
                                <>
                                    <dt>{t("overview.owner")}</dt>
                                    <dd>{experiment.owner}</dd>
                                </>
                            )}
                            <dt>{t("list.created")}</dt>
                            <dd>{formatTime(experiment.created_at)}</dd>
                            {experiment.context_directory && (
                                <>
                                    <dt>{t("overview.directory")}</dt>
                                    <dd class="mono">{experiment.context_directory}</dd>
                                </>
                            )}
                        </dl>
                    </section>
                </div>
            </div>
        </>
    );
}
