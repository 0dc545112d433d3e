import type {ExperimentDetail} from "../api/types";

export default function TrialCurves({experiment}: {experiment: ExperimentDetail; trial: number}) {
    return <p class="muted">{experiment.metric}</p>;
}
