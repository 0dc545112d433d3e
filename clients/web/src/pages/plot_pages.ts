// Pages with a plot, which share most of their code, are loaded together.
export {default as Curves} from "./experiment/curves";
export {default as History} from "./experiment/history";
export {default as Importance} from "./experiment/importance";
export {default as Parallel} from "./experiment/parallel";
export {default as Rungs} from "./experiment/rungs";
export {default as Scatter} from "./experiment/scatter";
export {default as Timeline} from "./experiment/timeline";
// Plots on other pages: with files of their own the code that all share would be cut into many small ones.
export {default as CompareCurves} from "../plot/compare_curves";
export {default as HistoryFigure} from "../plot/history_figure";
export {default as SearchPlots} from "../plot/search_plots";
export {default as TrialCurves} from "../plot/trial_curves";
export {default as WorkerPast} from "../plot/worker_past";
