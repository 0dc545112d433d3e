/** Curves of a few trials side by side, one colour each. */
import type { ExperimentDetail } from "../api/types";
import { MetricCurves } from "./metric_curves";

export default function CompareCurves({ experiment, trials }: { experiment: ExperimentDetail; trials: readonly number[] }) {
  return <MetricCurves experiment={experiment} trials={trials} colour="trial" />;
}
