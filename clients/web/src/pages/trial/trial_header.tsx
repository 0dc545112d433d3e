// Number, state and actions of a trial.
import {change, mayChange} from "../../api/client";
import {isServed} from "../../api/served";
import type {Experiment, Trial} from "../../api/shapes";
import {t} from "../../i18n/texts";
import {ask} from "../../design/dialog";
import {Link} from "../../design/link";
import {Menu, type MenuItem} from "../../design/menu";
import {StateMark} from "../../design/state_mark";
import {AnnotationLine} from "../annotation";

function actions(experiment: Experiment, trial: Trial, done: () => void): MenuItem[] {
    const path = `experiments/${experiment.id}/trials/${trial.trial}`;
    const send = (verb: string) => async () => {
        await change("POST", `${path}/${verb}`);
        done();
    };
    const items: MenuItem[] = [];
    if (!mayChange()) return items;
    if (["RUNNING", "PENDING", "PAUSED"].includes(trial.state)) {
        items.push({
            label: t("trial.stop_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("trial.stop_title", {trial: trial.trial}),
                    body: t("trials.stop_effect"),
                    action: t("trial.stop"),
                    danger: true,
                    perform: send("stop"),
                }),
        });
        items.push({
            label: t("trial.cancel_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("trial.cancel_title", {trial: trial.trial}),
                    body: t("trials.cancel_effect"),
                    action: t("trial.cancel"),
                    danger: true,
                    perform: send("cancel"),
                }),
        });
    }
    if (trial.state === "FAILED" && isServed("/trials/{trial}/retry"))
        items.push({
            label: t("trial.retry_dots"),
            perform: () => ask({title: t("trial.retry_title", {trial: trial.trial}), action: t("trials.retry_action"), perform: send("retry")}),
        });
    return items;
}

export function TrialHeader({
    experiment,
    trial,
    current,
    done,
}: {
    experiment: Experiment;
    trial: Trial;
    current: "trial" | "log" | "files";
    done: () => void;
}) {
    const at = (number: number) => `e/${experiment.id}/t/${number}${current === "trial" ? "" : `/${current}`}`;
    const number = trial.trial;
    return (
        <div class="head trial-head">
            <div class="head-title">
                <div class="head-line">
                    <h1>{t("tab.trial", {trial: number})}</h1>
                    <StateMark state={trial.state} large />
                    <nav class="sub-tabs" aria-label={t("tab.trial", {trial: number})}>
                        <Link to={`e/${experiment.id}/t/${number}`} aria-current={current === "trial" ? "page" : undefined}>
                            {t("tab.overview")}
                        </Link>
                        <Link to={`e/${experiment.id}/t/${number}/log`} aria-current={current === "log" ? "page" : undefined}>
                            {t("trial.log")}
                        </Link>
                        <Link to={`e/${experiment.id}/t/${number}/files`} aria-current={current === "files" ? "page" : undefined}>
                            {t("files.files")}
                        </Link>
                    </nav>
                </div>
                <AnnotationLine
                    of={trial}
                    path={`experiments/${experiment.id}/trials/${number}`}
                    name={t("tab.trial", {trial: number})}
                    done={done}
                />
            </div>
            <div class="head-actions">
                {number > 0 ? (
                    <Link class="button" to={at(number - 1)} aria-label={t("trial.previous", {trial: number - 1})}>
                        ←
                    </Link>
                ) : (
                    <span class="button" aria-disabled="true" aria-hidden="true">
                        ←
                    </span>
                )}
                {number + 1 < experiment.trials_total ? (
                    <Link class="button" to={at(number + 1)} aria-label={t("trial.next", {trial: number + 1})}>
                        →
                    </Link>
                ) : (
                    <span class="button" aria-disabled="true" aria-hidden="true">
                        →
                    </span>
                )}
                <Menu label={t("action.more")} name="trial" items={actions(experiment, trial, done)} />
            </div>
        </div>
    );
}
