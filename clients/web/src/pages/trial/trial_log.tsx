// The log of a trial: attempt, stream and rank are in the address, and so is a line.
import type {Explanation, Trial} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {t} from "../../i18n/texts";
import {View} from "../../design/states";
import {downloadLog} from "../../log/download_log";
import type {LogPart} from "../../log/log_reader";
import {LogView} from "../../log/log_view";
import {Loading} from "../../design/states";
import {lastFailed} from "./failure";
import {TrialHeader} from "./trial_header";
import type {ExperimentPageProps} from "../page_props";

/// Where the log of a trial opens: a failed one that does not go on, or the attempt that failed last, where it stopped. That is its
/// error stream, unless nothing is in it.
function usePlaceOfFailure(base: string, trial: Trial | undefined, asked: number | undefined) {
    const hasFailed = trial !== undefined && trial.last_failure !== "";
    const explanation = useResource<Explanation>(hasFailed ? `${base}/explain` : null);
    const failed = lastFailed(explanation.data);
    const isOver = !["RUNNING", "PENDING", "COMPLETED"].includes(trial?.state ?? "RUNNING");
    const isShown = failed !== undefined && (asked === undefined ? isOver : asked === failed);
    const errors = useResource<LogPart>(isShown ? `${base}/log?stream=stderr&attempt=${failed}&from_end=1&limit=1` : null);
    return {
        isOpening: (hasFailed && !explanation.data && !explanation.problem) || (isShown && !errors.data && !errors.problem),
        attempt: isShown ? failed : undefined,
        stream: isShown && (errors.data?.size ?? 0) > 0 ? ("stderr" as const) : ("stdout" as const),
    };
}

export default function TrialLog({experiment, query, captured}: ExperimentPageProps) {
    const number = Number(captured[0]);
    const base = `experiments/${experiment.id}/trials/${number}`;
    const trial = useResource<Trial>(base, {topic: `trials:${experiment.id}`, every: 2000});
    const place = usePlaceOfFailure(base, trial.data, query.number("attempt"));
    const attempt = query.number("attempt") ?? place.attempt;
    const asked = query.get("stream");
    const stream = asked === "stderr" || asked === "stdout" ? asked : place.stream;
    const rank = query.number("rank") ?? 0;
    const path = `${base}/log?stream=${stream}${attempt === undefined ? "" : `&attempt=${attempt}`}${rank === 0 ? "" : `&rank=${rank}`}`;
    const wrap = query.get("wrap") === "yes";
    return (
        <View top resource={trial}>
            {(data) => (
                <>
                    <TrialHeader experiment={experiment} trial={data} current="log" done={trial.reload} />
                    <div class="toolbar log-choice">
                        <div class="chips" role="group" aria-label={t("log.stream")}>
                            {(["stdout", "stderr"] as const).map((each) => (
                                <button
                                    key={each}
                                    class="chip"
                                    aria-pressed={stream === each}
                                    onClick={() => query.set({stream: each === place.stream ? "" : each, at: ""})}
                                >
                                    {each}
                                </button>
                            ))}
                        </div>
                        {data.attempts > 1 && (
                            <label class="inline-field">
                                <span>{t("log.attempt")}</span>
                                <select
                                    class="select"
                                    value={attempt ?? ""}
                                    onChange={(event) => query.set({attempt: event.currentTarget.value, at: ""})}
                                >
                                    <option value="">{t("log.last_attempt")}</option>
                                    {Array.from({length: data.attempts}, (_, index) => (
                                        <option key={index} value={index + 1}>
                                            {index + 1}
                                        </option>
                                    ))}
                                </select>
                            </label>
                        )}
                        <label class="inline-field">
                            <span>{t("log.rank")}</span>
                            <input
                                class="input rank"
                                type="number"
                                min="0"
                                value={rank}
                                onChange={(event) => query.set({rank: event.currentTarget.value === "0" ? "" : event.currentTarget.value, at: ""})}
                            />
                        </label>
                        <label class="inline-field">
                            <input type="checkbox" checked={wrap} onChange={() => query.set({wrap: wrap ? "" : "yes"})} />
                            <span>{t("log.wrap")}</span>
                        </label>
                        <button class="button push" onClick={() => void downloadLog(path, `trial-${number}-${stream}.log`)}>
                            {t("log.download")}
                        </button>
                    </div>
                    {place.isOpening ? (
                        <Loading rows={4} />
                    ) : (
                        <LogView
                            key={path}
                            path={path}
                            live={data.state === "RUNNING"}
                            at={query.number("at")}
                            wrap={wrap}
                            error={stream === "stderr"}
                            search={query.get("q") ?? ""}
                            onSearch={(q) => query.set({q}, {replace: true})}
                            onPoint={(at) => query.set({at}, {replace: true})}
                            height="max(320px, calc(100vh - 340px))"
                        />
                    )}
                </>
            )}
        </View>
    );
}
