// What a page gets from whoever shows it.
import type {Experiment} from "../api/shapes";
import type {Query} from "../state/router";

export interface PageProps {
    readonly query: Query;
    /// What stands in the address in the places of * in the pattern.
    readonly captured: readonly string[];
}

export interface ExperimentPageProps extends PageProps {
    readonly experiment: Experiment;
}
