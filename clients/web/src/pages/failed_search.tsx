// A search whose trials fail: how many attempts in the same way, why, and the page of one of them.
import type {Experiment, ExperimentSummary, Trial} from "../api/shapes";
import {useResource} from "../state/resource";
import {t} from "../i18n/texts";
import {formatNumber, plain} from "../i18n/format";
import {Link} from "../design/link";

/// Only a search that paused itself has a reason for it.
const hasFailed = (experiment: ExperimentSummary): boolean =>
    experiment.state === "FAILED" || (experiment.state === "PAUSED" && experiment.reason !== "");

/// What goes wrong with a search, in a sentence; undefined: nothing that its user has to look at.
export function troubleOf(experiment: ExperimentSummary): string | undefined {
    if (hasFailed(experiment)) return plain(experiment.reason);
    const {common_failure: failure, state} = experiment;
    if (!failure || (state !== "ACTIVE" && state !== "PAUSED")) return undefined;
    return t("overview.failures", {attempts: formatNumber(failure.attempts), why: plain(failure.why)});
}

export function FailedSearch({experiment, trouble}: {experiment: Experiment; trouble: string}) {
    const known = experiment.common_failure?.trial;
    const page = useResource<{trials: readonly Trial[]}>(known === undefined ? `experiments/${experiment.id}/trials?limit=20` : null, {
        topic: `trials:${experiment.id}`,
        every: 3000,
    });
    const example = known ?? page.data?.trials.find((trial) => trial.last_failure !== "")?.trial;
    return (
        <div class="note tone-bad" role="status">
            <p class="strong">{trouble}</p>
            {example !== undefined && (
                <p>
                    <Link class="in-text" to={`e/${experiment.id}/t/${example}`}>
                        {t("overview.failed_example", {trial: example})}
                    </Link>{" "}
                    {experiment.state === "PAUSED" && t("overview.failed_remedy")}
                    {experiment.state === "ACTIVE" && t("overview.failing_remedy")}
                </p>
            )}
        </div>
    );
}
