#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/deleted_experiment.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/engine/scheduler/plan.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "scheduler/agenda.hpp"

namespace hpsearch::engine {

/// Everything the engine knows: the fold of the events, and what follows from it.
struct EngineState {
  SearcherRegistry registry;
  std::map<ExperimentId, ExperimentRecord> experiments;
  std::map<ExperimentId, DeletedExperiment> deleted;  ///< None of them is among `experiments`.
  std::set<ExperimentId> going;                       ///< Those that have not ended.
  std::map<std::string, ExperimentId> by_idempotency_key;
  Workspaces workspaces{{std::string(default_workspace), {.name = std::string(default_workspace)}}};
  bool checks_workspaces = false;  ///< Somebody has created one: experiments name a known one.
  std::map<WorkerId, WorkerRecord> workers;
  std::map<WorkerId, ForgottenWorker> forgotten_workers;  ///< None of them is among `workers`.
  std::map<std::string, WorkerId> worker_by_uid;
  WorkerId last_worker;                                                  ///< The highest number given.
  std::set<WorkerId> suspects;                                           ///< Set by the shell, not journaled.
  std::map<std::string, std::map<SlotIndex, std::string>> taken_by_uid;  ///< The same: WorkerRecord::taken.
  bool trusts_workers = false;                                           ///< The same.
  bool skips_first_look = false;                                         ///< The same.
  bool retries_at_once = false;                                          ///< The same.
  std::uint64_t most_ends = 512;  ///< The same. In a step: well below a millisecond.
  Vacancies vacancies;            ///< Free slots of the workers that are present and not suspect.
  std::map<std::string, std::uint64_t, std::less<>> present_slots;  ///< By pool, as its workers name it.
  Agenda agenda;
  std::map<std::string, QueueRecord> queues;
  std::uint64_t last_allocation = 0;                ///< The highest number given.
  std::uint64_t allocated_workers = 0;              ///< Workers that run, or ran, in an allocation.
  std::map<std::uint64_t, Instant> unneeded_since;  ///< Allocations that wait without need; not journaled.
  std::uint64_t last_trial_id = 0;
  Lsn last_lsn;
  Instant last_instant;
  Numbering numbering;
};

[[nodiscard]] inline TrialRecord& trial_of(EngineState& state, ExperimentId experiment, TrialNumber trial) {
  return state.experiments.at(experiment).trials[trial.number()];
}
[[nodiscard]] inline const TrialRecord& trial_of(const EngineState& state, ExperimentId experiment,
                                                 TrialNumber trial) {
  return state.experiments.at(experiment).trials[trial.number()];
}

/// The trial of an attempt that a worker names; nullptr: this log has no such trial.
[[nodiscard]] const TrialRecord* find_trial(const EngineState& state, const AttemptKey& key);

/// The same, where this log may have granted that attempt, or gave it back to `holder`, who speaks of it. If
/// not, it comes from the future of an older copy.
[[nodiscard]] const TrialRecord* find_granted_trial(const EngineState& state, WorkerId holder,
                                                    const AttemptKey& key);

/// nullptr: there is none of that name, or it ended long ago.
[[nodiscard]] const AllocationRecord* find_allocation(const EngineState& state, const AllocationName& name);
[[nodiscard]] AllocationRecord* find_allocation(EngineState& state, const AllocationName& name);
/// The allocation that the worker runs in; nullptr: none, or it ended long ago.
[[nodiscard]] AllocationRecord* allocation_of(EngineState& state, const WorkerRecord& worker);

/// A worker joined its allocation for the first time: the queue works.
void note_joined(EngineState& state, const WorkerRecord& worker);
/// It left, and said why.
void note_left(EngineState& state, const WorkerRecord& worker, std::string_view why);

/// The number of the next experiment.
[[nodiscard]] ExperimentId next_experiment(const EngineState& state) noexcept;

/// There is none of this number, or it was deleted.
[[nodiscard]] Error no_experiment(const EngineState& state, ExperimentId id);

/// Marks the experiment as one the scheduler must look after.
void touch(EngineState& state, ExperimentRecord& record);

/// From `at` on, its attempts hold so many slots more, or less. Free ones are offered to its experiments.
void count_slots(EngineState& state, const ExperimentRecord& record, std::int64_t more, Instant at);

/// Slots × time; the longest time there is if that is longer.
[[nodiscard]] Duration slots_for(Duration time, std::uint64_t slots) noexcept;

/// A context is used once more, or once less. "" = there is none.
void count_context(WorkspaceRecord& workspace, const std::string& digest, std::uint64_t bytes);
void discount_context(WorkspaceRecord& workspace, const std::string& digest);

/// The quota may allow more now: what it held back is looked after.
void offer_again(EngineState& state, WorkspaceRecord& workspace);

/// The workspace of that name, which is new if no command named it before.
WorkspaceRecord& workspace_named(EngineState& state, std::string_view name);

/// Takes the slots in trouble, and those that others have, out of its ledger.
void withdraw_those(WorkerRecord& worker);

/// It gets no leases before WorkerRecord::rests_until.
void let_rest(EngineState& state, const WorkerRecord& worker);

/// Its attempts begin well again, as far as is known.
void forget_start_failures(EngineState& state, WorkerRecord& worker);

/// The trials and workers that wait at `now`, by their records. For a state that was loaded.
void note_delayed_starts(EngineState& state, Instant now);

/// The trials and workers whose time has come by `now`.
void end_start_delays(EngineState& state, Instant now);

/// How full a worker is may have changed.
void note_vacancy(EngineState& state, const WorkerRecord& worker);

/// Its time counts among those of the last attempts.
void note_pace(ExperimentRecord& record, const LiveAttempt& live);

/// The searcher's metric in a report, or nothing.
[[nodiscard]] const double* find_metric(const Metrics& metrics, const std::string& name) noexcept;

/// The exit of an attempt whose program never began.
[[nodiscard]] inline bool is_never_run(const ExitReport& exit) noexcept {
  return exit.cause == ExitReport::Cause::could_not_start || exit.cause == ExitReport::Cause::checkpoint_gone;
}

/// True when the exit is the program's own failure and counts against max_restarts: not code 0, not 75
/// (EX_TEMPFAIL: interrupted, not broken), not asked for.
[[nodiscard]] bool is_failure(const TrialRecord& trial, const ExitReport& exit) noexcept;

/// Makes the event so. Cannot fail: deciding looked first, and replay feeds only what once happened.
void apply(EngineState& state, const Event& event);

/// Whether `event` can follow what was applied so far: the door that replay checks before apply().
[[nodiscard]] Status validate_event(const EngineState& state, const Event& event);

}  // namespace hpsearch::engine
