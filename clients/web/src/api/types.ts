// Written by `npm run types` from docs/openapi.json.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An OpenAPI document. */
        readonly ApiDescription: {
            readonly components: Record<string, unknown>;
            /** @description Version of OpenAPI. */
            readonly openapi: string;
            readonly paths: Record<string, unknown>;
        };
        /** @description A trial that a client runs. */
        readonly AskedTrial: {
            readonly attempt: number;
            /** @description That it begins with; empty if there is none. */
            readonly checkpoint: string;
            readonly hparams: unknown;
            /** @description To be sent with each report. */
            readonly lease: string;
            readonly lease_seconds: number;
            /** @description Train until this length. */
            readonly length: number;
            /** @description What earlier attempts of the trial have reported. */
            readonly reached: number;
            readonly seed: number;
            readonly trial: number;
        };
        /** @description Trials that a client runs. */
        readonly AskedTrials: {
            readonly experiment: number;
            /** @description Of the experiment: nothing more comes when it has ended. */
            readonly state: string;
            /** @description As many as can start now, which may be none. */
            readonly trials: readonly components["schemas"]["AskedTrial"][];
        };
        /** @description An attempt. */
        readonly AttemptName: {
            readonly attempt: number;
            readonly experiment: number;
            readonly trial: number;
        };
        /** @description A request that changed something, was refused or signed somebody in. */
        readonly AuditEntry: {
            /** @enum {string} */
            readonly channel: "socket" | "tcp" | "tls";
            /** @description Of refusals: for how many other requests of this address or token, in one minute, the line stands. */
            readonly count?: number;
            /** @description User or address. */
            readonly from: string;
            readonly method: string;
            /** @description As in Caller; "" for strangers. */
            readonly name: string;
            /** @description Lines count from 1. */
            readonly number: number;
            readonly path: string;
            /** @description SHA-256 of the line before. */
            readonly previous: string;
            /** @description X-Request-Id of the answer. */
            readonly request: string;
            /** @description What was changed or made: experiments/3. */
            readonly resource?: string;
            readonly role: string;
            readonly status: number;
            readonly time: number;
            /** @description Its id, or "". */
            readonly token: string;
            /** @description Of what was changed, or ""; not in lines of earlier releases, as the next one. */
            readonly workspace?: string;
        };
        /** @description A page of the audit log, oldest first. */
        readonly AuditPage: {
            readonly entries: readonly components["schemas"]["AuditEntry"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
        };
        /** @description What became of a copy of the store. */
        readonly BackupResult: {
            /** @description Whether a backup was made of the copy and checked; only such ones count. */
            readonly good: boolean;
            /** @description The copy. */
            readonly path: string;
        };
        /** @description A moment at which the best metric became better. */
        readonly BestPoint: {
            /** @description Where it was measured. */
            readonly length: components["schemas"]["Count"];
            readonly metric: number;
            /** @description What all trials had used by then. */
            readonly slot_seconds: number;
            readonly time: number;
            readonly trial: number;
            /** @description As many there were. */
            readonly trials: number;
        };
        /** @description The best result so far. */
        readonly BestResult: {
            readonly deviation?: components["schemas"]["Metric"] | null;
            /** @description Over the repeated trainings of a finalist. */
            readonly mean?: components["schemas"]["Metric"] | null;
            readonly metric: components["schemas"]["Metric"];
            readonly step: components["schemas"]["Count"];
            readonly trial: number;
        };
        /** @description A bracket of the search. */
        readonly BracketPreview: {
            readonly lengths: readonly number[];
            readonly share: number;
            readonly trials: unknown;
        };
        /** @description Who sends the requests. */
        readonly Caller: {
            /** @description Token or user, such as "token ci" or "uid 1000". */
            readonly name: string;
            /** @description The name of the same token or user as experiments have it. */
            readonly owner: string;
            readonly role: string;
            /** @description As whom workers with --run-as submitter run what it submits; "": none. */
            readonly unix_user: string;
            /** @description In which it has this role; ["*"]: in all. */
            readonly workspaces: readonly string[];
        };
        /** @description A checkpoint of a trial. */
        readonly Checkpoint: {
            readonly best: boolean;
            readonly bytes: number;
            readonly files: number;
            readonly id: string;
            readonly latest: boolean;
            readonly metric: components["schemas"]["Metric"] | null;
            readonly path: string;
            readonly step: components["schemas"]["Count"];
            readonly trial: number;
        };
        /** @description Checkpoints whose files are to be deleted. */
        readonly CheckpointDeletion: {
            /** @description As GET .../checkpoints has them. */
            readonly paths: readonly string[];
        };
        /** @description A file of a checkpoint. */
        readonly CheckpointFile: {
            readonly bytes: number;
            /** @description Null for a link. */
            readonly crc32c: number | null;
            /** @description Where it leads, if it is a symbolic link. */
            readonly link: string | null;
            /** @description Below the checkpoint's directory. */
            readonly path: string;
        };
        /** @description Files of a checkpoint. */
        readonly CheckpointFiles: {
            /** @description Of all files. */
            readonly bytes: number;
            readonly files: readonly components["schemas"]["CheckpointFile"][];
            /** @description EXPERIMENT/TRIAL/ATTEMPT-STEP. */
            readonly id: string;
            /** @description Its directory. */
            readonly path: string;
            readonly step: number;
        };
        /** @description Checkpoints of an experiment. */
        readonly CheckpointPage: {
            /** @description Checkpoints whose files are being deleted. */
            readonly being_deleted: number;
            readonly checkpoints: readonly components["schemas"]["Checkpoint"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: unknown;
            /** @description Trials. */
            readonly total: number;
        };
        /** @description A column. */
        readonly ColumnField: {
            readonly name: string;
            /** @enum {string} */
            readonly type: "f64" | "i64" | "u32" | "u16" | "u8";
            /** @description What the numbers of this column stand for, by number. */
            readonly words?: readonly unknown[];
        };
        /** @description Trials as columns of numbers. */
        readonly Columns: {
            /** @description Of each field, a number or null for each row. */
            readonly columns: readonly (readonly unknown[])[];
            readonly fields: readonly components["schemas"]["ColumnField"][];
            /** @description Where `result` was measured. */
            readonly length: components["schemas"]["Count"] | null;
            /** @description Others that `length` can ask for: the rungs. */
            readonly lengths: readonly components["schemas"]["ComparedLength"][];
            /** @description All rows are as they were after this event. */
            readonly lsn: number;
            readonly rows: number;
            /** @description Trials of the experiment. */
            readonly total: number;
        };
        /** @description A length at which trials are compared. */
        readonly ComparedLength: {
            readonly length: components["schemas"]["Count"];
            /** @description Finite ones. */
            readonly results: number;
        };
        /** @description A whole number from 0; text where it is above 9223372036854775807. */
        readonly Count: number | string;
        /** @description The experiment that was created. */
        readonly CreatedExperiment: {
            /** @description Its number. */
            readonly experiment: number;
        };
        /** @description A learning curve. */
        readonly Curve: {
            readonly events: readonly components["schemas"]["CurveEvent"][];
            readonly last: readonly number[];
            readonly max: readonly number[];
            readonly min: readonly number[];
            /** @description Pairs of a step and nan, inf or -inf. */
            readonly nonfinite: readonly unknown[];
            /** @description The longest that it reached, from 0. */
            readonly rung: number | null;
            readonly state: string;
            /** @description Of each part of the curve, its last value's. */
            readonly step: readonly components["schemas"]["Count"][];
            readonly time: readonly number[];
            readonly trial: number;
        };
        /** @description What happened to a trial. */
        readonly CurveEvent: {
            readonly step: components["schemas"]["Count"];
            readonly time: number;
            /** @enum {string} */
            readonly what: "promoted" | "paused" | "stopped" | "restarted" | "finished";
        };
        /** @description Learning curves, or a density of them. */
        readonly Curves: {
            readonly above?: number;
            /** @description Values below all edges. */
            readonly below?: number;
            /** @description Of a density: for each part of the steps, how many values lie in each part. */
            readonly counts?: readonly (readonly number[])[];
            readonly group?: string;
            readonly lsn?: number;
            readonly metric: string;
            readonly nonfinite?: number;
            readonly rungs?: readonly components["schemas"]["RungLine"][];
            /** @description Of a density: edges. */
            readonly steps?: readonly number[];
            /** @description A list of Curve; in a density, how many trials reported the metric. */
            readonly trials?: unknown;
            readonly unit?: string;
            /** @description Of a density: edges. */
            readonly values?: readonly number[];
        };
        /** @description The experiment that was deleted. */
        readonly DeletedExperiment: {
            /** @description Its number, which is not used again. */
            readonly experiment: number;
        };
        /** @description The device of a slot. */
        readonly Device: {
            readonly index: number;
            readonly memory_bytes: number;
            readonly name: string;
            readonly uuid: string;
        };
        /** @description How a trial ended at its client. */
        readonly EndOfLease: {
            readonly lease: string;
            /** @description Why. */
            readonly message?: string | null;
            /** @enum {string} */
            readonly state: "completed" | "failed" | "invalid_hyperparameters";
        };
        /** @description Why a request failed. */
        readonly Error: {
            readonly code: string;
            readonly message: string;
            readonly problems?: readonly components["schemas"]["FieldProblem"][];
        };
        /** @description A stored event. */
        readonly Event: {
            readonly at: number;
            /** @description Sequence number. */
            readonly lsn: number;
            /** @description proto/SCHEMA.md lists the types and their further fields. */
            readonly type: string;
        };
        /** @description Stored events in their order. */
        readonly EventPage: {
            readonly events: readonly components["schemas"]["Event"][];
            /** @description The next page's `after`. */
            readonly last_lsn: number;
        };
        /** @description An experiment. */
        readonly Experiment: components["schemas"]["ExperimentSummary"] & {
            readonly context_bytes: number;
            readonly context_digest: string;
            readonly context_directory: string;
            /** @description What of the search its user may not mean: its direction, say. */
            readonly doubts: readonly string[];
            /** @description Closed trials by the length that they ended at. */
            readonly final_counts: {
                readonly [key: string]: number;
            };
            readonly finalists: readonly components["schemas"]["Finalist"][];
            readonly first_lease_at: number | null;
            readonly last_release_at: number | null;
            readonly length_full: components["schemas"]["Count"];
            readonly length_trained: components["schemas"]["Count"];
            readonly length_unreported: components["schemas"]["Count"];
            readonly notes: readonly components["schemas"]["Note"][];
            readonly programs: readonly components["schemas"]["ProgramChange"][];
            readonly ran_unlogged: boolean;
            readonly rungs: readonly components["schemas"]["ReachedLength"][];
            readonly slot_seconds: number;
            readonly source: components["schemas"]["SourceCheckpoint"] | null;
        };
        /** @description Experiments by number. */
        readonly ExperimentPage: {
            readonly experiments: readonly components["schemas"]["ExperimentSummary"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
        };
        /** @description An experiment in a list. */
        readonly ExperimentSummary: {
            /** @description It has ended, and lists leave it out. */
            readonly archived: boolean;
            readonly best: components["schemas"]["BestResult"] | null;
            readonly created_at: number;
            readonly ended_at: number | null;
            readonly id: number;
            readonly labels: readonly string[];
            readonly max_length: components["schemas"]["Count"];
            readonly metric: string;
            readonly name: string;
            /** @description Name of the user or token that submitted it, or "". */
            readonly owner: string;
            /** @description 0 to 1. */
            readonly progress: number | null;
            /** @description The same. */
            readonly project: string;
            readonly reason: string;
            readonly searcher: string;
            readonly smaller_is_better: boolean;
            /** @enum {string} */
            readonly state: "ACTIVE" | "PAUSED" | "STOPPING" | "COMPLETED" | "CANCELED" | "FAILED";
            /** @description How many there are by state. */
            readonly trials: {
                readonly [key: string]: number;
            };
            readonly trials_total: number;
            readonly unit: string;
            /** @description Why no trial runs, or "". */
            readonly waits_for?: string;
            /** @description Of the experiment file, or default. */
            readonly workspace: string;
        };
        /** @description Why a trial is where it is. */
        readonly Explanation: {
            readonly ahead: unknown;
            readonly experiment: number;
            readonly history: readonly components["schemas"]["Event"][];
            readonly metric: string;
            readonly next: string;
            readonly now: string;
            readonly program: components["schemas"]["ProgramChange"] | null;
            readonly program_changes: number;
            readonly reason: components["schemas"]["Reason"];
            readonly results_needed: unknown;
            readonly results_to_come: unknown;
            readonly source: components["schemas"]["SourceCheckpoint"] | null;
            readonly state: string;
            readonly trial: number;
            readonly unit: string;
        };
        /** @description A check that failed. */
        readonly FailingCheck: {
            readonly check: string;
            readonly why: string;
        };
        /** @description What is wrong with one field. */
        readonly FieldProblem: {
            /** @description What it may be. */
            readonly allowed: string;
            /** @description The field or parameter. */
            readonly path: string;
            /** @description What is wrong with it. */
            readonly what: string;
        };
        /** @description A configuration that is trained repeatedly. */
        readonly Finalist: {
            readonly deviation: components["schemas"]["Metric"] | null;
            readonly hparams: Record<string, unknown>;
            readonly mean: components["schemas"]["Metric"] | null;
            readonly trainings: readonly components["schemas"]["Training"][];
        };
        /** @description A worker that was forgotten. */
        readonly ForgottenWorker: {
            readonly id: number;
            readonly name: string;
        };
        /** @description Forgotten workers by number. */
        readonly ForgottenWorkerPage: {
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
            readonly workers: readonly components["schemas"]["ForgottenWorker"][];
        };
        /** @description A submission. */
        readonly Fork: {
            /** @description Without its secrets: they have to be filled in. */
            readonly config: Record<string, unknown>;
            readonly context_digest: string;
            readonly context_directory: string;
            readonly name: string;
        };
        /** @description Whether the daemon works. */
        readonly Health: {
            /** @enum {string} */
            readonly status: "ok" | "degraded";
            readonly storage: string;
            /** @description What is wrong with the storage. */
            readonly why?: string;
        };
        /** @description An attempt that runs on the worker and is not in the store. */
        readonly HeldAttempt: components["schemas"]["AttemptName"] & {
            readonly exited: boolean;
            readonly label: string;
            readonly lease: number;
        };
        /** @description How the best metric became better. */
        readonly History: {
            /** @description max_time, max_slot_hours and max_failed_trials, or null. */
            readonly budget: unknown;
            /** @description time, slot_seconds and trials as they are now. */
            readonly end: Record<string, unknown>;
            readonly metric: string;
            readonly points: readonly components["schemas"]["BestPoint"][];
            readonly smaller_is_better: boolean;
            /** @description When the first trial got its slots. */
            readonly started_at: number | null;
            readonly target: number | null;
            readonly unit: string;
        };
        /** @description How much a hyperparameter matters. */
        readonly HparamShare: {
            /** @description Between samples of the results. */
            readonly deviation: number;
            readonly name: string;
            /** @description From 1. */
            readonly rank: number;
            /** @description All shares add up to 1. */
            readonly share: number;
        };
        /** @description Where browsers reach the daemon. */
        readonly HttpPort: {
            /** @description HOST:PORT, or https://HOST:PORT#FINGERPRINT. */
            readonly http: string;
        };
        /** @description How much each hyperparameter matters, by PED-ANOVA. */
        readonly Importance: {
            /** @description The best part, which is compared with all. */
            readonly gamma: number;
            /** @description Largest share first. */
            readonly hyperparameters: readonly components["schemas"]["HparamShare"][];
            readonly length: unknown;
            /**
             * @description Compared are the results; or what a forest of regression trees expects evenly over the space, where a sampler that learns preferred a part of it.
             * @enum {string}
             */
            readonly method: "results" | "forest";
            readonly metric: string;
            /** @description With fewer results nothing is said. */
            readonly needed: number;
            /** @description Trials that did not get there, or diverged: they count as worse. */
            readonly others: number;
            /** @description Why there are none. */
            readonly reason: string;
            /** @description Finite ones. */
            readonly results: number;
            /** @description The rung whose results are compared, from 0. */
            readonly rung: number;
        };
        /** @description A file that a program left. */
        readonly KeptFile: {
            readonly bytes: number;
            readonly digest: string;
            readonly executable: boolean;
            readonly link: unknown;
            readonly path: string;
            readonly worker: number;
        };
        /** @description A bracket. */
        readonly LadderBracket: {
            readonly bracket: number;
            readonly name: string;
            /** @description Shortest first. */
            readonly rungs: readonly components["schemas"]["LadderRung"][];
        };
        /** @description A rung, and what stands in it. */
        readonly LadderRung: {
            /** @description Metric of the last result that goes on. */
            readonly cut_off: number | null;
            /** @description As many of its results go on. */
            readonly keep: number;
            readonly length: components["schemas"]["Count"];
            /** @description Best first. */
            readonly results: readonly components["schemas"]["RungResult"][];
            /** @description Who goes on, in words. */
            readonly rule: string;
            /** @description From 0, the shortest. */
            readonly rung: number;
            readonly size: number;
            /** @description Trials on their way to it. */
            readonly training: readonly number[];
        };
        /** @description An attempt whose processes did not end. */
        readonly LeakedProcesses: components["schemas"]["AttemptName"] & {
            readonly released: boolean;
            readonly slots: readonly number[];
        };
        /** @description The fields of the experiment file that change. */
        readonly LimitChanges: {
            readonly budget?: Record<string, unknown>;
            readonly resources?: Record<string, unknown>;
            readonly searcher?: Record<string, unknown>;
        };
        /** @description A line of a log. */
        readonly LogMatch: {
            /** @description At most 4,096 bytes of it. */
            readonly line: string;
            /** @description Of the line's first byte. */
            readonly offset: number;
        };
        /** @description A piece of a log, or the lines that were searched for. */
        readonly LogPiece: {
            readonly attempt: number;
            /** @description With q: the log was searched to its end. */
            readonly complete?: boolean;
            /** @description Whether it comes from the daemon; else from the worker. */
            readonly kept?: boolean;
            /** @description With q, and instead of the text: at most 1,000 lines. */
            readonly matches?: readonly components["schemas"]["LogMatch"][];
            /** @description Of the text's first byte. */
            readonly offset?: number;
            /** @description With q: the offset with which the same search goes on. */
            readonly searched_to?: number;
            /** @description Of the whole log, in bytes. */
            readonly size?: number;
            readonly text?: string;
        };
        /** @description A value of a metric; one that is not finite is a class. */
        readonly Metric: number | {
            /** @enum {string} */
            readonly class: "nan" | "+inf" | "-inf";
        };
        /** @description A metric that programs report. */
        readonly MetricName: {
            /** @description Reports of it. */
            readonly count: number;
            readonly first_step: number;
            /** @description What stands before the last dot of the name, or nothing. */
            readonly group: string;
            readonly last_step: number;
            readonly name: string;
            /** @description That reported it. */
            readonly trials: number;
        };
        /** @description The metrics that programs report. */
        readonly MetricNames: {
            readonly metrics: readonly components["schemas"]["MetricName"][];
        };
        /** @description Metrics of a trial in the order of their reports. */
        readonly MetricPage: {
            readonly metrics: readonly components["schemas"]["MetricPoint"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: string | null;
        };
        /** @description Metrics that a trial reported. */
        readonly MetricPoint: {
            readonly attempt: number;
            readonly metrics: {
                readonly [key: string]: components["schemas"]["Metric"];
            };
            readonly step: components["schemas"]["Count"];
        };
        /** @description What a client measured. */
        readonly MetricsOfLease: {
            readonly lease: string;
            readonly metrics: {
                readonly [key: string]: components["schemas"]["Metric"];
            };
            /** @description How long the trial has trained in all. */
            readonly step: number;
        };
        /** @description What the model of a search has learnt. */
        readonly Model: {
            readonly best: components["schemas"]["ModelBest"] | null;
            readonly experiment: number;
            readonly hyperparameters: readonly components["schemas"]["ModelImportance"][];
            readonly lengths: readonly components["schemas"]["ModelLength"][];
            readonly metric: string;
            readonly needed: number;
            readonly results: number;
            readonly unit: string;
        };
        /** @description The best configuration by the model. */
        readonly ModelBest: {
            readonly deviation: components["schemas"]["Metric"];
            readonly hparams: Record<string, unknown>;
            readonly mean: components["schemas"]["Metric"];
            readonly trial: number | null;
        };
        /** @description How much a hyperparameter matters. */
        readonly ModelImportance: {
            readonly length_scale: number;
            readonly name: string;
            readonly share: number;
        };
        /** @description How well a length predicts the full one. */
        readonly ModelLength: {
            readonly correlation: components["schemas"]["Metric"];
            readonly length: components["schemas"]["Count"];
            readonly results: number;
        };
        /** @description A token with its secret. */
        readonly NewToken: components["schemas"]["Token"] & {
            /** @description The secret. No other answer has it. */
            readonly token: string;
        };
        /** @description What the daemon noticed about an attempt. */
        readonly Note: {
            readonly about: string;
            readonly attempt: number;
            readonly attempts: number;
            readonly text: string;
            readonly trial: number;
        };
        /** @description A file that the daemon does not have. */
        readonly OtherFile: {
            readonly bytes: number;
            readonly path: string;
            readonly why: string;
            readonly worker: number;
        };
        /** @description What an experiment would cost. */
        readonly Preview: {
            readonly brackets: readonly components["schemas"]["BracketPreview"][];
            readonly expected_length: number | null;
            readonly expected_reach: readonly (readonly number[])[];
            /** @description Trials by the length that they end at. */
            readonly final_counts: {
                readonly [key: string]: number;
            };
            readonly full_length: number | null;
            readonly repeats: number;
            /** @description null: past counting. */
            readonly total_length: number | null;
            readonly trials: number;
            readonly warnings: readonly string[];
        };
        /** @description The answer to a request that failed. */
        readonly Problem: {
            readonly detail: string;
            /** @description The same for clients of earlier releases. */
            readonly error: components["schemas"]["Error"];
            readonly errors?: readonly components["schemas"]["ProblemItem"][];
            /** @description Id of the request, as in X-Request-Id and in the log. */
            readonly instance: string;
            readonly status: number;
            readonly title: string;
            /** @description A name for the kind of problem; it does not change. */
            readonly type: string;
        };
        /** @description One thing that is wrong with the request. */
        readonly ProblemItem: {
            readonly allowed?: string;
            readonly detail: string;
            /** @description Of the YAML. */
            readonly line?: number;
            /** @description Of the query. */
            readonly parameter?: string;
            /** @description The field, as messages name it. */
            readonly path?: string;
            /** @description JSON pointer: where in the body, or in the experiment file in it. */
            readonly pointer?: string;
        };
        /** @description A program that replaced the one before it. */
        readonly ProgramChange: {
            /** @description Earlier trials that run it too. */
            readonly also: readonly number[];
            readonly at: number;
            /** @description Names of changed files. */
            readonly changed: readonly string[];
            readonly context_bytes: number;
            readonly context_digest: string;
            /** @description The first trial that runs it. */
            readonly from: number;
        };
        /** @description The program of trials that have reported nothing yet. */
        readonly ProgramRequest: {
            /** @description At most 100 names of files. */
            readonly changed?: readonly string[];
            readonly context_digest?: string;
        };
        /** @description Why the worker gets no trials. */
        readonly QuarantineRequest: {
            /** @description What is wrong with the worker. */
            readonly why?: string;
        };
        /** @description Limits of a workspace; null: no limit. */
        readonly Quota: {
            /** @description experiments that have not ended */
            readonly max_active_experiments: number | null;
            /** @description bytes of stored contexts, each content once */
            readonly max_context_bytes: number | null;
            /** @description slots in use at once */
            readonly max_slots: number | null;
            /** @description slots in use at once by the experiments of one user */
            readonly max_slots_per_user: number | null;
            /** @description trials that the search of one experiment plans, repeats included */
            readonly max_trials_per_experiment: number | null;
            /** @description slots × hours in the last 30 days */
            readonly slot_hours_per_30d: number | null;
        };
        /** @description The limits of a workspace from now on; missing or null: no limit. */
        readonly QuotaRequest: {
            /** @description experiments that have not ended */
            readonly max_active_experiments?: number | null;
            /** @description bytes of stored contexts, each content once */
            readonly max_context_bytes?: number | null;
            /** @description slots in use at once */
            readonly max_slots?: number | null;
            /** @description slots in use at once by the experiments of one user */
            readonly max_slots_per_user?: number | null;
            /** @description trials that the search of one experiment plans, repeats included */
            readonly max_trials_per_experiment?: number | null;
            /** @description slots × hours in the last 30 days */
            readonly slot_hours_per_30d?: number | null;
        };
        /** @description What a workspace uses of each limit; null: the limit is for each user or experiment. */
        readonly QuotaUse: {
            /** @description experiments that have not ended */
            readonly max_active_experiments: number | null;
            /** @description bytes of stored contexts, each content once */
            readonly max_context_bytes: number | null;
            /** @description slots in use at once */
            readonly max_slots: number | null;
            /** @description slots in use at once by the experiments of one user */
            readonly max_slots_per_user: number | null;
            /** @description trials that the search of one experiment plans, repeats included */
            readonly max_trials_per_experiment: number | null;
            /** @description slots × hours in the last 30 days */
            readonly slot_hours_per_30d: number | null;
        };
        /** @description A length that trials are asked for. */
        readonly ReachedLength: {
            readonly length: components["schemas"]["Count"];
            /** @description Trials that trained this far. */
            readonly reached: number;
        };
        /** @description Whether the daemon takes all requests. */
        readonly Readiness: {
            readonly failing: readonly components["schemas"]["FailingCheck"][];
            readonly ready: boolean;
        };
        /** @description Why something happened. */
        readonly Reason: {
            /** @description The reason in words; the other fields say it in numbers. */
            readonly text: string;
        };
        /** @description A token that is revoked. */
        readonly RevokedToken: {
            /** @description The token's id. */
            readonly revoked: string;
        };
        /** @description Where all trials stand at one moment. */
        readonly RungLadder: {
            readonly brackets: readonly components["schemas"]["LadderBracket"][];
            /** @description The event that created the experiment. */
            readonly first_lsn: number;
            /** @description The last event that changed the experiment. */
            readonly last_lsn: number;
            /** @description The event after which everything was so. */
            readonly lsn: number;
            readonly metric: string;
            readonly smaller_is_better: boolean;
            readonly time: number;
        };
        /** @description Where a rung cuts curves off. */
        readonly RungLine: {
            readonly bracket: number;
            readonly cut_off: number | null;
            readonly length: components["schemas"]["Count"];
            readonly rung: number;
        };
        /** @description A result in a rung. */
        readonly RungResult: {
            /** @description Null where it is missing or not finite. */
            readonly metric: number | null;
            /** @description nan, inf or -inf if the trial reported that. */
            readonly nonfinite: string | null;
            /** @description From 0, the best. */
            readonly rank: number;
            /** @enum {string} */
            readonly state: "promoted" | "waiting" | "stopped" | "finished" | "failed";
            readonly trial: number;
        };
        /** @description A search algorithm. */
        readonly Searcher: {
            /** @description Fields of `searcher` that it reads beyond the common ones. */
            readonly fields: readonly string[];
            readonly name: string;
            /** @description Those that it needs. */
            readonly required: readonly string[];
        };
        /** @description All search algorithms. */
        readonly SearcherList: {
            readonly searchers: readonly components["schemas"]["Searcher"][];
        };
        /** @description A browser that is signed in. */
        readonly Session: {
            /** @description When the session ends at the latest; null without a cookie. */
            readonly expires_at: number | null;
            /** @description Whether it may create and rotate tokens, if its role allows that. */
            readonly makes_tokens: boolean;
            /** @description Of the token or the user. */
            readonly name: string;
            /** @description What the browser sends in the header X-Hpsearch-Page-Key with each request, beside its cookie. Only the answer to a sign-in has it; elsewhere it is "". */
            readonly page_key: string;
            /** @enum {string} */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description In which it has this role; ["*"]: in all. */
            readonly workspaces: readonly string[];
        };
        /** @description What a browser signs in with: one of the two. */
        readonly SignIn: {
            /** @description … a code of `hpsearch open`. */
            readonly code?: string;
            /** @description A token, or … */
            readonly token?: string;
        };
        /** @description A code with which a browser signs in. */
        readonly SignInCode: {
            /** @description Works once. */
            readonly code: string;
            readonly expires_in_seconds: number;
        };
        /** @description The session that the code begins. */
        readonly SignInCodeRequest: {
            /** @description Whether the session may create and rotate tokens; only admins may ask for that. */
            readonly makes_tokens?: boolean;
        };
        /** @description A slot of a worker. */
        readonly Slot: {
            readonly attempt: number | null;
            readonly device: components["schemas"]["Device"] | null;
            /** @description Of the trial that has it; null also where the caller may not see it. */
            readonly experiment: number | null;
            readonly kind: string;
            /** @description Of the worker. */
            readonly name: string;
            readonly pool: string;
            /** @description Its number on the worker, from 0. */
            readonly slot: number;
            /**
             * @description busy: a trial has it; leaked: processes of an earlier trial did not end; away: its worker is not connected.
             * @enum {string}
             */
            readonly state: "free" | "busy" | "broken" | "leaked" | "quarantined" | "draining" | "away";
            readonly trial: number | null;
            /** @description What is wrong with a broken one. */
            readonly why: string | null;
            readonly worker: number;
        };
        /** @description Slots by worker and number. */
        readonly SlotPage: {
            /** @description The next page's `after`; null on the last page. */
            readonly next: string | null;
            readonly slots: readonly components["schemas"]["Slot"][];
        };
        /** @description The checkpoint that trials begin from. */
        readonly SourceCheckpoint: {
            readonly experiment: number;
            readonly id: string;
            readonly path: string;
            readonly step: components["schemas"]["Count"];
            readonly trial: number;
        };
        /** @description The daemon's state. */
        readonly Status: {
            readonly cluster: string;
            readonly commits: number;
            readonly daemon_epoch: number;
            /** @description Of the last one on disk. */
            readonly durable_lsn: number;
            readonly engine_seconds: number;
            readonly events: number;
            readonly experiments: number;
            readonly late_reports: number;
            /** @description Sequence number of the last event. */
            readonly lsn: number;
            readonly pid: number;
            readonly searchers: readonly string[];
            readonly state_dir: string;
            readonly storage: components["schemas"]["Storage"];
            readonly store_seconds: number;
            readonly uptime_seconds: number;
            readonly version: string;
        };
        /** @description The file system of the store. */
        readonly Storage: {
            readonly free_bytes: number;
            readonly state: string;
            readonly total_bytes: number;
            readonly why: string;
        };
        /** @description A copy of the store. */
        readonly StoreCopy: {
            /** @description The file, on the daemon's machine. */
            readonly path: string;
        };
        /** @description A context that the daemon has. */
        readonly StoredContext: {
            readonly bytes: number;
            /** @description SHA-256 of the archive. */
            readonly context: string;
        };
        /** @description An experiment to create. */
        readonly Submission: {
            /** @description The experiment file as JSON (docs/experiment-file.schema.json). */
            readonly config: Record<string, unknown>;
            /** @description SHA-256 of a context that was uploaded, or "". */
            readonly context_digest?: string;
            /** @description An absolute path, or "". */
            readonly context_directory?: string;
            /** @description Where the file has none. */
            readonly name?: string;
            /** @description Where the file has none: 0 to 2147483647. */
            readonly seed?: number;
        };
        /** @description Which attempts held the slots, and when. */
        readonly Timeline: {
            readonly bars?: readonly components["schemas"]["TimelineBar"][];
            /** @description Instead of bars: edges, for each slot the busy share and the share of others of each bin, and how many trials ran in each bin. */
            readonly bins?: Record<string, unknown>;
            readonly from: number;
            readonly now: number;
            /** @description When their workers were there. */
            readonly presences: readonly components["schemas"]["TimelineQuarantine"][];
            /** @description Of the workers of these slots. */
            readonly quarantines: readonly components["schemas"]["TimelineQuarantine"][];
            /** @description All that the experiment may use, and those that it used. */
            readonly slots: readonly components["schemas"]["TimelineSlot"][];
            /** @description Where other experiments held them. */
            readonly taken: readonly components["schemas"]["TimelineTaken"][];
            readonly to: number;
        };
        /** @description An attempt on a slot. */
        readonly TimelineBar: {
            readonly attempt: number;
            readonly from: number;
            /** @enum {string} */
            readonly outcome: "running" | "finished" | "paused" | "stopped" | "failed" | "lost" | "preempted" | "canceled";
            readonly slot: number | null;
            /** @description Null while it runs. */
            readonly to: number | null;
            readonly trial: number;
            readonly worker: number;
        };
        /** @description A time of a worker: in which it got no new leases, or was there. */
        readonly TimelineQuarantine: {
            readonly from: number;
            /** @description Null while it lasts. */
            readonly to: number | null;
            readonly worker: number;
        };
        /** @description A slot that the experiment may use. */
        readonly TimelineSlot: {
            /** @description In which its worker was not there. */
            readonly away: number;
            /** @description The share of the window in which the experiment held it. */
            readonly busy: number;
            readonly name: string;
            /** @description Null: beside the slots. */
            readonly slot: number | null;
            /** @description In which others held it. */
            readonly taken: number;
            readonly worker: number;
        };
        /** @description A time in which another experiment held a slot. */
        readonly TimelineTaken: {
            /** @description Null: of another workspace. */
            readonly experiment: number | null;
            readonly from: number;
            readonly slot: number;
            /** @description Null while it lasts. */
            readonly to: number | null;
            /** @description The last one. */
            readonly trial: number | null;
            readonly worker: number;
        };
        /** @description A token without its secret. */
        readonly Token: {
            readonly created: number | null;
            readonly creator: string;
            /** @description null: never. */
            readonly expires: number | null;
            readonly id: string;
            readonly last_used_day: number | null;
            readonly name: string;
            /** @enum {string} */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description As whom workers with --run-as submitter run what it submits; "": none. */
            readonly unix_user: string;
            /** @description In which it has this role; ["*"]: in all. */
            readonly workspaces: readonly string[];
        };
        /** @description All tokens. */
        readonly TokenList: {
            readonly tokens: readonly components["schemas"]["Token"][];
        };
        /** @description The token to create. */
        readonly TokenRequest: {
            /** @description Above 0 and up to 31536000; null (never) only for an admin, over the Unix socket. Without it 90 days. */
            readonly expires_in_seconds?: number | null;
            readonly name: string;
            /** @enum {string} */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description As whom workers with --run-as submitter run what it submits; null or missing: none. */
            readonly unix_user?: string | null;
            /** @description In which it has this role, or ["*"] for all, as without it. */
            readonly workspaces?: readonly string[];
        };
        /** @description What became of a trial that ended at its client. */
        readonly ToldTrial: {
            /** @description Of the experiment. */
            readonly state: string;
            readonly trial: number;
            readonly trial_state: string;
        };
        /** @description One training of a finalist. */
        readonly Training: {
            readonly metric: components["schemas"]["Metric"] | null;
            readonly trial: number;
        };
        /** @description A trial. */
        readonly Trial: {
            readonly attempts: number;
            readonly best_checkpoint: string;
            readonly best_checkpoint_metric: components["schemas"]["Metric"] | null;
            readonly best_checkpoint_step: components["schemas"]["Count"];
            readonly best_metric: components["schemas"]["Metric"] | null;
            readonly best_step: unknown;
            readonly checkpoint: string;
            readonly checkpoint_step: components["schemas"]["Count"];
            readonly created_at: number;
            readonly ended_at: number | null;
            /** @description When its program was heard from last. */
            readonly heard_at?: number | null;
            readonly heard_step?: unknown;
            readonly hparams: Record<string, unknown>;
            readonly id: number;
            readonly last_failure: string;
            /** @description How far it is asked to train. */
            readonly length: components["schemas"]["Count"];
            readonly log_problem?: string | null;
            readonly metric: components["schemas"]["Metric"] | null;
            readonly ran_unlogged: boolean;
            readonly reached: components["schemas"]["Count"];
            readonly reason: components["schemas"]["Reason"];
            readonly restarts: number;
            readonly slot_seconds: number;
            readonly state: string;
            readonly trained: components["schemas"]["Count"];
            readonly trained_unreported: boolean;
            /** @description Its program ended well below its length: what it reported counts there. */
            readonly trains_no_further: boolean;
            /** @description Its number in the experiment. */
            readonly trial: number;
            readonly worker: number | null;
            /** @description By rank. */
            readonly workers: readonly number[];
        };
        /** @description Checkpoints of a trial. */
        readonly TrialCheckpointPage: {
            readonly checkpoints: readonly components["schemas"]["Checkpoint"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
        };
        /** @description Files of a trial. */
        readonly TrialFiles: {
            /** @description Deleted files. */
            readonly dropped: readonly components["schemas"]["OtherFile"][];
            readonly dropped_unnamed: number;
            readonly files: readonly components["schemas"]["KeptFile"][];
            /** @description Files that are on the worker only. */
            readonly left: readonly components["schemas"]["OtherFile"][];
            readonly left_unnamed: number;
        };
        /** @description Files of a trial, summed. */
        readonly TrialFileSum: {
            readonly attempt: number;
            readonly bytes: number;
            readonly files: number;
            readonly left: number;
            readonly metric: components["schemas"]["Metric"] | null;
            readonly trial: number;
            readonly worker: number;
        };
        /** @description Files of an experiment by trial. */
        readonly TrialFileSums: {
            readonly trials: readonly components["schemas"]["TrialFileSum"][];
        };
        /** @description Trials by number. */
        readonly TrialPage: {
            /** @description Of all pages, if only some are asked for. */
            readonly matched?: number;
            /** @description The next page's `after`; null on the last page. */
            readonly next: unknown;
            readonly total: number;
            readonly trials: readonly components["schemas"]["Trial"][];
        };
        /** @description How many trials a client takes. */
        readonly TrialsWanted: {
            /** @description At most 256; 1 if it is missing. */
            readonly count?: number;
            /** @description A trial of which nothing is reported for so long is lost; 300 if missing. */
            readonly lease_seconds?: number;
        };
        /** @description How a trial goes on. */
        readonly TrialVerdict: {
            /**
             * @description After pause and stop, end the lease.
             * @enum {string}
             */
            readonly directive: "continue" | "pause" | "stop";
            /** @description With continue: train until this length. */
            readonly length: number;
        };
        /** @description Slot time. */
        readonly Usage: {
            /** @enum {string} */
            readonly by: "user" | "workspace" | "experiment";
            /** @description The start of an hour; 0: the beginning. */
            readonly since: number;
            readonly until: number;
            /** @description The largest first. */
            readonly usage: readonly components["schemas"]["Used"][];
        };
        /** @description What one user, workspace or experiment took. */
        readonly Used: {
            /** @description Its id. */
            readonly experiment?: string;
            readonly experiments: number;
            readonly slot_seconds: number;
            /** @description That are held now. */
            readonly slots: number;
            /** @description Of these experiments, since they began. */
            readonly trials: number;
            /** @description Name of a user or token; "" = not recorded. */
            readonly user?: string;
            readonly workspace?: string;
        };
        /** @description What is wrong with an experiment. */
        readonly Validation: {
            /** @description With all defaults; null if it is not valid. */
            readonly config: Record<string, unknown> | null;
            /** @description What has no effect, or is not as it seems. */
            readonly notes: readonly components["schemas"]["ProblemItem"][];
            readonly problems: readonly components["schemas"]["ProblemItem"][];
            /** @description Notes that a client asks its user about before it submits. */
            readonly to_confirm: readonly string[];
            readonly valid: boolean;
        };
        /** @description Versions of the daemon and of its formats. */
        readonly Version: {
            /** @description Versions of the API that are served. */
            readonly api: readonly string[];
            /** @description The oldest release of the command line that is served. */
            readonly oldest_client: string;
            readonly store_version: number;
            readonly version: string;
            readonly wire_version: number;
        };
        /** @description A slot that the worker withdrew. */
        readonly WithdrawnSlot: {
            readonly released: boolean;
            readonly slot: number;
            readonly why: string;
        };
        /** @description A worker. */
        readonly Worker: {
            readonly attempts: readonly components["schemas"]["AttemptName"][];
            /** @description Why it cannot store checkpoints of experiments without `checkpoint_storage`. */
            readonly checkpoint_problem: string | null;
            readonly connected: boolean;
            readonly devices: readonly components["schemas"]["Device"][];
            /** @description It gets no new trials, and those that run there go on. */
            readonly draining: boolean;
            /** @description When its last message came; null: not since the daemon was started. */
            readonly heard_at: number | null;
            /** @description The name of its machine; null: it has not connected since the daemon was started. */
            readonly host: string | null;
            readonly id: number;
            readonly incarnation: number;
            readonly kills_by: string;
            readonly labels: {
                readonly [key: string]: string;
            };
            readonly leaked_processes: readonly components["schemas"]["LeakedProcesses"][];
            readonly max_unslotted: number | null;
            readonly name: string;
            readonly on_hold: readonly components["schemas"]["HeldAttempt"][];
            readonly pool: string;
            readonly present: boolean;
            /** @description When a quarantined worker is tried with one trial. */
            readonly probation: string | null;
            /** @description Why it gets no trials. */
            readonly quarantined: string | null;
            readonly resting: string | null;
            readonly slot_kind: string;
            readonly slots: number;
            readonly slots_held: number;
            readonly slots_quarantined: number;
            readonly slots_withdrawn: number;
            readonly suspect: boolean;
            /** @description Attempts without a slot. */
            readonly unslotted: number;
            /** @description Of its program. */
            readonly version: string | null;
            readonly withdrawn: readonly components["schemas"]["WithdrawnSlot"][];
        };
        /** @description Workers by number. */
        readonly WorkerPage: {
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
            readonly workers: readonly components["schemas"]["Worker"][];
        };
        /** @description A workspace. */
        readonly Workspace: {
            /** @description Those that have not ended. */
            readonly active_experiments: number;
            /** @description null: nobody created it; it is the default one, or experiments named it. */
            readonly created: number | null;
            /** @description Token or user; "" = not recorded. */
            readonly creator: string;
            readonly experiments: number;
            readonly name: string;
            readonly quota: components["schemas"]["Quota"];
            /** @description That its trials hold now. */
            readonly slots: number;
            readonly used: components["schemas"]["QuotaUse"];
        };
        /** @description All workspaces by name. */
        readonly WorkspaceList: {
            readonly workspaces: readonly components["schemas"]["Workspace"][];
        };
        /** @description The workspace to create. */
        readonly WorkspaceRequest: {
            /** @description 1 to 63 lower-case letters, digits and "-", not "-" first. */
            readonly name: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type ApiDescription = components['schemas']['ApiDescription'];
export type AskedTrial = components['schemas']['AskedTrial'];
export type AskedTrials = components['schemas']['AskedTrials'];
export type AttemptName = components['schemas']['AttemptName'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditPage = components['schemas']['AuditPage'];
export type BackupResult = components['schemas']['BackupResult'];
export type BestPoint = components['schemas']['BestPoint'];
export type BestResult = components['schemas']['BestResult'];
export type BracketPreview = components['schemas']['BracketPreview'];
export type Caller = components['schemas']['Caller'];
export type Checkpoint = components['schemas']['Checkpoint'];
export type CheckpointDeletion = components['schemas']['CheckpointDeletion'];
export type CheckpointFile = components['schemas']['CheckpointFile'];
export type CheckpointFiles = components['schemas']['CheckpointFiles'];
export type CheckpointPage = components['schemas']['CheckpointPage'];
export type ColumnField = components['schemas']['ColumnField'];
export type Columns = components['schemas']['Columns'];
export type ComparedLength = components['schemas']['ComparedLength'];
export type Count = components['schemas']['Count'];
export type CreatedExperiment = components['schemas']['CreatedExperiment'];
export type Curve = components['schemas']['Curve'];
export type CurveEvent = components['schemas']['CurveEvent'];
export type Curves = components['schemas']['Curves'];
export type DeletedExperiment = components['schemas']['DeletedExperiment'];
export type Device = components['schemas']['Device'];
export type EndOfLease = components['schemas']['EndOfLease'];
export type Error = components['schemas']['Error'];
export type Event = components['schemas']['Event'];
export type EventPage = components['schemas']['EventPage'];
export type Experiment = components['schemas']['Experiment'];
export type ExperimentPage = components['schemas']['ExperimentPage'];
export type ExperimentSummary = components['schemas']['ExperimentSummary'];
export type Explanation = components['schemas']['Explanation'];
export type FailingCheck = components['schemas']['FailingCheck'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type Finalist = components['schemas']['Finalist'];
export type ForgottenWorker = components['schemas']['ForgottenWorker'];
export type ForgottenWorkerPage = components['schemas']['ForgottenWorkerPage'];
export type Fork = components['schemas']['Fork'];
export type Health = components['schemas']['Health'];
export type HeldAttempt = components['schemas']['HeldAttempt'];
export type History = components['schemas']['History'];
export type HparamShare = components['schemas']['HparamShare'];
export type HttpPort = components['schemas']['HttpPort'];
export type Importance = components['schemas']['Importance'];
export type KeptFile = components['schemas']['KeptFile'];
export type LadderBracket = components['schemas']['LadderBracket'];
export type LadderRung = components['schemas']['LadderRung'];
export type LeakedProcesses = components['schemas']['LeakedProcesses'];
export type LimitChanges = components['schemas']['LimitChanges'];
export type LogMatch = components['schemas']['LogMatch'];
export type LogPiece = components['schemas']['LogPiece'];
export type Metric = components['schemas']['Metric'];
export type MetricName = components['schemas']['MetricName'];
export type MetricNames = components['schemas']['MetricNames'];
export type MetricPage = components['schemas']['MetricPage'];
export type MetricPoint = components['schemas']['MetricPoint'];
export type MetricsOfLease = components['schemas']['MetricsOfLease'];
export type Model = components['schemas']['Model'];
export type ModelBest = components['schemas']['ModelBest'];
export type ModelImportance = components['schemas']['ModelImportance'];
export type ModelLength = components['schemas']['ModelLength'];
export type NewToken = components['schemas']['NewToken'];
export type Note = components['schemas']['Note'];
export type OtherFile = components['schemas']['OtherFile'];
export type Preview = components['schemas']['Preview'];
export type Problem = components['schemas']['Problem'];
export type ProblemItem = components['schemas']['ProblemItem'];
export type ProgramChange = components['schemas']['ProgramChange'];
export type ProgramRequest = components['schemas']['ProgramRequest'];
export type QuarantineRequest = components['schemas']['QuarantineRequest'];
export type Quota = components['schemas']['Quota'];
export type QuotaRequest = components['schemas']['QuotaRequest'];
export type QuotaUse = components['schemas']['QuotaUse'];
export type ReachedLength = components['schemas']['ReachedLength'];
export type Readiness = components['schemas']['Readiness'];
export type Reason = components['schemas']['Reason'];
export type RevokedToken = components['schemas']['RevokedToken'];
export type RungLadder = components['schemas']['RungLadder'];
export type RungLine = components['schemas']['RungLine'];
export type RungResult = components['schemas']['RungResult'];
export type Searcher = components['schemas']['Searcher'];
export type SearcherList = components['schemas']['SearcherList'];
export type Session = components['schemas']['Session'];
export type SignIn = components['schemas']['SignIn'];
export type SignInCode = components['schemas']['SignInCode'];
export type SignInCodeRequest = components['schemas']['SignInCodeRequest'];
export type Slot = components['schemas']['Slot'];
export type SlotPage = components['schemas']['SlotPage'];
export type SourceCheckpoint = components['schemas']['SourceCheckpoint'];
export type Status = components['schemas']['Status'];
export type Storage = components['schemas']['Storage'];
export type StoreCopy = components['schemas']['StoreCopy'];
export type StoredContext = components['schemas']['StoredContext'];
export type Submission = components['schemas']['Submission'];
export type Timeline = components['schemas']['Timeline'];
export type TimelineBar = components['schemas']['TimelineBar'];
export type TimelineQuarantine = components['schemas']['TimelineQuarantine'];
export type TimelineSlot = components['schemas']['TimelineSlot'];
export type TimelineTaken = components['schemas']['TimelineTaken'];
export type Token = components['schemas']['Token'];
export type TokenList = components['schemas']['TokenList'];
export type TokenRequest = components['schemas']['TokenRequest'];
export type ToldTrial = components['schemas']['ToldTrial'];
export type Training = components['schemas']['Training'];
export type Trial = components['schemas']['Trial'];
export type TrialCheckpointPage = components['schemas']['TrialCheckpointPage'];
export type TrialFiles = components['schemas']['TrialFiles'];
export type TrialFileSum = components['schemas']['TrialFileSum'];
export type TrialFileSums = components['schemas']['TrialFileSums'];
export type TrialPage = components['schemas']['TrialPage'];
export type TrialsWanted = components['schemas']['TrialsWanted'];
export type TrialVerdict = components['schemas']['TrialVerdict'];
export type Usage = components['schemas']['Usage'];
export type Used = components['schemas']['Used'];
export type Validation = components['schemas']['Validation'];
export type Version = components['schemas']['Version'];
export type WithdrawnSlot = components['schemas']['WithdrawnSlot'];
export type Worker = components['schemas']['Worker'];
export type WorkerPage = components['schemas']['WorkerPage'];
export type Workspace = components['schemas']['Workspace'];
export type WorkspaceList = components['schemas']['WorkspaceList'];
export type WorkspaceRequest = components['schemas']['WorkspaceRequest'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
