// What can be done to an experiment. Each action asks where it ends something, and shows its effect when it is durable.
import {useState} from "preact/hooks";
import {change, mayChange, Problem} from "../../api/client";
import {isServed} from "../../api/served";
import type {ExperimentSummary} from "../../api/shapes";
import {go} from "../../state/router";
import {t, tCount} from "../../i18n/texts";
import {ask} from "../../design/dialog";
import {Menu, type MenuItem} from "../../design/menu";

const ended = (state: string) => state === "COMPLETED" || state === "CANCELED" || state === "FAILED";

/// "7 running trials end." in words, for the dialogs.
export function consequence(experiments: readonly ExperimentSummary[]): string {
    const running = experiments.reduce((sum, each) => sum + (each.trials["RUNNING"] ?? 0), 0);
    return running === 0 ? t("action.no_running") : tCount("action.running_end", running);
}

export function askToCancel(experiments: readonly ExperimentSummary[], done: () => void): void {
    const one = experiments.length === 1 ? experiments[0] : undefined;
    ask({
        title: one ? t("action.cancel_title", {name: one.name}) : tCount("action.cancel_many", experiments.length),
        body: (
            <p>
                {consequence(experiments)} {t("action.cancel_effect")}
            </p>
        ),
        action: t("action.cancel"),
        danger: true,
        perform: async () => {
            for (const each of experiments) await change("POST", `experiments/${each.id}/cancel`);
            done();
        },
    });
}

export function ExperimentActions({experiment, done}: {experiment: ExperimentSummary; done: () => void}) {
    const [waits, setWaits] = useState(false);
    const [problem, setProblem] = useState<string | undefined>();
    const send = async (verb: string) => {
        setWaits(true);
        setProblem(undefined);
        try {
            await change("POST", `experiments/${experiment.id}/${verb}`);
            done();
        } catch (cause) {
            setProblem(cause instanceof Problem ? cause.message : String(cause));
        } finally {
            setWaits(false);
        }
    };
    const {state, name} = experiment;
    const more: MenuItem[] = [];
    if (!ended(state)) {
        more.push({label: t("action.cancel_dots"), danger: true, perform: () => askToCancel([experiment], done)});
        more.push({
            label: t("action.kill_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("action.kill_title", {name}),
                    body: (
                        <p>
                            {consequence([experiment])} {t("action.kill_effect")}
                        </p>
                    ),
                    action: t("action.kill"),
                    danger: true,
                    typed: name,
                    perform: async () => {
                        await change("POST", `experiments/${experiment.id}/kill`);
                        done();
                    },
                }),
        });
    } else if (isServed("/experiments/{experiment}/archive", "post")) {
        more.push({
            label: t(experiment.archived ? "action.unarchive" : "action.archive"),
            perform: () => void send(experiment.archived ? "unarchive" : "archive"),
        });
    }
    if (ended(state) && isServed("/experiments/{experiment}", "delete")) {
        more.push({
            label: t("action.delete_dots"),
            danger: true,
            perform: () =>
                ask({
                    title: t("action.delete_title", {name}),
                    body: <p>{t("action.delete_effect")}</p>,
                    action: t("action.delete"),
                    danger: true,
                    typed: name,
                    perform: async () => {
                        await change("DELETE", `experiments/${experiment.id}`);
                        go("experiments");
                    },
                }),
        });
    }
    if (state !== "CANCELED" && state !== "STOPPING")
        more.unshift({
            label: t("limits.dots"),
            perform: () => void import("../limits/limits").then(({askForLimits}) => askForLimits(experiment, done)),
        });
    more.unshift({label: t("action.fork"), perform: () => go(`new?fork=${experiment.id}`)});
    if (!mayChange()) return null;
    return (
        <>
            {problem && (
                <span class="field-problem" role="alert">
                    {problem}
                </span>
            )}
            {state === "ACTIVE" && (
                <button class={`button${waits ? " waits" : ""}`} disabled={waits} onClick={() => void send("pause")}>
                    {t("action.pause")}
                </button>
            )}
            {state === "PAUSED" && (
                <button class={`button${waits ? " waits" : ""}`} disabled={waits} onClick={() => void send("resume")}>
                    {t("action.resume")}
                </button>
            )}
            <Menu label={t("action.more")} name="experiment" items={more} />
        </>
    );
}
