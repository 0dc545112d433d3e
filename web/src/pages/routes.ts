// Which page an address opens. A page is loaded when it is first shown, together with those it shares code with.
import type {ComponentType} from "preact";
import type {Experiment} from "../api/shapes";
import type {Query} from "../state/router";
import type {TextKey} from "../i18n/texts";

export interface PageProps {
    readonly query: Query;
    /// What stands in the address in the places of * in the pattern.
    readonly captured: readonly string[];
}

export interface ExperimentPageProps extends PageProps {
    readonly experiment: Experiment;
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

const experimentPages = () => import("./experiment_pages");
const plotPages = () => import("./plot_pages");
const otherPages = () => import("./other_pages");

/// A page of a group of pages that are one file.
function page<Group, Name extends keyof Group>(load: () => Promise<Group>, name: Name): () => Promise<{default: Group[Name]}> {
    return async () => ({default: (await load())[name]});
}

export const plainRoutes: readonly PlainRoute[] = [
    {pattern: "experiments", title: "nav.experiments", load: () => import("./experiments")},
    {pattern: "new", title: "nav.new", load: () => import("./new")},
    {pattern: "workers", title: "nav.workers", load: page(otherPages, "Workers")},
    {pattern: "workers/*", title: "nav.workers", load: page(otherPages, "WorkerPage")},
    {pattern: "login", title: "nav.login", load: page(otherPages, "Login")},
    {pattern: "settings", title: "nav.settings", load: page(otherPages, "Settings")},
];

export const experimentRoutes: readonly ExperimentRoute[] = [
    {pattern: "", title: "tab.overview", load: page(experimentPages, "Overview")},
    {pattern: "trials", title: "tab.trials", load: page(experimentPages, "Trials")},
    {pattern: "curves", title: "tab.curves", load: page(plotPages, "Curves")},
    {pattern: "rungs", title: "tab.rungs", load: page(plotPages, "Rungs")},
    {pattern: "parallel", title: "tab.parallel", load: page(plotPages, "Parallel")},
    {pattern: "scatter", title: "tab.scatter", load: page(plotPages, "Scatter")},
    {pattern: "importance", title: "tab.importance", load: page(plotPages, "Importance")},
    {pattern: "history", title: "tab.history", load: page(plotPages, "History")},
    {pattern: "timeline", title: "tab.timeline", load: page(plotPages, "Timeline")},
    {pattern: "checkpoints", title: "tab.checkpoints", load: page(experimentPages, "Checkpoints")},
    {pattern: "events", title: "tab.events", load: page(experimentPages, "Events")},
    {pattern: "config", title: "tab.config", load: page(experimentPages, "Config")},
    {pattern: "t/*", title: "tab.trial", load: page(experimentPages, "Trial"), tab: "trials", hidden: true},
    {pattern: "t/*/log", title: "tab.log", load: page(experimentPages, "TrialLog"), tab: "trials", hidden: true},
    {pattern: "compare", title: "tab.compare", load: page(experimentPages, "Compare"), tab: "trials", hidden: true},
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
