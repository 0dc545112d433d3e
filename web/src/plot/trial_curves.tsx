/** Curves of all metrics of one trial. */
import type { ExperimentDetail } from "../api/types";
import { MetricCurves } from "./metric_curves";

export default function TrialCurves({ experiment, trial }: { experiment: ExperimentDetail; trial: number }) {
  return <MetricCurves experiment={experiment} trials={[trial]} colour="rung" />;
}
