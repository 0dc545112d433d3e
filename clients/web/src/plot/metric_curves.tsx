/** Small curves of every metric for a few trials, the search's own metric first. */
import {useEffect, useMemo, useState} from "preact/hooks";
import type {Experiment} from "../api/shapes";
import {t} from "../i18n/texts";
import {useResource} from "../state/resource";
import {curvesFigure, type CurveOptions, type Curves} from "./curves";
import {Plot, say} from "./drawing/frame";

interface MetricName {
    readonly name: string;
    readonly group: string;
}

const FIRST_METRICS = 6;

export interface MetricCurvesProps {
    readonly experiment: Experiment;
    readonly trials: readonly number[];
    readonly colour: CurveOptions["colour"];
}

export function MetricCurves({experiment, trials, colour}: MetricCurvesProps) {
    const names = useResource<{metrics: readonly MetricName[]}>(`experiments/${experiment.id}/metrics`, {
        topic: `experiment:${experiment.id}`,
        every: 10000,
    });
    const [all, setAll] = useState(false);
    // The longest of all metrics: one x axis for all of them.
    const [reach, setReach] = useState(0);
    const key = trials.join(",");
    useEffect(() => setReach(0), [key]);
    const reaches = (step: number) => setReach((longest) => Math.max(longest, step));
    const metrics = useMemo(() => {
        const own = {name: experiment.metric, group: ""};
        const listed = names.data?.metrics ?? [];
        const first = listed.find((each) => each.name === experiment.metric) ?? own;
        return [first, ...listed.filter((each) => each !== first)];
    }, [names.data, experiment.metric]);
    const shown = all ? metrics : metrics.slice(0, FIRST_METRICS);
    if (trials.length === 0) return null;
    return (
        <>
            <div class={`plot-smalls plot-metrics${shown.length === 1 ? " plot-single" : ""}`}>
                {shown.map((metric) => (
                    <OneMetric
                        key={`${metric.group}/${metric.name}`}
                        experiment={experiment}
                        trials={trials}
                        colour={colour}
                        metric={metric}
                        reach={reach}
                        reaches={reaches}
                    />
                ))}
            </div>
            {metrics.length > shown.length && (
                <button type="button" class="button" onClick={() => setAll(true)}>
                    {say("plot.curves.more_metrics", {n: metrics.length})}
                </button>
            )}
        </>
    );
}

interface OneMetricProps extends MetricCurvesProps {
    readonly metric: MetricName;
    readonly reach: number;
    readonly reaches: (step: number) => void;
}

function OneMetric({experiment, trials, colour, metric, reach, reaches}: OneMetricProps) {
    const path = `experiments/${experiment.id}/curves?metric=${encodeURIComponent(metric.name)}${metric.group ? `&group=${encodeURIComponent(metric.group)}` : ""}&trials=${trials.join(",")}&points=300`;
    const curves = useResource<Curves>(path, {topic: `experiment:${experiment.id}`, every: 2000});
    const data = curves.data ?? null;
    useEffect(() => {
        if (!data || data.trials.every((curve) => curve.step.length === 0)) return;
        reaches(Math.max(...data.trials.map((curve) => curve.step.at(-1) ?? 0), ...data.rungs.map((rung) => rung.length)));
    }, [data]);
    if (!data) return curves.problem ? <p class="muted small">{curves.problem.message}</p> : <div class="plot-waits" aria-busy="true" />;
    if (data.trials.every((curve) => curve.last.every((value) => value === null))) {
        const reported = data.trials.some((curve) => curve.nonfinite.length > 0);
        return <p class="muted small">{say(reported ? "plot.curves.sentence_nonfinite" : "plot.curves.sentence_none", {metric: metric.name})}</p>;
    }
    const options: CurveOptions = {
        x: "step",
        logX: false,
        kind: "linear",
        clip: "auto",
        smooth: 0,
        startedAt: experiment.first_lease_at ?? experiment.created_at,
        best: null,
        zoom: null,
        small: true,
        colour,
        reach,
    };
    const label = metric.group ? `${metric.group} / ${metric.name}` : metric.name;
    return (
        <Plot
            name="metric"
            label={t("plot.curves.of", {metric: label})}
            experiment={experiment.id}
            height={230}
            quiet
            make={(size, look) => curvesFigure({...data, metric: label}, null, options, size, look)}
            deps={[data, label, colour, reach]}
        />
    );
}
