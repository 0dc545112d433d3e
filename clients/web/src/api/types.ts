// Written by `npm run types` from docs/openapi.json.

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A job of another scheduler that runs workers. */
        readonly Allocation: {
            /** @description Why it is being canceled; null: it is not. */
            readonly canceling: string | null;
            /** @description What the other scheduler said about its end. */
            readonly detail: string;
            /** @description How it ended: `idle`, `completed`, `time_limit`, `preempted`, `node_failed`, `canceled`, `canceled_there`, `failed`, `refused`, `will_not_start` or `vanished`; null: not yet. */
            readonly end: string | null;
            /** @description When it ended; null: not yet. */
            readonly ended: number | null;
            /** @description Its name in the other scheduler; null: not known yet. */
            readonly job: string | null;
            /** @description Number of its workers that have joined. */
            readonly joined: number;
            /** @description QUEUE/NUMBER; no other allocation has the number. */
            readonly name: string;
            /** @description When it started; null: not yet. */
            readonly started: number | null;
            /** @description `wanted`: whether the other scheduler has it is not known yet; `submitted`: it waits for its start; `running`; `ended`. */
            readonly state: string;
            /** @description Why it has not started, in a word of the other scheduler, as `Priority`; null: it runs, or the other scheduler has not said. */
            readonly waits_for: string | null;
            /** @description When it was decided. */
            readonly wanted: number;
            /** @description Number of its workers. */
            readonly workers: number;
        };
        /** @description What users wrote about an experiment or a trial. */
        readonly Annotation: {
            /** @description Its labels, ascending. */
            readonly labels: readonly string[];
            /** @description Text that users wrote about it; "" if there is none. */
            readonly note: string;
            /** @description Whether it has a star. */
            readonly starred: boolean;
        };
        /** @description The parts of an annotation that change. */
        readonly AnnotationChange: {
            /** @description All labels, at most 50 of at most 100 bytes. */
            readonly labels?: readonly string[];
            /** @description Any text of at most 10,000 bytes. */
            readonly note?: string;
            /** @description Whether it has a star. */
            readonly starred?: boolean;
        };
        /** @description An OpenAPI document. */
        readonly ApiDescription: {
            /** @description All schemas and shared parts. */
            readonly components: Record<string, unknown>;
            /** @description Version of OpenAPI. */
            readonly openapi: string;
            /** @description All routes, by path. */
            readonly paths: Record<string, unknown>;
        };
        /** @description A trial that a client runs. */
        readonly AskedTrial: {
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description Checkpoint to begin with; "" if there is none. */
            readonly checkpoint: string;
            /** @description Hyperparameters of the trial. */
            readonly hparams: unknown;
            /** @description The lease, to be sent with each report. */
            readonly lease: string;
            /** @description A trial of which nothing is reported for this long is lost. */
            readonly lease_seconds: number;
            /** @description Length to train to. */
            readonly length: number;
            /** @description Highest step that earlier attempts of the trial reported. */
            readonly reached: number;
            /** @description Seed of the trial. */
            readonly seed: number;
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description Trials that a client runs. */
        readonly AskedTrials: {
            /** @description ID of the experiment. */
            readonly experiment: number;
            /**
             * @description State of the experiment; no more trials come when it has ended.
             * @enum {string}
             */
            readonly state: "ACTIVE" | "PAUSED" | "STOPPING" | "COMPLETED" | "CANCELED" | "FAILED";
            /** @description The trials that can start now; may be empty. */
            readonly trials: readonly components["schemas"]["AskedTrial"][];
        };
        /** @description How much of its machine an attempt uses now. */
        readonly AttemptLoad: {
            /** @description When it was measured, by the worker's clock. */
            readonly at: number;
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description Number of cores that its processes keep busy; null: not measured. */
            readonly cores: number | null;
            /** @description Load of the devices that its slots use. */
            readonly devices: readonly components["schemas"]["DeviceLoad"][];
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description Memory of its processes; null: not measured. */
            readonly memory_bytes: number | null;
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description An attempt. */
        readonly AttemptName: {
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description A request that changed something, was refused or signed somebody in. */
        readonly AuditEntry: {
            /**
             * @description How the request came.
             * @enum {string}
             */
            readonly channel: "socket" | "tcp" | "tls" | "workers";
            /** @description For a refusal: the number of further refused requests of this address or token within a minute that the line stands for. */
            readonly count?: number;
            /** @description User or address from which it came. */
            readonly from: string;
            /** @description Method of the request. */
            readonly method: string;
            /** @description Name of the caller; "" for strangers. */
            readonly name: string;
            /** @description Number of the line, from 1. */
            readonly number: number;
            /** @description Path of the request, cut if it is long. */
            readonly path: string;
            /** @description SHA-256 of the line before. */
            readonly previous: string;
            /** @description `X-Request-Id` of the answer. */
            readonly request: string;
            /** @description What was changed or created, such as `experiments/3`. */
            readonly resource?: string;
            /** @description Role of the caller. */
            readonly role: string;
            /** @description Status of the answer. */
            readonly status: number;
            /** @description When the request was answered. */
            readonly time: number;
            /** @description ID of the caller's token; "" without a token. */
            readonly token: string;
            /** @description Workspace of what was changed; "" if it has none. */
            readonly workspace?: string;
        };
        /** @description A page of the audit log, oldest first. */
        readonly AuditPage: {
            /** @description The lines, oldest first. */
            readonly entries: readonly components["schemas"]["AuditEntry"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
        };
        /** @description What became of a copy of the store. */
        readonly BackupResult: {
            /** @description Whether a backup was made of the copy and checked; only such ones count. */
            readonly good: boolean;
            /** @description Path of the copy. */
            readonly path: string;
        };
        /** @description A moment at which the best metric became better. */
        readonly BestPoint: {
            /** @description Length at which it was measured. */
            readonly length: number;
            /** @description The new best metric. */
            readonly metric: number;
            /** @description Slot time that all trials had used by then. */
            readonly slot_seconds: number;
            /** @description When it was reported. */
            readonly time: number;
            /** @description Number of the trial that reported the metric. */
            readonly trial: number;
            /** @description How many trials there were by then. */
            readonly trials: number;
        };
        /** @description The best result so far. */
        readonly BestResult: {
            /** @description Sample standard deviation of these; null with fewer than two. */
            readonly deviation?: components["schemas"]["Metric"] | null;
            /** @description Mean over the repeated trainings of the finalist. */
            readonly mean?: components["schemas"]["Metric"] | null;
            /** @description Its best metric. */
            readonly metric: components["schemas"]["Metric"];
            /** @description Step at which it was measured. */
            readonly step: components["schemas"]["Count"];
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description A bracket of the search. */
        readonly BracketPreview: {
            /** @description Lengths of the rungs, shortest first. */
            readonly lengths: readonly number[];
            /** @description Its share of `max_concurrent_trials`; 0: no fixed share. */
            readonly share: number;
            /** @description Number of trials of the bracket. */
            readonly trials: unknown;
        };
        /** @description Who sends the requests. */
        readonly Caller: {
            /** @description Token or user, such as "token ci", "user ann@example.org" or "uid 1000". */
            readonly name: string;
            /** @description The name of the same token or user as experiments show it. */
            readonly owner: string;
            /** @description The role of the caller. */
            readonly role: string;
            /** @description The user that runs its programs on workers with `--run-as submitter`; "": none. */
            readonly unix_user: string;
            /** @description Workspaces in which it has this role; ["*"]: all. */
            readonly workspaces: readonly string[];
        };
        /** @description A checkpoint of a trial. */
        readonly Checkpoint: {
            /** @description Whether it is the trial's best one. */
            readonly best: boolean;
            /** @description Size of all its files. */
            readonly bytes: number;
            /** @description Number of its files. */
            readonly files: number;
            /** @description ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP. */
            readonly id: string;
            /** @description Whether it is the trial's latest one. */
            readonly latest: boolean;
            /** @description Metric at exactly this step; null if there is none. */
            readonly metric: components["schemas"]["Metric"] | null;
            /** @description Directory of the checkpoint. */
            readonly path: string;
            /** @description Step of the checkpoint. */
            readonly step: components["schemas"]["Count"];
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description Checkpoints whose files are to be deleted. */
        readonly CheckpointDeletion: {
            /** @description Paths of checkpoints, as `GET …/checkpoints` lists them. */
            readonly paths: readonly string[];
        };
        /** @description A file of a checkpoint. */
        readonly CheckpointFile: {
            /** @description Size of the file. */
            readonly bytes: number;
            /** @description CRC-32C of the content; null for a link. */
            readonly crc32c: number | null;
            /** @description Where it leads; null if it is no symbolic link. */
            readonly link: string | null;
            /** @description Path below the checkpoint's directory. */
            readonly path: string;
        };
        /** @description Files of a checkpoint. */
        readonly CheckpointFiles: {
            /** @description Size of all its files. */
            readonly bytes: number;
            /** @description All files of the checkpoint. */
            readonly files: readonly components["schemas"]["CheckpointFile"][];
            /** @description ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP. */
            readonly id: string;
            /** @description Directory of the checkpoint. */
            readonly path: string;
            /** @description Step of the checkpoint. */
            readonly step: number;
        };
        /** @description Checkpoints of an experiment. */
        readonly CheckpointPage: {
            /** @description Number of checkpoints whose files are being deleted. */
            readonly being_deleted: number;
            /** @description The checkpoints, by trial. */
            readonly checkpoints: readonly components["schemas"]["Checkpoint"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: unknown;
            /** @description Number of trials of the experiment. */
            readonly total: number;
        };
        /** @description A column. */
        readonly ColumnField: {
            /** @description Name of the column. */
            readonly name: string;
            /**
             * @description Type of its numbers in the binary form.
             * @enum {string}
             */
            readonly type: "f64" | "i64" | "u32" | "u16" | "u8";
            /** @description What the numbers of this column stand for: word 0, word 1 and so on. */
            readonly words?: readonly unknown[];
        };
        /** @description Trials as columns of numbers. */
        readonly Columns: {
            /** @description For each field a list with a number or null for each row. */
            readonly columns: readonly (readonly unknown[])[];
            /** @description The columns, in order. */
            readonly fields: readonly components["schemas"]["ColumnField"][];
            /** @description Length at which `result` was measured; null if trials are not compared at one length. */
            readonly length: number | null;
            /** @description Other lengths that the parameter `length` accepts: the rungs. */
            readonly lengths: readonly components["schemas"]["ComparedLength"][];
            /** @description Sequence number of the event after which all rows looked like this. */
            readonly lsn: number;
            /** @description Number of rows. */
            readonly rows: number;
            /** @description The texts that the condition `where` joins by `and`; without a condition none. */
            readonly terms: readonly string[];
            /** @description Number of trials of the experiment. */
            readonly total: number;
        };
        /** @description Why most failed attempts of an experiment failed. */
        readonly CommonFailure: {
            /** @description Number of attempts that failed in this way, 2 or more. */
            readonly attempts: number;
            /** @description Number of the trial that failed last in this way. */
            readonly trial: number;
            /** @description How its attempt ended, and the last line of its log. */
            readonly why: string;
        };
        /** @description A length at which trials are compared. */
        readonly ComparedLength: {
            /** @description Length at which trials can be compared. */
            readonly length: number;
            /** @description Number of finite results at this length. */
            readonly results: number;
        };
        /** @description The options of the daemon that were set; all others have their defaults. */
        readonly Configuration: {
            /** @description In the order of their keys. */
            readonly options: readonly components["schemas"]["ConfiguredOption"][];
        };
        /** @description An option of the daemon that was set. */
        readonly ConfiguredOption: {
            /** @description The file and line, the variable or the flag that has set it. */
            readonly from: string;
            /** @description Key in configuration files, such as `http.listen`. */
            readonly key: string;
            /** @description Its value; lists have several or none. A switch has `true` or `false`. */
            readonly values: readonly string[];
        };
        /** @description A whole number from 0; text where it is above 9223372036854775807. */
        readonly Count: number | string;
        /** @description The experiment that was created. */
        readonly CreatedExperiment: {
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description Why the daemon does not keep the experiment file as written. */
            readonly note?: string;
        };
        /** @description A learning curve. */
        readonly Curve: {
            /** @description Promotions, pauses and ends of the trial, in order. */
            readonly events: readonly components["schemas"]["CurveEvent"][];
            /** @description For each part its last value. */
            readonly last: readonly (number | null)[];
            /** @description For each part its largest value. */
            readonly max: readonly (number | null)[];
            /** @description For each part its smallest value. */
            readonly min: readonly (number | null)[];
            /** @description Values that are not finite: pairs of a step and `nan`, `inf` or `-inf`. */
            readonly nonfinite: readonly (readonly [
                number,
                string
            ])[];
            /** @description Number of the longest rung that the trial reached, from 0; null without rungs. */
            readonly rung: number | null;
            /**
             * @description State of the trial.
             * @enum {string}
             */
            readonly state: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "STOPPED" | "FAILED" | "CANCELED";
            /** @description For each part of the curve the step of its last value. */
            readonly step: readonly number[];
            /** @description For each part the time of its last value; null if the store kept none. */
            readonly time: readonly (number | null)[];
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description How many curves pass through each part of the plot. */
        readonly CurveDensity: {
            /** @description Number of values above all edges. */
            readonly above: number;
            /** @description Number of values below all edges. */
            readonly below: number;
            /** @description For each part of the steps the number of values in each part of the values. */
            readonly counts: readonly (readonly number[])[];
            /** @description Name of the metric. */
            readonly metric: string;
            /** @description Number of values that are not finite. */
            readonly nonfinite: number;
            /** @description Edges of the parts along the steps. */
            readonly steps: readonly number[];
            /** @description Number of trials that reported the metric. */
            readonly trials: number;
            /** @description Edges of the parts along the values. */
            readonly values: readonly number[];
        };
        /** @description What happened to a trial. */
        readonly CurveEvent: {
            /** @description Step of the trial at that time. */
            readonly step: number;
            /** @description When it happened. */
            readonly time: number;
            /**
             * @description What happened to the trial.
             * @enum {string}
             */
            readonly what: "promoted" | "paused" | "stopped" | "restarted" | "finished";
        };
        /** @description Learning curves of chosen trials. */
        readonly Curves: {
            /** @description The part of the name before its last dot. */
            readonly group: string;
            /** @description Sequence number of the last event that the curves contain. */
            readonly lsn: number;
            /** @description Name of the metric. */
            readonly metric: string;
            /** @description The cut-offs of the rungs. */
            readonly rungs: readonly components["schemas"]["RungLine"][];
            /** @description The curves, by trial. */
            readonly trials: readonly components["schemas"]["Curve"][];
            /** @description Unit of steps. */
            readonly unit: string;
        };
        /** @description The experiment that was deleted. */
        readonly DeletedExperiment: {
            /** @description ID of the experiment, which is not used again. */
            readonly experiment: number;
        };
        /** @description The device of a slot. */
        readonly Device: {
            /** @description Index of the device on its machine. */
            readonly index: number;
            /** @description Memory of the device. */
            readonly memory_bytes: number;
            /** @description Name of the device's model. */
            readonly name: string;
            /** @description UUID of the device, as its driver gives it. */
            readonly uuid: string;
        };
        /** @description How much a device is used now. */
        readonly DeviceLoad: {
            /** @description Index of the device on its machine. */
            readonly index: number;
            /** @description Its memory in use; null: not measured. */
            readonly memory_bytes: number | null;
            /** @description Percent of the time; null: not measured. */
            readonly utilization: number | null;
        };
        /** @description How much a device was used. */
        readonly DeviceUtilization: {
            /** @description Index of the device on its machine. */
            readonly index: number;
            /** @description Its largest memory in use, by programs of anybody; null: not measured. */
            readonly memory_bytes: readonly (number | null)[];
            /** @description Percent of the time in which it was busy, with programs of anybody; null: not measured. */
            readonly utilization: readonly (number | null)[];
        };
        /** @description What became of a trial that ended at its client. */
        readonly EndedTrial: {
            /**
             * @description State of the experiment now.
             * @enum {string}
             */
            readonly state: "ACTIVE" | "PAUSED" | "STOPPING" | "COMPLETED" | "CANCELED" | "FAILED";
            /** @description Number of the trial. */
            readonly trial: number;
            /**
             * @description State of the trial now.
             * @enum {string}
             */
            readonly trial_state: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "STOPPED" | "FAILED" | "CANCELED";
        };
        /** @description How a trial ended at its client. */
        readonly EndOfLease: {
            /** @description The lease of the trial. */
            readonly lease: string;
            /** @description Why it ended so, for people. */
            readonly message?: string | null;
            /**
             * @description How the trial ended.
             * @enum {string}
             */
            readonly state: "completed" | "failed" | "invalid_hyperparameters";
        };
        /** @description Why a request failed. */
        readonly Error: {
            /** @description `bad_request`, `not_found`, `wrong_state`, `conflict` or `unavailable`. */
            readonly code: string;
            /** @description What went wrong, as a sentence. */
            readonly message: string;
            /** @description The single problems, if there are several. */
            readonly problems?: readonly components["schemas"]["FieldProblem"][];
        };
        /** @description A stored event. */
        readonly Event: {
            /** @description When it happened. */
            readonly at: number;
            /** @description Sequence number of the event. */
            readonly lsn: number;
            /** @description Type of the event; proto/SCHEMA.md lists the types and their further fields. */
            readonly type: string;
        };
        /** @description Stored events in their order. */
        readonly EventPage: {
            /** @description The events, in order. */
            readonly events: readonly components["schemas"]["Event"][];
            /** @description The next page's `after`. */
            readonly last_lsn: number;
        };
        /** @description An experiment. */
        readonly Experiment: {
            /** @description Whether it has ended and lists leave it out. */
            readonly archived: boolean;
            /** @description The best result so far; null if there is none. */
            readonly best: components["schemas"]["BestResult"] | null;
            /** @description The cause that failed most attempts since the start or the last resumption; null if none failed two. */
            readonly common_failure: components["schemas"]["CommonFailure"] | null;
            /** @description Size of the packed context. */
            readonly context_bytes: number;
            /** @description SHA-256 of the packed context; "": workers use `context_directory` itself. */
            readonly context_digest: string;
            /** @description Absolute path of the context directory. */
            readonly context_directory: string;
            /** @description When it was submitted. */
            readonly created_at: number;
            /** @description What of the search its user may not mean, such as its direction. */
            readonly doubts: readonly string[];
            /** @description When it ended; null before. */
            readonly ended_at: number | null;
            /** @description From length to the number of closed trials that were asked for it last and reached it. */
            readonly final_counts: {
                readonly [key: string]: number;
            };
            /** @description With `repeats` and from the end of the search on: the finalists, best mean first. */
            readonly finalists: readonly components["schemas"]["Finalist"][];
            /** @description When the first attempt got its slots; null before. */
            readonly first_lease_at: number | null;
            /** @description The Git checkout that the context was part of, if a client sent it. */
            readonly git?: components["schemas"]["GitState"];
            /** @description ID of the experiment. */
            readonly id: number;
            /** @description Its labels: those of the experiment file, until a user changes them. */
            readonly labels: readonly string[];
            /** @description When slots were released last; null before. */
            readonly last_release_at: number | null;
            /** @description Length if every trial had trained to `max_length`, or as far as its program goes by itself. */
            readonly length_full: components["schemas"]["Count"];
            /** @description Length that all trials trained together. */
            readonly length_trained: components["schemas"]["Count"];
            /** @description Number of trials that trained and reported no step; `length_trained` lacks something of each. */
            readonly length_unreported: number;
            /** @description Longest length of a trial. */
            readonly max_length: components["schemas"]["Count"];
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description Name of the experiment. */
            readonly name: string;
            /** @description Text that users wrote about it; "" if there is none. */
            readonly note: string;
            /** @description Notes about how its programs report, one of each kind. */
            readonly notes: readonly components["schemas"]["Note"][];
            /** @description Name of the user or token that submitted it; "": not recorded. */
            readonly owner: string;
            /** @description Programs that replaced this context, in order. */
            readonly programs: readonly components["schemas"]["ProgramChange"][];
            /** @description Share of the planned search that is done, 0 to 1; never decreases. */
            readonly progress: number | null;
            /** @description Project of the experiment; `default` if the file names none. */
            readonly project: string;
            /** @description Whether the store was restored while the experiment was going on; lengths and slot time lack what ran between backup and restore then. */
            readonly ran_unlogged: boolean;
            /** @description Why it stops or has ended; "" otherwise. */
            readonly reason: string;
            /** @description Each length that was the last one asked of a trial, in ascending order. */
            readonly rungs: readonly components["schemas"]["ReachedLength"][];
            /** @description Name of the searcher. */
            readonly searcher: string;
            /** @description Slots times time under lease, until now. */
            readonly slot_seconds: number;
            /** @description Whether smaller metrics are better. */
            readonly smaller_is_better: boolean;
            /** @description The checkpoint with which its trials start; null if there is none. */
            readonly source: components["schemas"]["SourceCheckpoint"] | null;
            /** @description Whether a user marked it with a star. */
            readonly starred: boolean;
            /**
             * @description State of the experiment.
             * @enum {string}
             */
            readonly state: "ACTIVE" | "PAUSED" | "STOPPING" | "COMPLETED" | "CANCELED" | "FAILED";
            /** @description Number of trials by state. */
            readonly trials: {
                readonly [key: string]: number;
            };
            /** @description Number of trials. */
            readonly trials_total: number;
            /** @description Unit of lengths. */
            readonly unit: string;
            /** @description Why no trial runs; "" if one does. */
            readonly waits_for?: string;
            /** @description Workspace of the experiment; `default` if the file names none. */
            readonly workspace: string;
        };
        /** @description Experiments by number. */
        readonly ExperimentPage: {
            /** @description The experiments, in the order asked for. */
            readonly experiments: readonly components["schemas"]["ExperimentSummary"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: unknown;
        };
        /** @description An experiment in a list. */
        readonly ExperimentSummary: {
            /** @description Whether it has ended and lists leave it out. */
            readonly archived: boolean;
            /** @description The best result so far; null if there is none. */
            readonly best: components["schemas"]["BestResult"] | null;
            /** @description The cause that failed most attempts since the start or the last resumption; null if none failed two. */
            readonly common_failure: components["schemas"]["CommonFailure"] | null;
            /** @description When it was submitted. */
            readonly created_at: number;
            /** @description When it ended; null before. */
            readonly ended_at: number | null;
            /** @description ID of the experiment. */
            readonly id: number;
            /** @description Its labels: those of the experiment file, until a user changes them. */
            readonly labels: readonly string[];
            /** @description Longest length of a trial. */
            readonly max_length: components["schemas"]["Count"];
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description Name of the experiment. */
            readonly name: string;
            /** @description Text that users wrote about it; "" if there is none. */
            readonly note: string;
            /** @description Name of the user or token that submitted it; "": not recorded. */
            readonly owner: string;
            /** @description Share of the planned search that is done, 0 to 1; never decreases. */
            readonly progress: number | null;
            /** @description Project of the experiment; `default` if the file names none. */
            readonly project: string;
            /** @description Why it stops or has ended; "" otherwise. */
            readonly reason: string;
            /** @description Name of the searcher. */
            readonly searcher: string;
            /** @description Whether smaller metrics are better. */
            readonly smaller_is_better: boolean;
            /** @description Whether a user marked it with a star. */
            readonly starred: boolean;
            /**
             * @description State of the experiment.
             * @enum {string}
             */
            readonly state: "ACTIVE" | "PAUSED" | "STOPPING" | "COMPLETED" | "CANCELED" | "FAILED";
            /** @description Number of trials by state. */
            readonly trials: {
                readonly [key: string]: number;
            };
            /** @description Number of trials. */
            readonly trials_total: number;
            /** @description Unit of lengths. */
            readonly unit: string;
            /** @description Why no trial runs; "" if one does. */
            readonly waits_for?: string;
            /** @description Workspace of the experiment; `default` if the file names none. */
            readonly workspace: string;
        };
        /** @description Why a trial is where it is. */
        readonly Explanation: {
            /** @description For a trial that will be promoted: this number of free slots of the experiment goes to other trials first. Else null. */
            readonly ahead: number | null;
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description The stored events of the trial except reports, in order. */
            readonly history: readonly components["schemas"]["Event"][];
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description What has to happen next; "" if nothing can. */
            readonly next: string;
            /** @description What the trial does or waits for, as a sentence with numbers. */
            readonly now: string;
            /** @description The program that the trial runs; null: the one that the experiment was submitted with. */
            readonly program: components["schemas"]["ProgramChange"] | null;
            /** @description How often the program of the experiment was changed. */
            readonly program_changes: number;
            /** @description Its present rank as a reason. */
            readonly reason: components["schemas"]["Reason"];
            /** @description For a trial that waits at a rung: it is promoted after this number of further results behind it; 0: the rung already keeps it. Else null. */
            readonly results_needed: number | null;
            /** @description For such a trial: the most results that can still enter the rung. Below `results_needed` it can't be promoted. Else null. */
            readonly results_to_come: number | null;
            /** @description The checkpoint from which the trials of the experiment start; null if there is none. */
            readonly source: components["schemas"]["SourceCheckpoint"] | null;
            /**
             * @description State of the trial.
             * @enum {string}
             */
            readonly state: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "STOPPED" | "FAILED" | "CANCELED";
            /** @description Number of the trial. */
            readonly trial: number;
            /** @description Unit of lengths. */
            readonly unit: string;
        };
        /** @description A check that failed. */
        readonly FailingCheck: {
            /** @description Name of the check. */
            readonly check: string;
            /** @description Why it fails. */
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
            /** @description Sample standard deviation of these; null with fewer than two. */
            readonly deviation: components["schemas"]["Metric"] | null;
            /** @description Hyperparameters of the finalist. */
            readonly hparams: Record<string, unknown>;
            /** @description Mean of the metrics at full length; null if there is none. */
            readonly mean: components["schemas"]["Metric"] | null;
            /** @description Its trainings, one per trial. */
            readonly trainings: readonly components["schemas"]["Training"][];
        };
        /** @description A worker that was forgotten. */
        readonly ForgottenWorker: {
            /** @description ID of the worker, which is not used again. */
            readonly id: number;
            /** @description Name of the worker. */
            readonly name: string;
        };
        /** @description Forgotten workers by number. */
        readonly ForgottenWorkerPage: {
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
            /** @description The forgotten workers, by ID. */
            readonly workers: readonly components["schemas"]["ForgottenWorker"][];
        };
        /** @description A submission. */
        readonly Fork: {
            /** @description The experiment file without its secrets; they have to be filled in. */
            readonly config: Record<string, unknown>;
            /** @description SHA-256 of the context, or "". */
            readonly context_digest: string;
            /** @description Absolute path of the context directory, or "". */
            readonly context_directory: string;
            /** @description Name of the experiment. */
            readonly name: string;
        };
        /** @description The Git checkout that the context was part of. */
        readonly GitState: {
            /** @description Branch; "" if the commit was checked out without one. */
            readonly branch: string;
            /** @description Commit in hexadecimal: 40 or 64 digits. */
            readonly commit: string;
            /** @description Whether the context directory had uncommitted changes or new files. */
            readonly dirty: boolean;
        };
        /** @description Whether the daemon works. */
        readonly Health: {
            /**
             * @description `ok`, or `degraded` if the storage takes less than usual.
             * @enum {string}
             */
            readonly status: "ok" | "degraded";
            /** @description `ample`, `low`, `scarce`, `exhausted`, `full`, or `away`: the store's database doesn't answer. */
            readonly storage: string;
            /** @description What is wrong with the storage. */
            readonly why?: string;
        };
        /** @description An attempt that runs on the worker and is not in the store. */
        readonly HeldAttempt: {
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description Whether its program has ended. */
            readonly exited: boolean;
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description EXPERIMENT/TRIAL/ATTEMPT for people. */
            readonly label: string;
            /** @description Lease of the attempt. */
            readonly lease: number;
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description How the best metric became better. */
        readonly History: {
            /** @description Limits of the search; null if there are none. */
            readonly budget: components["schemas"]["HistoryBudget"] | null;
            /** @description Where the history stands now. */
            readonly end: components["schemas"]["HistoryEnd"];
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description Each moment at which the best metric improved, in order. */
            readonly points: readonly components["schemas"]["BestPoint"][];
            /** @description Whether smaller metrics are better. */
            readonly smaller_is_better: boolean;
            /** @description When the first trial got its slots; null before that. */
            readonly started_at: number | null;
            /** @description The metric at which the search ends; null if it has none. */
            readonly target: number | null;
            /** @description Unit of lengths. */
            readonly unit: string;
        };
        /** @description Limits of a search. */
        readonly HistoryBudget: {
            /** @description The most failed trials; null: no limit. */
            readonly max_failed_trials: number | null;
            /** @description The most slot hours of the search; null: no limit. */
            readonly max_slot_hours: number | null;
            /** @description The longest time of the search in seconds; null: no limit. */
            readonly max_time: number | null;
        };
        /** @description Where a history stands now. */
        readonly HistoryEnd: {
            /** @description Slot time that all trials have used. */
            readonly slot_seconds: number;
            /** @description The time of this answer, or when the experiment ended. */
            readonly time: number;
            /** @description Number of trials of the experiment. */
            readonly trials: number;
        };
        /** @description How much a hyperparameter matters. */
        readonly HparamShare: {
            /** @description Standard deviation of the share between samples of the results. */
            readonly deviation: number;
            /** @description Path of the hyperparameter. */
            readonly name: string;
            /** @description Rank of the share, from 1. */
            readonly rank: number;
            /** @description Its share of the importance; all shares add up to 1. */
            readonly share: number;
        };
        /** @description Where browsers reach the daemon. */
        readonly HttpPort: {
            /** @description `HOST:PORT`, or `https://HOST:PORT#FINGERPRINT`. */
            readonly http: string;
        };
        /** @description How much each hyperparameter matters, by PED-ANOVA. */
        readonly Importance: {
            /** @description Share of the best results, which are compared with all. */
            readonly gamma: number;
            /** @description The shares, largest first; empty with a `reason`. */
            readonly hyperparameters: readonly components["schemas"]["HparamShare"][];
            /** @description Length of that rung. */
            readonly length: number | null;
            /**
             * @description `results`: the results themselves are compared; `forest`: where a sampler that learns preferred a part of the space, what a forest of regression trees expects evenly over the space.
             * @enum {string}
             */
            readonly method: "results" | "forest";
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description Number of results that an answer needs. */
            readonly needed: number;
            /** @description Number of trials that did not get there or diverged; they count as worse. */
            readonly others: number;
            /** @description Why there are no shares; "" if there are. */
            readonly reason: string;
            /** @description Number of finite results at that length. */
            readonly results: number;
            /** @description Number of the rung whose results are compared, from 0. */
            readonly rung: number;
        };
        /** @description An invite for workers, without its secret. */
        readonly Invite: {
            /** @description When it was created. */
            readonly created: number;
            /** @description Token or user that created it. */
            readonly creator: string;
            /** @description When it expires. */
            readonly expires: number;
            /** @description ID of the invite. */
            readonly id: string;
            /**
             * @description Whether workers can join with it, or why not.
             * @enum {string}
             */
            readonly state: "open" | "used up" | "expired" | "revoked";
            /** @description How many have joined. */
            readonly used: number;
            /** @description How many workers may join with it. */
            readonly uses: number;
            /** @description Names of the workers that have joined; at most 1000. */
            readonly workers: readonly string[];
        };
        /** @description The open invites, and those that ended in the last 7 days. */
        readonly InviteList: {
            /** @description The invites, oldest first, without their secrets. */
            readonly invites: readonly components["schemas"]["Invite"][];
        };
        /** @description The invite to create. */
        readonly InviteRequest: {
            /** @description Host by which the workers reach the daemon, or HOST:PORT; missing: the address on which it listens, or the first one of its machine. */
            readonly address?: string;
            /** @description Life of the invite, above 0 and up to 31536000; missing: 3600. */
            readonly expires_in_seconds?: number;
            /** @description How many workers may join with it, 1 to 100000; missing: 1. */
            readonly uses?: number;
        };
        /** @description A file that a program left. */
        readonly KeptFile: {
            /** @description Size of the file. */
            readonly bytes: number;
            /** @description SHA-256 of the content. */
            readonly digest: string;
            /** @description Whether the file is executable. */
            readonly executable: boolean;
            /** @description Where it leads, if it is a symbolic link. */
            readonly link: unknown;
            /** @description Path below the program's working directory. */
            readonly path: string;
            /** @description ID of the worker that handed it over. */
            readonly worker: number;
        };
        /** @description A bracket. */
        readonly LadderBracket: {
            /** @description Number of the bracket, from 0. */
            readonly bracket: number;
            /** @description Name of the bracket for people. */
            readonly name: string;
            /** @description The rungs of the bracket, shortest first. */
            readonly rungs: readonly components["schemas"]["LadderRung"][];
        };
        /** @description A rung, and what stands in it. */
        readonly LadderRung: {
            /** @description Metric of the last result that goes on; null if none does. */
            readonly cut_off: number | null;
            /** @description How many of its results go on now. */
            readonly keep: number;
            /** @description Length at which the rung compares trials. */
            readonly length: number;
            /** @description The results of the rung, best first. */
            readonly results: readonly components["schemas"]["RungResult"][];
            /** @description The rule by which trials go on, as a sentence. */
            readonly rule: string;
            /** @description Number of the rung; 0 is the shortest. */
            readonly rung: number;
            /** @description How many results the rung has. */
            readonly size: number;
            /** @description Numbers of the trials that train towards the rung. */
            readonly training: readonly number[];
        };
        /** @description An attempt whose processes did not end. */
        readonly LeakedProcesses: {
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description Whether an operator allows the slots to be used nevertheless. */
            readonly released: boolean;
            /** @description Slots that its processes still occupy. */
            readonly slots: readonly number[];
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description The fields of the experiment file that change. */
        readonly LimitChanges: {
            /** @description The changed fields of `budget`. */
            readonly budget?: Record<string, unknown>;
            /** @description The changed fields of `resources`. */
            readonly resources?: Record<string, unknown>;
            /** @description The changed fields of `searcher`. */
            readonly searcher?: Record<string, unknown>;
        };
        /** @description A line of a log. */
        readonly LogMatch: {
            /** @description At most 4,096 bytes of the line. */
            readonly line: string;
            /** @description Offset of the line's first byte. */
            readonly offset: number;
        };
        /** @description A piece of a log, or the lines that were searched for. */
        readonly LogPiece: {
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description With `q`: whether the log was searched to its end. */
            readonly complete?: boolean;
            /** @description Whether the daemon's copy is shown; else the worker's file is. */
            readonly kept?: boolean;
            /** @description With `q` and instead of the text: at most 1,000 lines. */
            readonly matches?: readonly components["schemas"]["LogMatch"][];
            /** @description Offset of the text's first byte. It is larger than the one asked for if bytes were left out. */
            readonly offset?: number;
            /** @description With `q`: the offset with which the same search goes on. */
            readonly searched_to?: number;
            /** @description Size of the whole log in bytes. */
            readonly size?: number;
            /** @description The piece of the log; bytes that are not UTF-8 are replaced by `?`. */
            readonly text?: string;
        };
        /** @description A value of a metric; one that is not finite is a class. */
        readonly Metric: number | {
            /** @enum {string} */
            readonly class: "nan" | "+inf" | "-inf";
        };
        /** @description A metric that programs report. */
        readonly MetricName: {
            /** @description Number of reports that contain the metric. */
            readonly count: number;
            /** @description Lowest step at which it was reported. */
            readonly first_step: number;
            /** @description The part of the name before its last dot; "" without a dot. */
            readonly group: string;
            /** @description Highest step at which it was reported. */
            readonly last_step: number;
            /** @description Name of the metric, as programs report it. */
            readonly name: string;
            /** @description Number of trials that reported the metric. */
            readonly trials: number;
        };
        /** @description The metrics that programs report. */
        readonly MetricNames: {
            /** @description All metrics, by name. */
            readonly metrics: readonly components["schemas"]["MetricName"][];
        };
        /** @description Metrics of a trial in the order of their reports. */
        readonly MetricPage: {
            /** @description The reports, in the order of their arrival. */
            readonly metrics: readonly components["schemas"]["MetricPoint"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: string | null;
        };
        /** @description Metrics that a trial reported. */
        readonly MetricPoint: {
            /** @description Number of the attempt that reported. */
            readonly attempt: number;
            /** @description All metrics of the report, by name. */
            readonly metrics: {
                readonly [key: string]: components["schemas"]["Metric"];
            };
            /** @description Step of the report. */
            readonly step: components["schemas"]["Count"];
        };
        /** @description What a client measured. */
        readonly MetricsOfLease: {
            /** @description The lease of the trial. */
            readonly lease: string;
            /** @description The measured metrics, by name. */
            readonly metrics: {
                readonly [key: string]: components["schemas"]["Metric"];
            };
            /** @description Length that the trial has trained in all. */
            readonly step: number;
        };
        /** @description What the model of a search has learnt. */
        readonly Model: {
            /** @description The configuration with the best expected metric at full length; null without a model. */
            readonly best: components["schemas"]["ModelBest"] | null;
            /** @description ID of the experiment. */
            readonly experiment: number;
            /** @description How much each hyperparameter matters, largest share first. */
            readonly hyperparameters: readonly components["schemas"]["ModelImportance"][];
            /** @description The lengths that have results, and the full length. */
            readonly lengths: readonly components["schemas"]["ModelLength"][];
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description Number of results from which on there is a model; below it both lists are empty. */
            readonly needed: number;
            /** @description Number of results so far. */
            readonly results: number;
            /** @description Unit of lengths. */
            readonly unit: string;
        };
        /** @description The best configuration by the model. */
        readonly ModelBest: {
            /** @description Standard deviation of the expectation. */
            readonly deviation: components["schemas"]["Metric"];
            /** @description Hyperparameters of the configuration. */
            readonly hparams: Record<string, unknown>;
            /** @description Expected metric at full length. */
            readonly mean: components["schemas"]["Metric"];
            /** @description Number of the trial that has the configuration; null if none has. */
            readonly trial: number | null;
        };
        /** @description How much a hyperparameter matters. */
        readonly ModelImportance: {
            /** @description Distance within which metrics stay alike, as a part of the range. */
            readonly length_scale: number;
            /** @description Path of the hyperparameter. */
            readonly name: string;
            /** @description Its share of the mean squared distance between two random configurations, as the model sees it; all shares add up to 1. */
            readonly share: number;
        };
        /** @description How well a length predicts the full one. */
        readonly ModelLength: {
            /** @description Learned correlation of metrics at this length with those at full length. */
            readonly correlation: components["schemas"]["Metric"];
            /** @description Length of the compared results. */
            readonly length: components["schemas"]["Count"];
            /** @description Number of results at this length. */
            readonly results: number;
        };
        /** @description An invite with its token. */
        readonly NewInvite: {
            /** @description Where the workers will reach the daemon: `tcp://HOST:PORT`. */
            readonly address: string;
            /** @description When it was created. */
            readonly created: number;
            /** @description Token or user that created it. */
            readonly creator: string;
            /** @description When it expires. */
            readonly expires: number;
            /** @description ID of the invite. */
            readonly id: string;
            /**
             * @description Whether workers can join with it, or why not.
             * @enum {string}
             */
            readonly state: "open" | "used up" | "expired" | "revoked";
            /** @description The token for `hpsearch-worker join`. No other answer contains it. */
            readonly token: string;
            /** @description How many have joined. */
            readonly used: number;
            /** @description How many workers may join with it. */
            readonly uses: number;
            /** @description Names of the workers that have joined; at most 1000. */
            readonly workers: readonly string[];
        };
        /** @description A token with its secret. */
        readonly NewToken: {
            /** @description When it was created; null if unknown. */
            readonly created: number | null;
            /** @description Token or user that created it. */
            readonly creator: string;
            /** @description When it expires; null: never. */
            readonly expires: number | null;
            /** @description ID of the token. */
            readonly id: string;
            /** @description Start of the day on which it was used last; null: never used. */
            readonly last_used_day: number | null;
            /** @description Name of the token. */
            readonly name: string;
            /**
             * @description Role of the token.
             * @enum {string}
             */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description The secret. No other answer contains it. */
            readonly token: string;
            /** @description The user that runs its programs on workers with `--run-as submitter`; "": none. */
            readonly unix_user: string;
            /** @description Workspaces in which it has this role; ["*"]: all. */
            readonly workspaces: readonly string[];
        };
        /** @description What the daemon noticed about an attempt. */
        readonly Note: {
            /** @description Kind of the note. */
            readonly about: string;
            /** @description Number of the first attempt with this note. */
            readonly attempt: number;
            /** @description Number of attempts with this note. */
            readonly attempts: number;
            /** @description The note as a sentence. */
            readonly text: string;
            /** @description Number of the first trial with this note. */
            readonly trial: number;
        };
        /** @description A file that the daemon does not have. */
        readonly OtherFile: {
            /** @description Size of the file. */
            readonly bytes: number;
            /** @description Path below the program's working directory. */
            readonly path: string;
            /** @description Why the daemon doesn't have it. */
            readonly why: string;
            /** @description ID of the worker on which the program ran. */
            readonly worker: number;
        };
        /** @description What an experiment would cost. */
        readonly Preview: {
            /** @description The brackets of the search. */
            readonly brackets: readonly components["schemas"]["BracketPreview"][];
            /** @description Length that these train together; null if it is too large to count. */
            readonly expected_length: number | null;
            /** @description For each bracket, the number of trials expected to train to each length if results come in random order. */
            readonly expected_reach: readonly (readonly number[])[];
            /** @description From length to the number of trials that end there, if all metrics are equal. */
            readonly final_counts: {
                readonly [key: string]: number;
            };
            /** @description Length if every trial trained to the maximum; null if it is too large to count. */
            readonly full_length: number | null;
            /** @description At most this many further trials, which train finalists again; counts and lengths include them. */
            readonly repeats: number;
            /** @description Length that all trials train together, if all metrics are equal; null if it is too large to count. */
            readonly total_length: number | null;
            /** @description Number of trials, without `repeats`. */
            readonly trials: number;
            /** @description Likely mistakes, then settings that performed better in measurements, each after `advice: `. */
            readonly warnings: readonly string[];
        };
        /** @description The answer to a request that failed. */
        readonly Problem: {
            /** @description What went wrong, as a sentence. */
            readonly detail: string;
            /** @description Code, message and problems, as `--output json` prints a failure. */
            readonly error: components["schemas"]["Error"];
            /** @description The single problems, each with its place. */
            readonly errors?: readonly components["schemas"]["ProblemItem"][];
            /** @description ID of the request, as in X-Request-Id and in the log. */
            readonly instance: string;
            /** @description Status of the answer. */
            readonly status: number;
            /** @description Title of the kind of problem. */
            readonly title: string;
            /** @description A name for the kind of problem; it does not change. */
            readonly type: string;
        };
        /** @description One thing that is wrong with the request. */
        readonly ProblemItem: {
            /** @description What is allowed. */
            readonly allowed?: string;
            /** @description What is wrong. */
            readonly detail: string;
            /** @description Line of the YAML text. */
            readonly line?: number;
            /** @description Name of a parameter of the query. */
            readonly parameter?: string;
            /** @description The field, as messages name it. */
            readonly path?: string;
            /** @description JSON pointer to the place in the body, or in the experiment file in it. */
            readonly pointer?: string;
        };
        /** @description A program that replaced the one before it. */
        readonly ProgramChange: {
            /** @description Numbers of earlier trials that run it too. */
            readonly also: readonly number[];
            /** @description When the program was changed. */
            readonly at: number;
            /** @description Names of changed files. */
            readonly changed: readonly string[];
            /** @description Size of its context. */
            readonly context_bytes: number;
            /** @description SHA-256 of its context. */
            readonly context_digest: string;
            /** @description Number of the first new trial that runs it. */
            readonly from: number;
        };
        /** @description The program of trials that have reported nothing yet. */
        readonly ProgramRequest: {
            /** @description At most 100 names of changed files. */
            readonly changed?: readonly string[];
            /** @description SHA-256 of a context on the daemon; missing if the experiment uses a directory. */
            readonly context_digest?: string;
        };
        /** @description What a browser brings back from the OpenID provider. */
        readonly ProviderAnswer: {
            /** @description `code` of that address. */
            readonly code: string;
            /** @description The key with which the sign-in began. */
            readonly key: string;
            /** @description `state` of the address to which the provider sent the browser. */
            readonly state: string;
        };
        /** @description Why the worker gets no trials. */
        readonly QuarantineRequest: {
            /** @description What is wrong with the worker, for people. */
            readonly why?: string;
        };
        /** @description A queue of allocations. */
        readonly Queue: {
            /** @description Its allocations; of those that have ended, the last 50. */
            readonly allocations: readonly components["schemas"]["Allocation"][];
            /** @description When it was added. */
            readonly created: number;
            /** @description Who added it. */
            readonly creator: string;
            /** @description Failed allocations in a row; at 3 it pauses itself. */
            readonly failures: number;
            /** @description Number of workers that have joined. */
            readonly joined: number;
            /** @description What was wrong with the last of them. */
            readonly last_failure: string;
            /** @description Name of the queue. */
            readonly name: string;
            /** @description Number of allocations that wait for their start. */
            readonly pending: number;
            /** @description Until when it asks for nothing; null: it may ask now. */
            readonly rests_until: number | null;
            /** @description Number of allocations that run. */
            readonly running: number;
            /** @description How it asks for allocations. */
            readonly settings: components["schemas"]["QueueSettings"];
            /** @description `active`, `paused` or `removed`. */
            readonly state: string;
            /** @description Seconds that the shortest of these needs until it has saved a checkpoint, or has ended; null: there are none. */
            readonly time_needed: number | null;
            /** @description Number of trials that would be among those if its time limit were longer. */
            readonly trials_too_long: number;
            /** @description Number of trials that wait and would run on its workers. */
            readonly trials_waiting: number;
            /** @description Why it paused itself; null: it did not. */
            readonly why: string | null;
            /** @description Number of workers of all these. */
            readonly workers: number;
        };
        /** @description What the other scheduler says about a queue's allocations. */
        readonly QueueCheck: {
            /** @description What was found out, one sentence each. */
            readonly findings: readonly string[];
            /** @description Whether an allocation would be taken and could start. */
            readonly would_start: boolean;
        };
        /** @description All queues. */
        readonly QueueList: {
            /** @description The queues, by name. */
            readonly queues: readonly components["schemas"]["Queue"][];
        };
        /** @description How a queue is removed. */
        readonly QueueRemoval: {
            /** @description Whether its running allocations are canceled; otherwise they end by themselves. */
            readonly at_once: boolean;
        };
        /** @description A queue to add. */
        readonly QueueRequest: {
            /** @description 1 to 63 lower-case letters, digits and `-`. */
            readonly name: string;
            /** @description How it asks for allocations. */
            readonly settings: components["schemas"]["QueueSettings"];
        };
        /** @description How a queue asks another scheduler for allocations. */
        readonly QueueSettings: {
            /** @description Line of shell after all workers of an allocation. */
            readonly after: string;
            /** @description More arguments for its command that submits a job, or a description of the pod for Kubernetes. */
            readonly arguments: readonly string[];
            /** @description The other scheduler: `slurm`, `kubernetes` or `kubernetes/NAMESPACE`, `pbs`, `lsf`, `gridengine`, `ray`, or the path of a directory with the programs submit, status and cancel. */
            readonly backend: string;
            /** @description The most allocations that wait for their start. */
            readonly backlog: number;
            /** @description Line of shell before each worker. */
            readonly before: string;
            /** @description Seconds before the end of an allocation at which its trials save a checkpoint and end. */
            readonly give_back: number;
            /** @description Seconds after which a worker without a trial ends. */
            readonly idle_timeout: number;
            /** @description Labels of its workers. */
            readonly labels: {
                readonly [key: string]: string;
            };
            /** @description The most workers at once, waiting ones included. */
            readonly max_workers: number;
            /** @description The fraction of its slots that trials must keep busy for a further allocation. */
            readonly min_utilization: number;
            /** @description Pool of its workers; empty: the default pool. */
            readonly pool: string;
            /** @description Slots of a worker; null: each worker finds out by itself. */
            readonly slots: number | null;
            /** @description Directory for the state of workers, for a shell on the node; empty: `$TMPDIR`. */
            readonly state_root: string;
            /** @description Seconds that an allocation lasts at most. */
            readonly time_limit: number;
            /** @description Number of workers of an allocation. */
            readonly workers: number;
            /** @description Words before the command of each worker. */
            readonly wrap: string;
        };
        /** @description A text of a queue or an allocation. */
        readonly QueueText: {
            /** @description The scripts of an allocation, or what it wrote. */
            readonly text: string;
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
            /** @description Length that trials were asked for. */
            readonly length: components["schemas"]["Count"];
            /** @description Number of trials that trained this far. */
            readonly reached: number;
        };
        /** @description Whether the daemon takes all requests. */
        readonly Readiness: {
            /** @description The checks that fail. */
            readonly failing: readonly components["schemas"]["FailingCheck"][];
            /** @description Whether the daemon takes all requests. */
            readonly ready: boolean;
        };
        /** @description Why something happened. */
        readonly Reason: {
            /** @description Length of the rung. */
            readonly at?: components["schemas"]["Count"];
            /** @description Number of the bracket, from 0. */
            readonly bracket?: number;
            /** @description Metric of the last result that goes on; for no_improvement, the metric to beat. */
            readonly cutoff?: number;
            /** @description What else is known about it, as text. */
            readonly detail?: string;
            /** @description What the model of the search expected of the configuration. */
            readonly expected?: Record<string, unknown>;
            /** @description How many results of the rung go on. */
            readonly keep?: number;
            /** @description Number of the trial near which the configuration was drawn. */
            readonly near?: number;
            /** @description Rank of the latest result of that trial; 0 is the best. */
            readonly near_rank?: number;
            /** @description Rank among the results of the rung; 0 is the best. */
            readonly rank?: number;
            /** @description Number of trials that had results at that time. */
            readonly results?: number;
            /** @description Number of the rung in its bracket; 0 is the shortest. */
            readonly rung?: number;
            /** @description Number of results in the rung, including this one. */
            readonly size?: number;
            /** @description How far around that trial it was drawn, as a part of each range. */
            readonly spread?: number;
            /** @description The reason as a sentence; the other fields say it in numbers. */
            readonly text: string;
            /** @description Metric of the trial that a rule compared. */
            readonly value?: number;
            /**
             * @description Kind of the reason.
             * @enum {string}
             */
            readonly why: "new_trial" | "replacement" | "given_point" | "near_trial" | "before_model" | "explored" | "model_choice" | "repeat" | "promoted" | "waits_at_rung" | "below_cutoff" | "rung_closed" | "worse_than_others" | "no_improvement" | "max_length" | "early_exit" | "user" | "paused_itself" | "experiment_end";
        };
        /** @description A token that is revoked. */
        readonly RevokedToken: {
            /** @description ID of the revoked token. */
            readonly revoked: string;
        };
        /** @description Where all trials stand at one moment. */
        readonly RungLadder: {
            /** @description The brackets of the search. */
            readonly brackets: readonly components["schemas"]["LadderBracket"][];
            /** @description Sequence number of the event that created the experiment. */
            readonly first_lsn: number;
            /** @description Sequence number of the last event that changed the experiment. */
            readonly last_lsn: number;
            /** @description Sequence number of the event after which the ladder looked like this. */
            readonly lsn: number;
            /** @description Name of the searcher's metric. */
            readonly metric: string;
            /** @description Whether smaller metrics are better. */
            readonly smaller_is_better: boolean;
            /** @description When that event happened. */
            readonly time: number;
        };
        /** @description Where a rung cuts curves off. */
        readonly RungLine: {
            /** @description Number of the bracket. */
            readonly bracket: number;
            /** @description Metric of the last result that goes on; null if none does. */
            readonly cut_off: number | null;
            /** @description Length of the rung. */
            readonly length: number;
            /** @description Number of the rung, from 0. */
            readonly rung: number;
        };
        /** @description A result in a rung. */
        readonly RungResult: {
            /** @description The metric at the rung; null if it is missing or not finite. */
            readonly metric: number | null;
            /** @description `nan`, `inf` or `-inf` if the trial reported that; else null. */
            readonly nonfinite: string | null;
            /** @description Rank among the results of the rung; 0 is the best. */
            readonly rank: number;
            /**
             * @description What became of the trial at this rung.
             * @enum {string}
             */
            readonly state: "promoted" | "waiting" | "stopped" | "finished" | "failed";
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description A search algorithm. */
        readonly Searcher: {
            /** @description Fields of `searcher` that it reads beyond the common ones. */
            readonly fields: readonly string[];
            /** @description Name of the searcher, as `searcher.name` has it. */
            readonly name: string;
            /** @description Fields of `searcher` that it needs. */
            readonly required: readonly string[];
        };
        /** @description All search algorithms. */
        readonly SearcherList: {
            /** @description All searchers of this daemon. */
            readonly searchers: readonly components["schemas"]["Searcher"][];
        };
        /** @description A browser that is signed in. */
        readonly Session: {
            /** @description When the session ends at the latest; null without a cookie. */
            readonly expires_at: number | null;
            /** @description Whether the session may create and rotate tokens, if its role allows that. */
            readonly makes_tokens: boolean;
            /** @description Name of the token or the user. */
            readonly name: string;
            /** @description What the browser sends in the header X-Hpsearch-Page-Key with each request, beside its cookie. Only the answer to a sign-in contains it; elsewhere it is "". */
            readonly page_key: string;
            /**
             * @description Role of the session.
             * @enum {string}
             */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description Workspaces in which it has this role; ["*"]: all. */
            readonly workspaces: readonly string[];
        };
        /** @description What a browser signs in with: one of the two. */
        readonly SignIn: {
            /** @description A code of `hpsearch open`; either this or `token`. */
            readonly code?: string;
            /** @description A token; either this or `code`. */
            readonly token?: string;
        };
        /** @description A sign-in at the OpenID provider that has begun. */
        readonly SignInAtProvider: {
            /** @description The browser goes there. It returns to the page /login. */
            readonly address: string;
            /** @description What the browser keeps, and sends with the provider's answer. */
            readonly key: string;
        };
        /** @description A code with which a browser signs in. */
        readonly SignInCode: {
            /** @description The code, which works once. */
            readonly code: string;
            /** @description How long the code works. */
            readonly expires_in_seconds: number;
        };
        /** @description The session that the code begins. */
        readonly SignInCodeRequest: {
            /** @description Whether the session may create and rotate tokens; only admins may ask for that. */
            readonly makes_tokens?: boolean;
        };
        /** @description Where people sign in, beside tokens. */
        readonly SignInProvider: {
            /** @description Name of the OpenID provider; null: there is none. */
            readonly name: string | null;
        };
        /** @description A slot of a worker. */
        readonly Slot: {
            /** @description Number of the attempt that holds it; null if none is shown. */
            readonly attempt: number | null;
            /** @description Device of the slot; null if it is a share of the CPUs. */
            readonly device: components["schemas"]["Device"] | null;
            /** @description ID of the experiment whose trial holds it; null also if the caller may not see it. */
            readonly experiment: number | null;
            /** @description `gpu`, `npu`, `device` or `cpu`. */
            readonly kind: string;
            /** @description Name of the worker. */
            readonly name: string;
            /** @description Pool of the worker. */
            readonly pool: string;
            /** @description Number of the slot on the worker, from 0. */
            readonly slot: number;
            /**
             * @description `busy`: a trial holds it; `leaked`: processes of an earlier trial did not end; `away`: its worker is not connected; `taken`: another search of its machine has it.
             * @enum {string}
             */
            readonly state: "free" | "busy" | "broken" | "leaked" | "quarantined" | "draining" | "away" | "taken";
            /** @description Number of the trial that holds it; null if none is shown. */
            readonly trial: number | null;
            /** @description What is wrong with a broken slot, or who has a taken one; null otherwise. */
            readonly why: string | null;
            /** @description ID of the worker. */
            readonly worker: number;
        };
        /** @description Slots by worker and number. */
        readonly SlotPage: {
            /** @description The next page's `after`; null on the last page. */
            readonly next: string | null;
            /** @description The slots, by worker and number. */
            readonly slots: readonly components["schemas"]["Slot"][];
        };
        /** @description The checkpoint that trials begin from. */
        readonly SourceCheckpoint: {
            /** @description ID of the experiment that published it. */
            readonly experiment: number;
            /** @description ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP. */
            readonly id: string;
            /** @description Directory of the checkpoint. */
            readonly path: string;
            /** @description Step of the checkpoint. */
            readonly step: components["schemas"]["Count"];
            /** @description Number of the trial that published it. */
            readonly trial: number;
        };
        /** @description The daemon's state. */
        readonly Status: {
            /** @description Identity of the store, as decimal digits. */
            readonly cluster: string;
            /** @description Number of commits since the start. */
            readonly commits: number;
            /** @description How often a daemon was started on this store. */
            readonly daemon_epoch: number;
            /** @description Sequence number of the last event that is on disk. */
            readonly durable_lsn: number;
            /** @description Time spent on decisions since the start. */
            readonly engine_seconds: number;
            /** @description Number of events committed since the start. */
            readonly events: number;
            /** @description Number of experiments. */
            readonly experiments: number;
            /** @description Reports of attempts that had already ended, rejected since the start. */
            readonly late_reports: number;
            /** @description Sequence number of the last event. */
            readonly lsn: number;
            /** @description Process ID of the daemon. */
            readonly pid: number;
            /** @description Names of the searchers. */
            readonly searchers: readonly string[];
            /** @description Absolute path of the daemon's state directory. */
            readonly state_dir: string;
            /** @description Space on the store's disk. */
            readonly storage: components["schemas"]["Storage"];
            /** @description Time spent on commits since the start. */
            readonly store_seconds: number;
            /** @description Time since the daemon was started. */
            readonly uptime_seconds: number;
            /** @description Version of the daemon. */
            readonly version: string;
        };
        /** @description The file system of the store. */
        readonly Storage: {
            /** @description Free space on the store's disk. */
            readonly free_bytes: number;
            /** @description `ample`, `low`, `scarce`, `exhausted`, `full`, or `away`: the store's database doesn't answer. */
            readonly state: string;
            /** @description Size of the store's disk. */
            readonly total_bytes: number;
            /** @description Why the daemon accepts less than usual; "" if it doesn't. */
            readonly why: string;
        };
        /** @description A copy of the store. */
        readonly StoreCopy: {
            /** @description Path of the copy on the daemon's machine. */
            readonly path: string;
        };
        /** @description A context that the daemon has. */
        readonly StoredContext: {
            /** @description Size of the archive. */
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
            /** @description Absolute path of the context directory, or "". Without `context_digest`, each worker uses this directory itself. */
            readonly context_directory?: string;
            /** @description The experiment file as its user wrote it, at most 256 KiB. */
            readonly file?: components["schemas"]["SubmittedFile"];
            /** @description The Git checkout that the context directory is part of. */
            readonly git?: components["schemas"]["GitState"];
            /** @description Name of the experiment if the file has none. */
            readonly name?: string;
            /** @description Seed if the file has none: 0 to 2147483647; missing: random. */
            readonly seed?: number;
        };
        /** @description An experiment file as its user wrote it. */
        readonly SubmittedFile: {
            /** @description Name of the file; "" if it has none. */
            readonly name: string;
            /** @description Its text; in answers `<hidden>` stands for each secret. */
            readonly text: string;
        };
        /** @description A slot that another search of the worker's machine has. */
        readonly TakenSlot: {
            /** @description Number of the slot on the worker. */
            readonly slot: number;
            /** @description Which search has it, or gets it next, or why it is left out. */
            readonly why: string;
        };
        /** @description Which attempts held the slots, and when. */
        readonly Timeline: {
            /** @description The attempts on these slots; missing if there are too many, then `bins` is there. */
            readonly bars?: readonly components["schemas"]["TimelineBar"][];
            /** @description Instead of `bars`: shares of time by slot and part of the window. */
            readonly bins?: components["schemas"]["TimelineBins"];
            /** @description Start of the time window. */
            readonly from: number;
            /** @description The time of this answer. */
            readonly now: number;
            /** @description When the workers of these slots were present. */
            readonly presences: readonly components["schemas"]["TimelineQuarantine"][];
            /** @description When the workers of these slots were in quarantine. */
            readonly quarantines: readonly components["schemas"]["TimelineQuarantine"][];
            /** @description All slots that the experiment may use, and those that it used. */
            readonly slots: readonly components["schemas"]["TimelineSlot"][];
            /** @description When other experiments held these slots. */
            readonly taken: readonly components["schemas"]["TimelineTaken"][];
            /** @description End of the time window. */
            readonly to: number;
        };
        /** @description An attempt on a slot. */
        readonly TimelineBar: {
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description When the lease began. */
            readonly from: number;
            /**
             * @description How the attempt ended, or `running`.
             * @enum {string}
             */
            readonly outcome: "running" | "finished" | "paused" | "stopped" | "failed" | "lost" | "preempted" | "canceled";
            /** @description Number of the slot on its worker; null for an attempt without a slot. */
            readonly slot: number | null;
            /** @description When the lease ended; null while it lasts. */
            readonly to: number | null;
            /** @description Number of the trial. */
            readonly trial: number;
            /** @description ID of the worker. */
            readonly worker: number;
        };
        /** @description How much ran on each slot in each part of the window. */
        readonly TimelineBins: {
            /** @description For each slot and part the share in which the experiment held the slot. */
            readonly busy: readonly (readonly number[])[];
            /** @description Edges of the parts of the window. */
            readonly edges: readonly number[];
            /** @description For each slot and part the share in which other experiments held it. */
            readonly taken: readonly (readonly number[])[];
            /** @description For each part the number of running trials. */
            readonly trials: readonly number[];
        };
        /** @description A time of a worker: in which it got no new leases, or was there. */
        readonly TimelineQuarantine: {
            /** @description When it began. */
            readonly from: number;
            /** @description When it ended; null while it lasts. */
            readonly to: number | null;
            /** @description ID of the worker. */
            readonly worker: number;
        };
        /** @description A slot that the experiment may use. */
        readonly TimelineSlot: {
            /** @description Share of the window in which its worker was away. */
            readonly away: number;
            /** @description Share of the time window in which the experiment held the slot. */
            readonly busy: number;
            /** @description Name of the worker. */
            readonly name: string;
            /** @description Number of the slot on its worker; null for attempts without a slot. */
            readonly slot: number | null;
            /** @description Share of the window in which other experiments held it. */
            readonly taken: number;
            /** @description ID of the worker. */
            readonly worker: number;
        };
        /** @description A time in which another experiment held a slot. */
        readonly TimelineTaken: {
            /** @description ID of the experiment that held it; null if it is in another workspace. */
            readonly experiment: number | null;
            /** @description When it began. */
            readonly from: number;
            /** @description Number of the slot on its worker. */
            readonly slot: number;
            /** @description When it ended; null while it lasts. */
            readonly to: number | null;
            /** @description Number of the last trial that held it; null if that is not shown. */
            readonly trial: number | null;
            /** @description ID of the worker. */
            readonly worker: number;
        };
        /** @description A token without its secret. */
        readonly Token: {
            /** @description When it was created; null if unknown. */
            readonly created: number | null;
            /** @description Token or user that created it. */
            readonly creator: string;
            /** @description When it expires; null: never. */
            readonly expires: number | null;
            /** @description ID of the token. */
            readonly id: string;
            /** @description Start of the day on which it was used last; null: never used. */
            readonly last_used_day: number | null;
            /** @description Name of the token. */
            readonly name: string;
            /**
             * @description Role of the token.
             * @enum {string}
             */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description The user that runs its programs on workers with `--run-as submitter`; "": none. */
            readonly unix_user: string;
            /** @description Workspaces in which it has this role; ["*"]: all. */
            readonly workspaces: readonly string[];
        };
        /** @description All tokens. */
        readonly TokenList: {
            /** @description All tokens, without their secrets. */
            readonly tokens: readonly components["schemas"]["Token"][];
        };
        /** @description The token to create. */
        readonly TokenRequest: {
            /** @description Life of the token, above 0 and up to 31536000; null (never) only for an admin over the Unix socket; missing: 90 days. */
            readonly expires_in_seconds?: number | null;
            /** @description Name of the new token. */
            readonly name: string;
            /**
             * @description Role of the new token.
             * @enum {string}
             */
            readonly role: "viewer" | "submitter" | "operator" | "admin";
            /** @description The user that runs its programs on workers with `--run-as submitter`; null or missing: none. */
            readonly unix_user?: string | null;
            /** @description Workspaces in which it has this role; ["*"] or missing: all. */
            readonly workspaces?: readonly string[];
        };
        /** @description One training of a finalist. */
        readonly Training: {
            /** @description Metric at full length; null if there is none. */
            readonly metric: components["schemas"]["Metric"] | null;
            /** @description Number of the trial. */
            readonly trial: number;
        };
        /** @description A trial. */
        readonly Trial: {
            /** @description Number of its attempts. */
            readonly attempts: number;
            /** @description Directory of its best checkpoint with a metric at exactly its step; "" if it has none. */
            readonly best_checkpoint: string;
            /** @description Metric at that step; null if there is none. */
            readonly best_checkpoint_metric: components["schemas"]["Metric"] | null;
            /** @description Step of the best checkpoint. */
            readonly best_checkpoint_step: components["schemas"]["Count"];
            /** @description Its best finite metric; null if there is none. */
            readonly best_metric: components["schemas"]["Metric"] | null;
            /** @description Step of the best metric; null if there is none. */
            readonly best_step: components["schemas"]["Count"] | null;
            /** @description Directory of its latest checkpoint; "" if it has none. */
            readonly checkpoint: string;
            /** @description Step of the latest checkpoint. */
            readonly checkpoint_step: components["schemas"]["Count"];
            /** @description When the trial was created. */
            readonly created_at: number;
            /** @description When the trial ended; null before. */
            readonly ended_at: number | null;
            /** @description When the running program last printed or reported something; null if unknown. */
            readonly heard_at?: number | null;
            /** @description Highest step that the running program reported; null if unknown. */
            readonly heard_step?: components["schemas"]["Count"] | null;
            /** @description Hyperparameters of the trial. */
            readonly hparams: Record<string, unknown>;
            /** @description ID of the trial across all experiments. */
            readonly id: number;
            /** @description Labels that users gave it. */
            readonly labels: readonly string[];
            /** @description Cause and last log lines of its last failed attempt; "" if none failed. */
            readonly last_failure: string;
            /** @description Length that the trial is asked to train to. */
            readonly length: components["schemas"]["Count"];
            /** @description Why the daemon could not keep the log of an attempt; null if it could. */
            readonly log_problem?: string | null;
            /** @description The last metric that it reported; null if there is none. */
            readonly metric: components["schemas"]["Metric"] | null;
            /** @description Text that users wrote about it; "" if there is none. */
            readonly note: string;
            /** @description Whether the store was restored before the trial was closed; `trained` and `slot_seconds` may lack attempts then. */
            readonly ran_unlogged: boolean;
            /** @description Highest step that it reported. */
            readonly reached: components["schemas"]["Count"];
            /** @description Why its state changed last. */
            readonly reason: components["schemas"]["Reason"];
            /** @description How often its program has failed. */
            readonly restarts: number;
            /** @description Slots times time under lease, until now. */
            readonly slot_seconds: number;
            /** @description Whether a user marked it with a star. */
            readonly starred: boolean;
            /**
             * @description State of the trial.
             * @enum {string}
             */
            readonly state: "PENDING" | "RUNNING" | "PAUSED" | "COMPLETED" | "STOPPED" | "FAILED" | "CANCELED";
            /** @description Length that all attempts trained together, as reported; an attempt without a checkpoint begins at 0 again. */
            readonly trained: components["schemas"]["Count"];
            /** @description Whether an attempt ran and reported no step; then the trial was trained more than `trained`. */
            readonly trained_unreported: boolean;
            /** @description Whether its program ended well below its length; what it reported counts there. */
            readonly trains_no_further: boolean;
            /** @description Number of the trial in its experiment, from 0. */
            readonly trial: number;
            /** @description ID of the worker on which it runs; null while it doesn't run. */
            readonly worker: number | null;
            /** @description IDs of the workers of all ranks, in order; empty while it doesn't run. */
            readonly workers: readonly number[];
        };
        /** @description Checkpoints of a trial. */
        readonly TrialCheckpointPage: {
            /** @description The checkpoints, in the order of their publication. */
            readonly checkpoints: readonly components["schemas"]["Checkpoint"][];
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
        };
        /** @description Files of a trial. */
        readonly TrialFiles: {
            /** @description Files that were deleted. */
            readonly dropped: readonly components["schemas"]["OtherFile"][];
            /** @description Number of further deleted files. */
            readonly dropped_unnamed: number;
            /** @description The files that the daemon has. */
            readonly files: readonly components["schemas"]["KeptFile"][];
            /** @description Files that are on the worker only. */
            readonly left: readonly components["schemas"]["OtherFile"][];
            /** @description Number of further files that are on the worker only. */
            readonly left_unnamed: number;
        };
        /** @description Files of a trial, summed. */
        readonly TrialFileSum: {
            /** @description Number of the last attempt there. */
            readonly attempt: number;
            /** @description Size of these files. */
            readonly bytes: number;
            /** @description Number of files that the daemon has. */
            readonly files: number;
            /** @description Number of files that are on the worker only. */
            readonly left: number;
            /** @description The trial's best metric; null if there is none. */
            readonly metric: components["schemas"]["Metric"] | null;
            /** @description Number of the trial. */
            readonly trial: number;
            /** @description ID of the worker that handed them over. */
            readonly worker: number;
        };
        /** @description Files of an experiment by trial. */
        readonly TrialFileSums: {
            /** @description One entry for each trial and worker. */
            readonly trials: readonly components["schemas"]["TrialFileSum"][];
        };
        /** @description Trials by number. */
        readonly TrialPage: {
            /** @description Number of trials on all pages, if only some are asked for. */
            readonly matched?: number;
            /** @description The next page's `after`; null on the last page. */
            readonly next: unknown;
            /** @description Number of trials of the experiment. */
            readonly total: number;
            /** @description The trials, in the order asked for. */
            readonly trials: readonly components["schemas"]["Trial"][];
        };
        /** @description How many trials a client takes. */
        readonly TrialsWanted: {
            /** @description How many trials the client takes, at most 256; missing: 1. */
            readonly count?: number;
            /** @description A trial of which nothing is reported for this long is lost; missing: 300. */
            readonly lease_seconds?: number;
        };
        /** @description How a trial goes on. */
        readonly TrialVerdict: {
            /**
             * @description What the trial does next; after `pause` and `stop`, end the lease.
             * @enum {string}
             */
            readonly directive: "continue" | "pause" | "stop";
            /** @description With `continue`: the length to train to. */
            readonly length: number;
        };
        /** @description Slot time. */
        readonly Usage: {
            /**
             * @description What the rows stand for.
             * @enum {string}
             */
            readonly by: "user" | "workspace" | "experiment";
            /** @description Start of an hour; 0: the beginning. */
            readonly since: number;
            /** @description The time of this answer. */
            readonly until: number;
            /** @description The rows, largest slot time first. */
            readonly usage: readonly components["schemas"]["Used"][];
        };
        /** @description What one user, workspace or experiment took. */
        readonly Used: {
            /** @description ID of an experiment. */
            readonly experiment?: string;
            /** @description Number of experiments. */
            readonly experiments: number;
            /** @description Slots times time under lease since `since`. */
            readonly slot_seconds: number;
            /** @description Number of slots held now. */
            readonly slots: number;
            /** @description Number of trials of these experiments, since they began. */
            readonly trials: number;
            /** @description Name of a user or token; "": not recorded. */
            readonly user?: string;
            /** @description Name of a workspace. */
            readonly workspace?: string;
        };
        /** @description How much of its machine an attempt used, in columns. */
        readonly Utilization: {
            /** @description The end of each stretch of time, by the worker's clock; at most 500. */
            readonly at: readonly number[];
            /** @description Number of the attempt. */
            readonly attempt: number;
            /** @description Mean number of cores that the attempt's processes kept busy; null: not measured. */
            readonly cores: readonly (number | null)[];
            /** @description The attempt's devices, each with a column of the same length. */
            readonly devices: readonly components["schemas"]["DeviceUtilization"][];
            /** @description Largest memory of the attempt's processes that was seen; null: not measured. */
            readonly memory_bytes: readonly (number | null)[];
            /** @description How long each stretch is. */
            readonly seconds: readonly number[];
            /** @description Why the columns are empty; null if they are not. */
            readonly why_none: string | null;
            /** @description The worker whose figures these are. */
            readonly worker: number;
            /** @description All workers of the attempt. */
            readonly workers: readonly number[];
        };
        /** @description What is wrong with an experiment. */
        readonly Validation: {
            /** @description The configuration with all defaults; null if it is not valid. */
            readonly config: Record<string, unknown> | null;
            /** @description What has no effect, or is not as it seems. */
            readonly notes: readonly components["schemas"]["ProblemItem"][];
            /** @description What is wrong with it. */
            readonly problems: readonly components["schemas"]["ProblemItem"][];
            /** @description Notes that a client asks its user about before it submits. */
            readonly to_confirm: readonly string[];
            /** @description Whether the experiment could be submitted. */
            readonly valid: boolean;
        };
        /** @description Versions of the daemon and of its formats. */
        readonly Version: {
            /** @description Versions of the API that are served. */
            readonly api: readonly string[];
            /** @description Oldest release of clients that is served. */
            readonly oldest_client: string;
            /** @description Version of the store's format. */
            readonly store_version: number;
            /** @description Version of the daemon. */
            readonly version: string;
            /** @description Version of the protocol of workers. */
            readonly wire_version: number;
        };
        /** @description A slot that the worker withdrew. */
        readonly WithdrawnSlot: {
            /** @description Whether an operator allows the slot to be used nevertheless. */
            readonly released: boolean;
            /** @description Number of the slot on the worker. */
            readonly slot: number;
            /** @description Why the worker withdrew it. */
            readonly why: string;
        };
        /** @description A worker. */
        readonly Worker: {
            /** @description QUEUE/NUMBER of the allocation that it runs in; null: none. */
            readonly allocation: string | null;
            /** @description The attempts that run on the worker. */
            readonly attempts: readonly components["schemas"]["AttemptName"][];
            /** @description Why it can't store checkpoints of experiments without `checkpoint_storage`; null if it can. */
            readonly checkpoint_problem: string | null;
            /** @description Whether the worker has a session with the daemon. */
            readonly connected: boolean;
            /** @description The device of each slot; empty if slots are shares of the CPUs. */
            readonly devices: readonly components["schemas"]["Device"][];
            /** @description Whether it gets no new trials; those that run there go on. */
            readonly draining: boolean;
            /** @description When its allocation ends, in seconds since the epoch; null: no end is known. */
            readonly ends_at: number | null;
            /** @description When its last message came; null if none came since the daemon was started. */
            readonly heard_at: number | null;
            /** @description Name of its machine; null if it has not connected since the daemon was started. */
            readonly host: string | null;
            /** @description ID of the worker. */
            readonly id: number;
            /** @description How often the worker was started. */
            readonly incarnation: number;
            /** @description How it finds all processes of a program: `cgroup` or `process table`. */
            readonly kills_by: string;
            /** @description Labels of the worker. */
            readonly labels: {
                readonly [key: string]: string;
            };
            /** @description The attempts whose processes survive. */
            readonly leaked_processes: readonly components["schemas"]["LeakedProcesses"][];
            /** @description What its running attempts use, as far as it was measured in the last minute. */
            readonly loads: readonly components["schemas"]["AttemptLoad"][];
            /** @description The most attempts without a slot at once; null: no limit. */
            readonly max_unslotted: number | null;
            /** @description Name of the worker. */
            readonly name: string;
            /** @description Attempts that run on the worker and are not in the store. */
            readonly on_hold: readonly components["schemas"]["HeldAttempt"][];
            /** @description Pool of the worker; `default` if it names none. */
            readonly pool: string;
            /** @description Whether the daemon counts on the worker; false after it was lost. */
            readonly present: boolean;
            /** @description When the quarantined worker is tried with one trial; null if it is not. */
            readonly probation: string | null;
            /** @description Why the worker gets no trials until it is released; null: it is not in quarantine. */
            readonly quarantined: string | null;
            /** @description Why and how long the connected worker gets no trials; null if it gets them. */
            readonly resting: string | null;
            /** @description `gpu`, `npu`, `device` or `cpu`. */
            readonly slot_kind: string;
            /** @description Number of its slots. */
            readonly slots: number;
            /** @description Number of slots that attempts hold. */
            readonly slots_held: number;
            /** @description Number of slots that are not used because a process there survives SIGKILL. */
            readonly slots_quarantined: number;
            /** @description Number of slots that are not used because of a problem with their devices. */
            readonly slots_withdrawn: number;
            /** @description Whether the worker has no session or was silent for 45 s; it gets no new trials then. */
            readonly suspect: boolean;
            /** @description The slots that other searches of its machine have; empty unless it shares its slots. */
            readonly taken: readonly components["schemas"]["TakenSlot"][];
            /** @description Number of its attempts without a slot. */
            readonly unslotted: number;
            /** @description Version of its program; null if it has not connected since the daemon was started. */
            readonly version: string | null;
            /** @description The slots with a problem. */
            readonly withdrawn: readonly components["schemas"]["WithdrawnSlot"][];
        };
        /** @description Workers by number. */
        readonly WorkerPage: {
            /** @description The next page's `after`; null on the last page. */
            readonly next: number | null;
            /** @description The workers, by ID. */
            readonly workers: readonly components["schemas"]["Worker"][];
        };
        /** @description A workspace. */
        readonly Workspace: {
            /** @description Number of its experiments that have not ended. */
            readonly active_experiments: number;
            /** @description When it was created; null: it is the default one, or experiments named it. */
            readonly created: number | null;
            /** @description Token or user that created it; "": not recorded. */
            readonly creator: string;
            /** @description Number of its experiments. */
            readonly experiments: number;
            /** @description Name of the workspace. */
            readonly name: string;
            /** @description Limits of the workspace. */
            readonly quota: components["schemas"]["Quota"];
            /** @description Number of slots that its trials hold now. */
            readonly slots: number;
            /** @description What it uses of each limit. */
            readonly used: components["schemas"]["QuotaUse"];
        };
        /** @description All workspaces by name. */
        readonly WorkspaceList: {
            /** @description All workspaces that the caller may see, by name. */
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
export type Allocation = components['schemas']['Allocation'];
export type Annotation = components['schemas']['Annotation'];
export type AnnotationChange = components['schemas']['AnnotationChange'];
export type ApiDescription = components['schemas']['ApiDescription'];
export type AskedTrial = components['schemas']['AskedTrial'];
export type AskedTrials = components['schemas']['AskedTrials'];
export type AttemptLoad = components['schemas']['AttemptLoad'];
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
export type CommonFailure = components['schemas']['CommonFailure'];
export type ComparedLength = components['schemas']['ComparedLength'];
export type Configuration = components['schemas']['Configuration'];
export type ConfiguredOption = components['schemas']['ConfiguredOption'];
export type Count = components['schemas']['Count'];
export type CreatedExperiment = components['schemas']['CreatedExperiment'];
export type Curve = components['schemas']['Curve'];
export type CurveDensity = components['schemas']['CurveDensity'];
export type CurveEvent = components['schemas']['CurveEvent'];
export type Curves = components['schemas']['Curves'];
export type DeletedExperiment = components['schemas']['DeletedExperiment'];
export type Device = components['schemas']['Device'];
export type DeviceLoad = components['schemas']['DeviceLoad'];
export type DeviceUtilization = components['schemas']['DeviceUtilization'];
export type EndedTrial = components['schemas']['EndedTrial'];
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
export type GitState = components['schemas']['GitState'];
export type Health = components['schemas']['Health'];
export type HeldAttempt = components['schemas']['HeldAttempt'];
export type History = components['schemas']['History'];
export type HistoryBudget = components['schemas']['HistoryBudget'];
export type HistoryEnd = components['schemas']['HistoryEnd'];
export type HparamShare = components['schemas']['HparamShare'];
export type HttpPort = components['schemas']['HttpPort'];
export type Importance = components['schemas']['Importance'];
export type Invite = components['schemas']['Invite'];
export type InviteList = components['schemas']['InviteList'];
export type InviteRequest = components['schemas']['InviteRequest'];
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
export type NewInvite = components['schemas']['NewInvite'];
export type NewToken = components['schemas']['NewToken'];
export type Note = components['schemas']['Note'];
export type OtherFile = components['schemas']['OtherFile'];
export type Preview = components['schemas']['Preview'];
export type Problem = components['schemas']['Problem'];
export type ProblemItem = components['schemas']['ProblemItem'];
export type ProgramChange = components['schemas']['ProgramChange'];
export type ProgramRequest = components['schemas']['ProgramRequest'];
export type ProviderAnswer = components['schemas']['ProviderAnswer'];
export type QuarantineRequest = components['schemas']['QuarantineRequest'];
export type Queue = components['schemas']['Queue'];
export type QueueCheck = components['schemas']['QueueCheck'];
export type QueueList = components['schemas']['QueueList'];
export type QueueRemoval = components['schemas']['QueueRemoval'];
export type QueueRequest = components['schemas']['QueueRequest'];
export type QueueSettings = components['schemas']['QueueSettings'];
export type QueueText = components['schemas']['QueueText'];
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
export type SignInAtProvider = components['schemas']['SignInAtProvider'];
export type SignInCode = components['schemas']['SignInCode'];
export type SignInCodeRequest = components['schemas']['SignInCodeRequest'];
export type SignInProvider = components['schemas']['SignInProvider'];
export type Slot = components['schemas']['Slot'];
export type SlotPage = components['schemas']['SlotPage'];
export type SourceCheckpoint = components['schemas']['SourceCheckpoint'];
export type Status = components['schemas']['Status'];
export type Storage = components['schemas']['Storage'];
export type StoreCopy = components['schemas']['StoreCopy'];
export type StoredContext = components['schemas']['StoredContext'];
export type Submission = components['schemas']['Submission'];
export type SubmittedFile = components['schemas']['SubmittedFile'];
export type TakenSlot = components['schemas']['TakenSlot'];
export type Timeline = components['schemas']['Timeline'];
export type TimelineBar = components['schemas']['TimelineBar'];
export type TimelineBins = components['schemas']['TimelineBins'];
export type TimelineQuarantine = components['schemas']['TimelineQuarantine'];
export type TimelineSlot = components['schemas']['TimelineSlot'];
export type TimelineTaken = components['schemas']['TimelineTaken'];
export type Token = components['schemas']['Token'];
export type TokenList = components['schemas']['TokenList'];
export type TokenRequest = components['schemas']['TokenRequest'];
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
export type Utilization = components['schemas']['Utilization'];
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
