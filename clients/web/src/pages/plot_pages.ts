// Pages with a plot, which share most of their code, are loaded together.
export {default as Curves} from "./experiment/curves";
export {default as History} from "./experiment/history";
export {default as Importance} from "./experiment/importance";
export {default as Parallel} from "./experiment/parallel";
export {default as Rungs} from "./experiment/rungs";
export {default as Scatter} from "./experiment/scatter";
export {default as Timeline} from "./experiment/timeline";
