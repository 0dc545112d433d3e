// Pages with a plot, which share most of their code, are loaded together.
export {default as Curves} from "./curves";
export {default as History} from "./history";
export {default as Importance} from "./importance";
export {default as Parallel} from "./parallel";
export {default as Rungs} from "./rungs";
export {default as Scatter} from "./scatter";
export {default as Timeline} from "./timeline";
