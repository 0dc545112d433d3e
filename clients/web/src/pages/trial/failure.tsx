// The last failure of a trial: the last line of its log first, then the log's end as it was printed.
import type {Explanation, Trial} from "../../api/shapes";
import {t} from "../../i18n/texts";
import {plain} from "../../i18n/format";
import {Link} from "../../design/link";
import {attemptsOf, isFailed} from "./attempts";

/// The attempt that failed last; undefined where the history is not read yet, or has none.
export const lastFailed = (explanation: Explanation | undefined): number | undefined =>
    explanation && attemptsOf(explanation.history).find(isFailed)?.attempt;

export function Failure({experiment, trial, explanation}: {experiment: number; trial: Trial; explanation: Explanation | undefined}) {
    // The cause, then the end of the log.
    const [cause = "", ...log] = plain(trial.last_failure).split("\n");
    const last = log.findLast((line) => line.trim() !== "");
    const attempt = lastFailed(explanation);
    return (
        <section class="failure note tone-bad" aria-label={t("trial.failure")}>
            <p class="strong">{last?.trim() ?? cause}</p>
            {last !== undefined && (
                <>
                    <p class="small">
                        {attempt === undefined ? cause : t("trial.failed_attempt", {attempt, cause})}{" "}
                        <Link class="in-text" to={`e/${experiment}/t/${trial.trial}/log${attempt === undefined ? "" : `?attempt=${attempt}`}`}>
                            {t("trial.whole_log")}
                        </Link>
                    </p>
                    <pre>{log.join("\n").replace(/\n+$/, "")}</pre>
                </>
            )}
        </section>
    );
}
