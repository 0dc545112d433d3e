import type {ExperimentDetail} from "../api/types";

export default function HistoryFigure({experiment}: {experiment: ExperimentDetail}) {
    return <p class="muted">{experiment.metric}</p>;
}
