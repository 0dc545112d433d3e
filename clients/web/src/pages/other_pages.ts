// Pages that belong to no experiment and are not the first one.
export {default as CompareSearches} from "./compare_searches";
export {default as Login} from "./settings/login";
export {default as Settings} from "./settings/settings";
export {default as WorkerPage} from "./workers/worker";
export {default as Workers} from "./workers/workers";
