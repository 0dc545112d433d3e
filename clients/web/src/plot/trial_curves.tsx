/** Curves of all metrics of one trial, and what its machine did. */
import type {Experiment} from "../api/shapes";
import {MetricCurves} from "./metric_curves";
import {TrialUtilization} from "./utilization";

export default function TrialCurves({experiment, trial}: {experiment: Experiment; trial: number}) {
    return (
        <>
            <MetricCurves experiment={experiment} trials={[trial]} colour="rung" />
            <TrialUtilization experiment={experiment} trial={trial} />
        </>
    );
}
