import type {ExperimentDetail} from "../api/types";

export default function CompareCurves({experiment}: {experiment: ExperimentDetail; trials: readonly number[]}) {
    return <p class="muted">{experiment.metric}</p>;
}
