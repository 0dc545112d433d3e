// What of each page is in its address: the parameters and what they may be. All else in an address is ignored, and said.
import {trialStates} from "../design/bars";
import {anything, list, number, order, ranges, where, whole, word, type Shapes} from "../state/shapes";
import {extraFields, standardFields} from "../table/fields";

export const experimentStates = ["ACTIVE", "PAUSED", "COMPLETED", "CANCELED", "FAILED"] as const;
export const experimentOrders = ["name", "state", "progress", "best", "trials", "created"] as const;
export const storyKinds = ["decision", "attempt", "experiment", "worker", "checkpoint"] as const;

/// The usual one first; a span is everything unless one is chosen.
export const usageGroups = ["user", "workspace", "experiment"] as const;
export const usageSpans = ["24h", "7d", "30d"] as const;

const field = where((name) => name.startsWith("hparams.") || ([...standardFields, ...extraFields] as string[]).includes(name));

const historyAxis = word("time", "trials", "slot_seconds");

/// The scale of the metric, and ranges of a parallel plot.
const plotState = {
    y: word("linear", "log", "quantile"),
    clip: word("auto", "on", "off"),
    b: where((value) => value.split(";").every((part) => /^[^:]+:[\d.]+-[\d.]+(,[\d.]+-[\d.]+)*$/.test(part))),
};

/// What pages of an experiment share: chosen trials, filters, ranges, the scale of the metric, a part of the time.
export const sharedState: Shapes = {
    t: list(whole),
    best: number,
    rung: whole,
    ...plotState,
    span: ranges(1),
    len: where((value) => value === "any" || /^[1-9]\d{0,15}$/.test(value)),
};

export const pageState = {
    experiments: {
        state: list(word(...experimentStates)),
        q: anything,
        workspace: anything,
        archived: word("yes"),
        starred: word("yes"),
        sort: order(word(...experimentOrders)),
    },
    new: {fork: whole, points: list(whole), narrow: where((value) => /^\{.*\}$/s.test(value)), mode: word("advanced")},
    compare: {e: list(whole), x: historyAxis, axes: anything, ...plotState},
    workers: {q: anything, gone: word("yes")},
    usage: {by: word(...usageGroups), since: word(...usageSpans)},
    audit: {refusals: word("yes"), q: anything},
    overview: {story: word("all")},
    trials: {where: anything, state: list(word(...trialStates)), sort: order(field), columns: list(field), brushed: word("no")},
    curves: {
        metric: anything,
        group: anything,
        mode: word("density"),
        n: word("60", "200"),
        x: word("step", "time"),
        xlog: word("1"),
        zoom: ranges(1),
        smooth: number,
    },
    rungs: {at: number},
    parallel: {axes: anything},
    scatter: {mode: word("slice", "pair", "contour"), px: anything, py: anything, colour: word("metric", "rung"), view: ranges(2), all: word("1")},
    importance: {level: whole},
    history: {x: historyAxis, vs: list(whole)},
    timeline: {from: number, to: number},
    checkpoints: {show: word("best")},
    events: {kind: list(word(...storyKinds, "trouble")), view: word("exact"), q: anything},
    config: {show: word("all", "written")},
    trial: {q: anything},
    files: {file: anything, of: where((value) => /^[\w.-]{1,100}$/.test(value)), q: anything},
    log: {attempt: whole, rank: whole, stream: word("stdout", "stderr"), at: number, wrap: word("yes"), q: anything},
} satisfies Record<string, Shapes>;
