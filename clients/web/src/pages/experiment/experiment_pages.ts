// Pages of an experiment that are loaded together: one file packs better than many small ones.
export {default as Checkpoints} from "../trial/checkpoints";
export {default as Compare} from "./compare";
export {default as Config} from "./config";
export {default as Events} from "./events";
export {default as Overview} from "./overview";
export {default as Trial} from "../trial/trial";
export {default as TrialFiles} from "../trial/trial_files";
export {default as TrialLog} from "../trial/trial_log";
export {default as Trials} from "./trials";
