// A search that failed, or paused itself because its trials did: why, and the page of one of them.
import type {Experiment, ExperimentSummary, Trial} from "../api/shapes";
import {useResource} from "../state/resource";
import {t} from "../i18n/texts";
import {plain} from "../i18n/format";
import {Link} from "../design/link";

/// Only a search that paused itself has a reason for it.
export const hasFailed = (experiment: ExperimentSummary): boolean =>
    experiment.state === "FAILED" || (experiment.state === "PAUSED" && experiment.reason !== "");

export function FailedSearch({experiment}: {experiment: Experiment}) {
    const page = useResource<{trials: readonly Trial[]}>(`experiments/${experiment.id}/trials?limit=20`, {
        topic: `trials:${experiment.id}`,
        every: 3000,
    });
    const example = page.data?.trials.find((trial) => trial.last_failure !== "");
    return (
        <div class="note tone-bad" role="status">
            <p class="strong">{plain(experiment.reason)}</p>
            {example && (
                <p>
                    <Link class="in-text" to={`e/${experiment.id}/t/${example.trial}`}>
                        {t("overview.failed_example", {trial: example.trial})}
                    </Link>{" "}
                    {experiment.state === "PAUSED" && t("overview.failed_remedy")}
                </p>
            )}
        </div>
    );
}
