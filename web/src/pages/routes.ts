// Which page an address opens. Each page is a file of its own that is loaded when it is first shown.
import type {ComponentType} from "preact";
import type {ExperimentDetail} from "../api/types";
import type {Query} from "../state/router";
import type {TextKey} from "../i18n/texts";

export interface PageProps {
    readonly query: Query;
    /// What stands in the address in the places of * in the pattern.
    readonly captured: readonly string[];
}

export interface ExperimentPageProps extends PageProps {
    readonly experiment: ExperimentDetail;
}

type Load<Props> = () => Promise<{default: ComponentType<Props>}>;

interface PlainRoute {
    readonly pattern: string;
    readonly title: TextKey;
    readonly load: Load<PageProps>;
}

/// A page below e/ID. It gets the experiment; the frame shows its header and the tabs.
export interface ExperimentRoute {
    readonly pattern: string;
    readonly title: TextKey;
    readonly load: Load<ExperimentPageProps>;
    /// Pages of a trial have the tab of their experiment's trials.
    readonly tab?: string;
    readonly hidden?: boolean;
}

export const plainRoutes: readonly PlainRoute[] = [
    {pattern: "experiments", title: "nav.experiments", load: () => import("./experiments")},
    {pattern: "new", title: "nav.new", load: () => import("./new")},
    {pattern: "workers", title: "nav.workers", load: () => import("./workers")},
    {pattern: "workers/*", title: "nav.workers", load: () => import("./worker")},
    {pattern: "login", title: "nav.login", load: () => import("./login")},
    {pattern: "settings", title: "nav.settings", load: () => import("./settings")},
];

export const experimentRoutes: readonly ExperimentRoute[] = [
    {pattern: "", title: "tab.overview", load: () => import("./overview")},
    {pattern: "trials", title: "tab.trials", load: () => import("./trials")},
    {pattern: "curves", title: "tab.curves", load: () => import("./curves")},
    {pattern: "rungs", title: "tab.rungs", load: () => import("./rungs")},
    {pattern: "parallel", title: "tab.parallel", load: () => import("./parallel")},
    {pattern: "scatter", title: "tab.scatter", load: () => import("./scatter")},
    {pattern: "importance", title: "tab.importance", load: () => import("./importance")},
    {pattern: "history", title: "tab.history", load: () => import("./history")},
    {pattern: "timeline", title: "tab.timeline", load: () => import("./timeline")},
    {pattern: "checkpoints", title: "tab.checkpoints", load: () => import("./checkpoints")},
    {pattern: "events", title: "tab.events", load: () => import("./events")},
    {pattern: "config", title: "tab.config", load: () => import("./config")},
    {pattern: "t/*", title: "tab.trial", load: () => import("./trial"), tab: "trials", hidden: true},
    {pattern: "t/*/log", title: "tab.log", load: () => import("./trial_log"), tab: "trials", hidden: true},
    {pattern: "compare", title: "tab.compare", load: () => import("./compare"), tab: "trials", hidden: true},
];

/// The captured segments where the path fits the pattern.
export function fits(pattern: string, path: readonly string[]): readonly string[] | undefined {
    const parts = pattern === "" ? [] : pattern.split("/");
    if (parts.length !== path.length) return undefined;
    const captured: string[] = [];
    for (const [index, part] of parts.entries()) {
        if (part === "*") captured.push(path[index]!);
        else if (part !== path[index]) return undefined;
    }
    return captured;
}
