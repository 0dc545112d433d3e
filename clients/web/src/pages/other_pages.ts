// Pages that belong to no experiment and are not the first one.
export {default as Audit} from "./settings/audit";
export {default as CompareSearches} from "./compare_searches";
export {default as Login} from "./settings/login";
export {default as Settings} from "./settings/settings";
export {default as Usage} from "./settings/usage";
export {default as WorkerPage} from "./workers/worker";
export {default as Workers} from "./workers/workers";
export {default as Workspaces} from "./settings/workspaces";
