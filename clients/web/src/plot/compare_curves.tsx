/** Curves of a few trials side by side, one colour each. */
import type {Experiment} from "../api/shapes";
import {MetricCurves} from "./metric_curves";

export default function CompareCurves({experiment, trials}: {experiment: Experiment; trials: readonly number[]}) {
    return <MetricCurves experiment={experiment} trials={trials} colour="trial" />;
}
