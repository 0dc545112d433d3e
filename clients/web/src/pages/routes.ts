// Which page an address opens. A page is loaded when it is first shown, together with those it shares code with.
import type {ComponentType} from "preact";
import type {TextKey} from "../i18n/texts";
import type {Shapes} from "../state/shapes";
import type {ExperimentPageProps, PageProps} from "./page_props";
import {pageState, sharedState} from "./page_state";

type Load<Props> = () => Promise<{default: ComponentType<Props>}>;

interface Route {
    readonly pattern: string;
    readonly title: TextKey;
    /// What the address of the page holds besides what all pages of an experiment share.
    readonly state?: Shapes;
}

interface PlainRoute extends Route {
    readonly load: Load<PageProps>;
}

/// A page below e/ID. It gets the experiment; the frame shows its header and the tabs.
export interface ExperimentRoute extends Route {
    readonly load: Load<ExperimentPageProps>;
    /// Pages of a trial have the tab of their experiment's trials.
    readonly tab?: string;
    readonly hidden?: boolean;
}

const experimentPages = () => import("./experiment/experiment_pages");
const plotPages = () => import("./plot_pages");
const otherPages = () => import("./other_pages");

/// A page of a group of pages that are one file.
function page<Group, Name extends keyof Group>(load: () => Promise<Group>, name: Name): () => Promise<{default: Group[Name]}> {
    return async () => ({default: (await load())[name]});
}

export const plainRoutes: readonly PlainRoute[] = [
    {pattern: "experiments", title: "nav.experiments", state: pageState.experiments, load: () => import("./experiments")},
    {pattern: "new", title: "nav.new", state: pageState.new, load: () => import("./new")},
    {pattern: "compare", title: "compare.searches", state: pageState.compare, load: page(otherPages, "CompareSearches")},
    {pattern: "workers", title: "nav.workers", state: pageState.workers, load: page(otherPages, "Workers")},
    {pattern: "workers/*", title: "nav.workers", load: page(otherPages, "WorkerPage")},
    {pattern: "login", title: "nav.login", load: page(otherPages, "Login")},
    {pattern: "settings", title: "nav.settings", load: page(otherPages, "Settings")},
    {pattern: "settings/usage", title: "usage.title", state: pageState.usage, load: page(otherPages, "Usage")},
    {pattern: "settings/workspaces", title: "settings.workspaces", load: page(otherPages, "Workspaces")},
    {pattern: "settings/audit", title: "audit.title", state: pageState.audit, load: page(otherPages, "Audit")},
];

export const experimentRoutes: readonly ExperimentRoute[] = [
    {pattern: "", title: "tab.overview", state: pageState.overview, load: page(experimentPages, "Overview")},
    {pattern: "trials", title: "tab.trials", state: pageState.trials, load: page(experimentPages, "Trials")},
    {pattern: "curves", title: "tab.curves", state: pageState.curves, load: page(plotPages, "Curves")},
    {pattern: "rungs", title: "tab.rungs", state: pageState.rungs, load: page(plotPages, "Rungs")},
    {pattern: "parallel", title: "tab.parallel", state: pageState.parallel, load: page(plotPages, "Parallel")},
    {pattern: "scatter", title: "tab.scatter", state: pageState.scatter, load: page(plotPages, "Scatter")},
    {pattern: "importance", title: "tab.importance", state: pageState.importance, load: page(plotPages, "Importance")},
    {pattern: "history", title: "tab.history", state: pageState.history, load: page(plotPages, "History")},
    {pattern: "timeline", title: "tab.timeline", state: pageState.timeline, load: page(plotPages, "Timeline")},
    {pattern: "checkpoints", title: "tab.checkpoints", state: pageState.checkpoints, load: page(experimentPages, "Checkpoints")},
    {pattern: "events", title: "tab.events", state: pageState.events, load: page(experimentPages, "Events")},
    {pattern: "config", title: "tab.config", state: pageState.config, load: page(experimentPages, "Config")},
    {pattern: "t/*", title: "tab.trial", state: pageState.trial, load: page(experimentPages, "Trial"), tab: "trials", hidden: true},
    {pattern: "t/*/log", title: "tab.log", state: pageState.log, load: page(experimentPages, "TrialLog"), tab: "trials", hidden: true},
    {pattern: "t/*/files", title: "tab.files", state: pageState.files, load: page(experimentPages, "TrialFiles"), tab: "trials", hidden: true},
    {pattern: "compare", title: "tab.compare", load: page(experimentPages, "Compare"), tab: "trials", hidden: true},
];

/// The captured segments where the path fits the pattern.
function fits(pattern: string, path: readonly string[]): readonly string[] | undefined {
    const parts = pattern === "" ? [] : pattern.split("/");
    if (parts.length !== path.length) return undefined;
    const captured: string[] = [];
    for (const [index, part] of parts.entries()) {
        if (part === "*") captured.push(path[index]!);
        else if (part !== path[index]) return undefined;
    }
    return captured;
}

/// The route of a path, and the captured segments.
export function routeFor<One extends Route>(
    routes: readonly One[],
    path: readonly string[],
): {readonly route: One; readonly captured: readonly string[]} | undefined {
    for (const route of routes) {
        const captured = fits(route.pattern, path);
        if (captured) return {route, captured};
    }
    return undefined;
}

/// The number of the experiment that a path is of.
export const experimentOf = (path: readonly string[]): number | undefined =>
    path[0] === "e" && /^\d+$/.test(path[1] ?? "") ? Number(path[1]) : undefined;

/// What the address of the page may hold; undefined where there is no such page.
export function stateOf(path: readonly string[]): Shapes | undefined {
    if (experimentOf(path) === undefined) return path.length === 0 ? {} : shapesOf(routeFor(plainRoutes, path));
    const own = shapesOf(routeFor(experimentRoutes, path.slice(2)));
    return own && {...sharedState, ...own};
}

const shapesOf = (found: {readonly route: Route} | undefined): Shapes | undefined => found && (found.route.state ?? {});
