#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/engine/experiment/deleted_experiment.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"
#include "hpsearch/engine/experiment/orders.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

/// What follows from one command. The shell makes the events durable first, and only then carries out the
/// orders, in order.
struct Effects {
  std::vector<Event> events;
  std::vector<Order> orders;
  std::optional<ExperimentId> created;  ///< The answer to CreateExperiment.
  std::optional<WorkerId> joined;       ///< The answer to JoinWorker.
  std::vector<AttemptKey> asked{};      ///< The answer to AskTrials.
};

/// The one entry: takes what happened and the time, and returns what follows. A hyperparameter search engine
/// for any number of experiments on any number of workers, as a deterministic state machine.
///
/// The same commands with the same instants give the same effects. State is the fold of the events: an engine
/// that has replayed the log stands exactly where the one that wrote it stood.
///
/// Owns:    experiments, trials, leases and slots; no threads, clocks, files or sockets.
/// Threads: callers take turns.
/// Cost:    O(log trials + log workers + log experiments) per decision; a step makes as many decisions as it
///          frees or fills slots, and ends a few hundred trials that do not run at most. Where those of a
///          rung that is over are still ending, a trial that exits early, changed limits and the end of the
///          experiment end the rest first.
/// Fails:   a refused command changes nothing and says why.
class Engine {
 public:
  explicit Engine(SearcherRegistry registry);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  /// Does what the command asks and everything that follows at once: verdicts, promotions, new trials,
  /// leases, ends. `now` must not go back; if it does, the last instant counts. It is later than Instant{},
  /// which stands for "not yet".
  ///
  /// bad_request: the config is wrong (every problem named); not_found: no such experiment or worker;
  /// wrong_state: for example resuming an ended experiment; quota: the workspace is full.
  ///
  /// `actor`: whose request it is, for the events that it makes happen (not for what follows from them);
  /// "" = not known.
  [[nodiscard]] Result<Effects> step(Command command, Instant now, const std::string& actor = {});

  /// The same into an Effects that is used again and again, which spares the allocations: a report that
  /// decides nothing then allocates nothing. The old content of `effects` is dropped; on failure it is empty.
  [[nodiscard]] Status step(Command command, Instant now, Effects& effects, const std::string& actor = {});

  /// Recovery: takes one event of the log. Events must come in order from lsn 1, before the first step.
  /// corrupt: the event cannot follow what was replayed so far; the engine is useless then. What searchers
  /// decided is taken as it stands: a log of whole and unchanged events in their order is the store's
  /// promise.
  Status replay(const Event& event);

  // --- queries; pointers hold until the next step ---

  /// When a budget of time will be spent, or what was put off is due: a step must be made then (CheckTimers),
  /// if none is made anyway. At once (last_instant()) when there was more to do than one step may: hundreds
  /// of thousands of trials whose rung is over, or their experiment, end some hundred in each step.
  [[nodiscard]] std::optional<Instant> next_deadline() const noexcept;
  [[nodiscard]] Lsn last_lsn() const noexcept;
  [[nodiscard]] Instant last_instant() const noexcept;
  [[nodiscard]] const Numbering& numbering() const noexcept;  ///< The numbers of leases and decisions.
  [[nodiscard]] const std::map<ExperimentId, ExperimentRecord>& experiments() const noexcept;
  /// Those that are not among experiments() any more.
  [[nodiscard]] const std::map<ExperimentId, DeletedExperiment>& deleted() const noexcept;
  /// not_found: there is none of this number, or it was deleted.
  [[nodiscard]] Error no_experiment(ExperimentId experiment) const;
  [[nodiscard]] const ExperimentRecord* find(ExperimentId experiment) const noexcept;
  [[nodiscard]] const TrialRecord* find(ExperimentId experiment, TrialNumber trial) const noexcept;
  [[nodiscard]] const std::map<WorkerId, WorkerRecord>& workers() const noexcept;
  /// Those that are not among workers() any more.
  [[nodiscard]] const std::map<WorkerId, ForgottenWorker>& forgotten_workers() const noexcept;
  [[nodiscard]] const Workspaces& workspaces() const noexcept;  ///< The default one is always among them.
  [[nodiscard]] const std::map<std::string, QueueRecord>& queues() const noexcept;
  /// nullptr: there is none of that name, or it ended long ago.
  [[nodiscard]] const AllocationRecord* find(const AllocationName& name) const noexcept;
  /// Trials that wait and would run on workers of this queue. not_found: there is no such queue.
  [[nodiscard]] Result<std::uint64_t> trials_waiting_for(const std::string& queue) const;
  /// Trials that would be among those if the queue's time limit were longer.
  [[nodiscard]] TooLongTrials too_long_trials_of(const std::string& queue) const;
  /// PlanAllocations may have something to decide now or later.
  [[nodiscard]] bool plans_allocations() const noexcept;

  /// Everything that is wrong with the limits in ChangeExperiment, at its paths. None if they are right, or
  /// if the experiment takes no changes.
  [[nodiscard]] Problems problems_of(const ChangeExperiment& command) const;

  /// Why JoinWorker would be refused now, or Done: who is refused was not heard of as that worker. O(log
  /// workers).
  [[nodiscard]] Status may_join(const JoinWorker& command) const;

  /// A worker that is silent gets no new leases until it is heard of again. Not journaled.
  void set_suspect(WorkerId worker, bool suspect);

  /// The worker with this uid shares its slots with other searches of its machine, and these are theirs now:
  /// all of them. They get no new leases; who holds one keeps it. Also for a worker that is yet to join. Not
  /// journaled.
  void set_taken(const std::string& uid, const std::vector<SlotTrouble>& taken);

  /// How many slots the first trial in line takes that would start on this worker if they were free; 0: no
  /// trial waits for its slots.
  [[nodiscard]] std::uint64_t slots_wanted_of(WorkerId worker) const;

  /// So many trials that do not run end in one step (512 unless said; at least 1), others in the next. Not
  /// journaled.
  void set_most_ends(std::uint64_t trials) noexcept;

  /// Searches start on all slots at once, whatever their first attempts come to (see first_look). Not
  /// journaled.
  void skip_first_look() noexcept;

  /// No failure counts against a worker: for simulated workers. Not journaled.
  void trust_workers() noexcept;

  /// A failed trial is tried again as soon as a slot is free: for a program that asks for work and has no
  /// clock. Not journaled.
  void retry_at_once() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hpsearch::engine
