// Actions on several experiments at once.
import {change, mayChange} from "../api/client";
import type {ExperimentSummary} from "../api/shapes";
import {go} from "../state/router";
import {t, tCount} from "../i18n/texts";
import {isServed} from "../api/served";
import {ask} from "../design/dialog";
import type {MenuItem} from "../design/menu";
import {askToCancel} from "./experiment/experiment_actions";

export function bulkActions(chosen: readonly ExperimentSummary[], done: () => void): MenuItem[] {
    const active = chosen.filter((each) => each.state === "ACTIVE");
    const paused = chosen.filter((each) => each.state === "PAUSED");
    const open = chosen.filter((each) => each.state === "ACTIVE" || each.state === "PAUSED");
    const each = (which: readonly ExperimentSummary[], verb: string) => async () => {
        for (const one of which) await change("POST", `experiments/${one.id}/${verb}`);
        done();
    };
    const items: MenuItem[] = [];
    if (chosen.length > 1)
        items.push({
            label: t("compare.searches"),
            perform: () =>
                go(
                    `compare?e=${chosen
                        .map((one) => one.id)
                        .sort((a, b) => a - b)
                        .join(",")}`,
                ),
        });
    if (!mayChange()) return items;
    if (active.length > 0)
        items.push({
            label: t("action.pause"),
            perform: () =>
                ask({
                    title: tCount("action.pause_many", active.length),
                    body: t("action.pause_effect"),
                    action: t("action.pause"),
                    perform: each(active, "pause"),
                }),
        });
    if (paused.length > 0)
        items.push({
            label: t("action.resume"),
            perform: () =>
                ask({
                    title: tCount("action.resume_many", paused.length),
                    action: t("action.resume"),
                    perform: each(paused, "resume"),
                }),
        });
    if (open.length > 0) items.push({label: t("action.cancel_dots"), danger: true, perform: () => askToCancel(open, done)});
    const ended = chosen.filter((one) => !open.includes(one) && one.state !== "STOPPING");
    if (isServed("/experiments/{experiment}/archive", "post")) {
        const [kept, archived] = [ended.filter((one) => !one.archived), ended.filter((one) => one.archived)];
        if (kept.length > 0)
            items.push({
                label: t("action.archive"),
                perform: () =>
                    ask({
                        title: tCount("action.archive_many", kept.length),
                        body: t("action.archive_effect"),
                        action: t("action.archive"),
                        perform: each(kept, "archive"),
                    }),
            });
        if (archived.length > 0)
            items.push({
                label: t("action.unarchive"),
                perform: () =>
                    ask({
                        title: tCount("action.unarchive_many", archived.length),
                        action: t("action.unarchive"),
                        perform: each(archived, "unarchive"),
                    }),
            });
    }
    if (items.length === 0) items.push({label: t("action.none_open"), perform: () => {}});
    return items;
}
