import type {ExperimentPageProps} from "./routes";

export default function Page({experiment}: ExperimentPageProps) {
    return <p class="muted">{experiment.name}</p>;
}
