// What the API answers, as far as the pages use it. Times are seconds since the epoch, durations seconds.

export type ExperimentState = "ACTIVE" | "PAUSED" | "STOPPING" | "COMPLETED" | "CANCELED" | "FAILED";
export type TrialState = "PENDING" | "RUNNING" | "PAUSED" | "STOPPED" | "COMPLETED" | "CANCELED" | "FAILED";

export interface BestTrial {
    readonly trial: number;
    readonly metric: number | null;
    readonly length?: number;
    readonly step?: number;
    readonly hparams?: Readonly<Record<string, unknown>>;
    readonly checkpoint?: string;
}

export interface ExperimentSummary {
    readonly id: number;
    readonly name: string;
    readonly state: ExperimentState | string;
    readonly reason: string;
    readonly waits_for: string;
    readonly searcher: string;
    readonly metric: string;
    readonly smaller_is_better: boolean;
    readonly max_length: number;
    readonly unit: string;
    readonly progress: number;
    readonly best: BestTrial | null;
    readonly created_at: number;
    readonly ended_at: number | null;
    readonly trials: Readonly<Record<string, number>>;
    readonly trials_total: number;
    readonly workspace?: string;
    readonly project?: string;
    readonly owner?: string;
    readonly labels?: readonly string[];
    readonly description?: string;
    readonly slots?: number;
    readonly archived?: boolean;
}

export interface RungReached {
    readonly length: number;
    readonly reached: number;
}

export interface ExperimentDetail extends ExperimentSummary {
    readonly context_bytes: number;
    readonly context_digest: string;
    readonly context_directory: string;
    readonly final_counts: Readonly<Record<string, number>>;
    readonly finalists: readonly unknown[];
    readonly first_lease_at: number | null;
    readonly last_release_at: number | null;
    readonly length_full: number;
    readonly length_trained: number;
    readonly notes: readonly unknown[];
    readonly programs: readonly unknown[];
    readonly rungs: readonly RungReached[];
    readonly slot_seconds: number;
}

export interface Reason {
    readonly why: string;
    readonly text: string;
    readonly rung?: number | null;
    readonly bracket?: number | null;
    readonly rank?: number | null;
    readonly size?: number | null;
    readonly keep?: number | null;
    readonly cut_off?: number | null;
    readonly metric?: number | null;
}

export interface Trial {
    readonly trial: number;
    readonly id: number;
    readonly state: TrialState | string;
    readonly reason: Reason;
    readonly hparams: Readonly<Record<string, unknown>>;
    readonly metric: number | null;
    readonly best_metric: number | null;
    readonly best_step: number | null;
    readonly best_checkpoint: string;
    readonly best_checkpoint_metric: number | null;
    readonly best_checkpoint_step: number;
    readonly checkpoint: string;
    readonly checkpoint_step: number;
    readonly length: number;
    readonly reached: number;
    readonly trained: number;
    readonly attempts: number;
    readonly restarts: number;
    readonly slot_seconds: number;
    readonly created_at: number;
    readonly ended_at: number | null;
    readonly heard_at: number | null;
    readonly heard_step: number | null;
    readonly last_failure: string;
    readonly worker: number | null;
    readonly workers: readonly number[];
    readonly log_problem?: string | null;
}

export interface StoredEvent {
    readonly lsn: number;
    readonly at: number;
    readonly type: string;
    readonly experiment?: number;
    readonly trial?: number;
    readonly attempt?: number;
    readonly [field: string]: unknown;
}

export interface Explanation {
    readonly trial: number;
    readonly state: string;
    readonly now: string;
    readonly next: string;
    readonly reason: Reason;
    readonly metric: string;
    readonly unit: string;
    readonly results_needed: number | null;
    readonly results_to_come: number | null;
    readonly history: readonly StoredEvent[];
}

export interface MetricPoint {
    readonly attempt: number;
    readonly step: number;
    readonly metrics: Readonly<Record<string, unknown>>;
}

export interface Checkpoint {
    readonly trial: number;
    readonly path: string;
    readonly step: number;
    readonly metric: number | null;
    readonly [field: string]: unknown;
}

export interface Worker {
    readonly id: number;
    readonly name: string;
    readonly connected: boolean;
    readonly present: boolean;
    readonly suspect: boolean;
    readonly pool: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly slot_kind: string;
    readonly slots: number;
    readonly slots_held: number;
    readonly slots_quarantined: number;
    readonly slots_withdrawn: number;
    readonly quarantined: string | null | Readonly<Record<string, unknown>>;
    readonly resting: unknown;
    readonly attempts: readonly {readonly experiment: number; readonly trial: number; readonly attempt: number; readonly slots?: readonly number[]}[];
    readonly devices: readonly unknown[];
    readonly leaked_processes: readonly unknown[];
    readonly heard_at?: number | null;
    readonly [field: string]: unknown;
}

export interface Status {
    readonly version: string;
    readonly lsn: number;
    readonly experiments: number;
    readonly uptime_seconds: number;
    readonly state_dir: string;
    readonly storage: {readonly state: string; readonly why: string; readonly free_bytes: number; readonly total_bytes: number};
    readonly searchers: readonly string[];
    readonly now?: number;
}

export interface Session {
    readonly name: string;
    readonly role: string;
    readonly csrf: string;
    readonly expires_at: number | null;
}

export interface Page<Key extends string, Item> {
    readonly next: number | string | null;
    readonly total?: number;
    readonly items: readonly Item[];
    readonly key?: Key;
}
