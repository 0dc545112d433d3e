// The checkpoints of a trial.
import type {Checkpoint, Experiment} from "../../api/shapes";
import {useResource} from "../../state/resource";
import {t} from "../../i18n/texts";
import {amount} from "../../i18n/amount";
import {formatBytes, formatNumber} from "../../i18n/format";
import {Link} from "../../design/link";
import {View} from "../../design/states";
import {Download, Marks} from "./checkpoint_parts";

export function TrialCheckpoints({experiment, trial}: {experiment: Experiment; trial: number}) {
    const list = useResource<{checkpoints: readonly Checkpoint[]}>(`experiments/${experiment.id}/trials/${trial}/checkpoints`, {
        topic: `trials:${experiment.id}`,
        every: 3000,
    });
    return (
        <section class="section">
            <div class="section-head">
                <h2>{t("tab.checkpoints")}</h2>
                <Link class="small push" to={`e/${experiment.id}/t/${trial}/files`}>
                    {t("files.all")}
                </Link>
            </div>
            <View resource={list} rows={2}>
                {({checkpoints}) =>
                    checkpoints.length === 0 ? (
                        <p class="muted">{t("checkpoints.none")}</p>
                    ) : (
                        <ul class="checkpoint-list">
                            {checkpoints.map((each) => (
                                <li key={each.path}>
                                    <span class="mono" title={each.path}>
                                        {each.path.split("/").at(-1)}
                                    </span>
                                    <span class="muted small">
                                        {amount(each.step, experiment.unit)} · {formatNumber(each.metric)} · {formatBytes(each.bytes)}
                                    </span>
                                    <Marks checkpoint={each} />
                                    <span class="push">
                                        <Download experiment={experiment.id} checkpoint={each} />
                                    </span>
                                </li>
                            ))}
                        </ul>
                    )
                }
            </View>
        </section>
    );
}
