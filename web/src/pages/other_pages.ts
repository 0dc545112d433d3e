// Pages that belong to no experiment and are not the first one.
export {default as Login} from "./login";
export {default as Settings} from "./settings";
export {default as WorkerPage} from "./worker";
export {default as Workers} from "./workers";
