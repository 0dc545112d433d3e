#include "hpsearch/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "experiment/change_limits.hpp"
#include "step.hpp"

namespace hpsearch::engine {

struct Engine::State {
  EngineState state;
};

namespace {

/// Which handler a command has.
struct Dispatch {
  Step& step;

  Status operator()(const CreateExperiment& command) const { return create_experiment(step, command); }
  Status operator()(const PauseExperiment& command) const {
    return pause_experiment(step, command.experiment);
  }
  Status operator()(const ResumeExperiment& command) const {
    return resume_experiment(step, command.experiment);
  }
  Status operator()(const CancelExperiment& command) const {
    return end_experiment(step, command.experiment, false);
  }
  Status operator()(const KillExperiment& command) const {
    return end_experiment(step, command.experiment, true);
  }
  Status operator()(const ChangeExperiment& command) const { return change_experiment(step, command); }
  Status operator()(const ChangeProgram& command) const { return change_program(step, command); }
  Status operator()(const Annotate& command) const { return annotate(step, command); }
  Status operator()(const NoteLogsRemoved& command) const { return note_logs_removed(step, command); }
  Status operator()(const ThinCurve& command) const { return thin_curve(step, command); }
  Status operator()(const RemoveRows& command) const { return remove_rows(step, command); }
  Status operator()(const ArchiveExperiment& command) const {
    return archive_experiment(step, command.experiment, true);
  }
  Status operator()(const UnarchiveExperiment& command) const {
    return archive_experiment(step, command.experiment, false);
  }
  Status operator()(const DeleteExperiment& command) const {
    return delete_experiment(step, command.experiment, command.kept_for);
  }
  Status operator()(const RetryTrial& command) const { return retry_trial(step, command); }
  Status operator()(const EndTrial& command) const { return end_trial(step, command); }
  Status operator()(const JoinWorker& command) const { return join_worker(step, command); }
  Status operator()(const LoseWorker& command) const { return lose_worker(step, command); }
  Status operator()(const ExpireLeases& command) const { return expire_leases(step, command); }
  Status operator()(const QuarantineWorker& command) const { return quarantine_worker(step, command); }
  Status operator()(const DrainWorker& command) const { return drain_worker(step, command); }
  Status operator()(const ReleaseWorker& command) const { return release_worker(step, command); }
  Status operator()(const ForgetWorker& command) const { return forget_worker(step, command); }
  Status operator()(const NoteLeakedProcesses& command) const { return note_leaked_processes(step, command); }
  Status operator()(const DisclaimAttempts& command) const { return disclaim_attempts(step, command); }
  Status operator()(const NoteTroubles& command) const { return note_troubles(step, command); }
  Status operator()(const AdoptAttempt& command) const { return adopt_attempt(step, command); }
  Status operator()(const DisownAttempt& command) const { return disown_attempt(step, command); }
  Status operator()(const ConfirmStart& command) const { return confirm_start(step, command); }
  Status operator()(TakeReports& command) const { return take_reports(step, std::move(command)); }
  Status operator()(const DeleteCheckpoints& command) const { return delete_checkpoints(step, command); }
  Status operator()(const ConfirmDeleted& command) const { return confirm_deleted(step, command); }
  Status operator()(const CheckTimers&) const { return Done{}; }
  Status operator()(const ContinueTime&) const { return continue_time(step); }
  Status operator()(const NoteTime&) const { return note_time(step); }
  Status operator()(const AskTrials& command) const { return ask_trials(step, command); }
  Status operator()(const ExpireExternal& command) const { return expire_external(step, command); }
  Status operator()(const NoteRequest& command) const { return note_request(step, command); }
  Status operator()(const CreateWorkspace& command) const { return create_workspace(step, command); }
  Status operator()(const ChangeQuota& command) const { return change_quota(step, command); }
  Status operator()(const AddQueue& command) const { return add_queue(step, command); }
  Status operator()(const ChangeQueue& command) const { return change_queue(step, command); }
  Status operator()(const PauseQueue& command) const { return pause_queue(step, command); }
  Status operator()(const ResumeQueue& command) const { return resume_queue(step, command); }
  Status operator()(const RemoveQueue& command) const { return remove_queue(step, command); }
  Status operator()(const PlanAllocations& command) const { return plan_allocations(step, command); }
  Status operator()(const NoteSubmitted& command) const { return note_submitted(step, command); }
  Status operator()(const NoteStarted& command) const { return note_started(step, command); }
  Status operator()(const CancelAllocation& command) const { return cancel_allocation(step, command); }
  Status operator()(const NoteEnded& command) const { return note_ended(step, command); }
  Status operator()(const NoteTimeLeft& command) const { return note_time_left(step, command); }
};

}  // namespace

Engine::Engine(SearcherRegistry registry) : state_(std::make_unique<State>()) {
  state_->state.registry = registry;
}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Effects> Engine::step(Command command, Instant now, const std::string& actor) {
  Effects effects;
  if (const Status done = step(std::move(command), now, effects, actor); !done) {
    return done.error();
  }
  return effects;
}

Status Engine::step(Command command, Instant now, Effects& effects, const std::string& actor) {
  effects.events.clear();
  effects.orders.clear();
  effects.created.reset();
  effects.joined.reset();
  effects.asked.clear();
  Step step(state_->state, effects, std::max(now, state_->state.last_instant), actor);
  Status done = std::visit(Dispatch{step}, command);
  step.command_is_done();
  if (done) {
    schedule(step);
    give_orders(step);
  }
  return done;
}

Problems Engine::problems_of(const ChangeExperiment& command) const {
  const ExperimentRecord* record = find(command.experiment);
  const bool is_closed = record == nullptr || record->state == ExperimentState::canceled ||
                         record->state == ExperimentState::stopping;
  return is_closed ? Problems()
                   : problems_of_change(record->effective, command.changes, state_->state.registry);
}

Status Engine::may_join(const JoinWorker& command) const {
  return engine::may_join(state_->state, command);
}

Status Engine::replay(const Event& event) {
  const Status fits = validate_event(state_->state, event);
  if (fits) {
    apply(state_->state, event);
  }
  return fits;
}

std::optional<Instant> Engine::next_deadline() const noexcept {
  const Agenda& agenda = state_->state.agenda;
  if (!agenda.unfinished.empty()) {
    return last_instant();
  }
  std::optional<Instant> next;
  if (!agenda.deadlines.empty()) {
    next = agenda.deadlines.begin()->first;
  }
  if (!agenda.delayed.empty()) {
    next = std::min(next.value_or(agenda.delayed.begin()->until), agenda.delayed.begin()->until);
  }
  return next;
}

Lsn Engine::last_lsn() const noexcept {
  return state_->state.last_lsn;
}
Instant Engine::last_instant() const noexcept {
  return state_->state.last_instant;
}
const Numbering& Engine::numbering() const noexcept {
  return state_->state.numbering;
}
const std::map<ExperimentId, ExperimentRecord>& Engine::experiments() const noexcept {
  return state_->state.experiments;
}
const std::map<ExperimentId, DeletedExperiment>& Engine::deleted() const noexcept {
  return state_->state.deleted;
}
Error Engine::no_experiment(ExperimentId experiment) const {
  return engine::no_experiment(state_->state, experiment);
}
const std::map<WorkerId, WorkerRecord>& Engine::workers() const noexcept {
  return state_->state.workers;
}
const std::map<WorkerId, ForgottenWorker>& Engine::forgotten_workers() const noexcept {
  return state_->state.forgotten_workers;
}
const Workspaces& Engine::workspaces() const noexcept {
  return state_->state.workspaces;
}

const std::map<std::string, QueueRecord>& Engine::queues() const noexcept {
  return state_->state.queues;
}
const AllocationRecord* Engine::find(const AllocationName& name) const noexcept {
  return find_allocation(state_->state, name);
}
TooLongTrials Engine::too_long_trials_of(const std::string& queue) const {
  const auto found = state_->state.queues.find(queue);
  return found == state_->state.queues.end() ? TooLongTrials{}
                                             : engine::too_long_trials_of(state_->state, found->second);
}

Result<std::uint64_t> Engine::trials_waiting_for(const std::string& queue) const {
  return engine::trials_waiting_for(state_->state, queue);
}
bool Engine::plans_allocations() const noexcept {
  return !state_->state.queues.empty() || state_->state.allocated_workers > 0;
}

const ExperimentRecord* Engine::find(ExperimentId experiment) const noexcept {
  const auto found = state_->state.experiments.find(experiment);
  return found == state_->state.experiments.end() ? nullptr : &found->second;
}

const TrialRecord* Engine::find(ExperimentId experiment, TrialNumber trial) const noexcept {
  const ExperimentRecord* record = find(experiment);
  return record != nullptr && trial.number() < record->trials.size() ? &record->trials[trial.number()]
                                                                     : nullptr;
}

void Engine::set_most_ends(std::uint64_t trials) noexcept {
  state_->state.most_ends = std::max<std::uint64_t>(1, trials);
}

void Engine::skip_first_look() noexcept {
  state_->state.skips_first_look = true;
}

void Engine::trust_workers() noexcept {
  state_->state.trusts_workers = true;
  state_->state.skips_first_look = true;
}

void Engine::retry_at_once() noexcept {
  state_->state.retries_at_once = true;
}

void Engine::set_suspect(WorkerId worker, bool suspect) {
  EngineState& state = state_->state;
  if (suspect) {
    state.suspects.insert(worker);
  } else {
    state.suspects.erase(worker);
  }
  if (const auto known = state.workers.find(worker); known != state.workers.end()) {
    note_vacancy(state, known->second);
  }
}

void Engine::set_taken(const std::string& uid, const std::vector<SlotTrouble>& taken) {
  EngineState& state = state_->state;
  std::map<SlotIndex, std::string> slots;
  for (const SlotTrouble& slot : taken) {
    slots.emplace(slot.slot, slot.why);
  }
  const auto id = state.worker_by_uid.find(uid);
  const auto known = id == state.worker_by_uid.end() ? state.workers.end() : state.workers.find(id->second);
  if (known != state.workers.end()) {
    WorkerRecord& worker = known->second;
    for (const auto& [slot, who] : worker.taken) {
      worker.slots.restore(slot);
    }
    worker.taken = slots;
    withdraw_those(worker);
    note_vacancy(state, worker);
  }
  if (slots.empty()) {
    state.taken_by_uid.erase(uid);
  } else {
    state.taken_by_uid[uid] = std::move(slots);
  }
}

std::uint64_t Engine::slots_wanted_of(WorkerId worker) const {
  const EngineState& state = state_->state;
  const auto known = state.workers.find(worker);
  if (known == state.workers.end()) {
    return 0;
  }
  for (const Claim& claim : state.agenda.claims) {
    const ExperimentRecord& record = state.experiments.at(claim.experiment);
    const std::uint64_t slots = record.config.resources.slots_per_trial;
    if (slots > 0 && slots <= known->second.slots.total() && serves(known->second, record.config.resources) &&
        trials_that_could_start(state, record, state.last_instant) > 0) {
      return slots;
    }
  }
  return 0;
}

}  // namespace hpsearch::engine
