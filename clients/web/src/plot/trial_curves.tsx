/** Curves of all metrics of one trial. */
import type {Experiment} from "../api/shapes";
import {MetricCurves} from "./metric_curves";

export default function TrialCurves({experiment, trial}: {experiment: Experiment; trial: number}) {
    return <MetricCurves experiment={experiment} trials={[trial]} colour="rung" />;
}
