#include "hpsearch/engine/engine.hpp"

#include <algorithm>
#include <utility>

#include "journal/snapshot.hpp"
#include "step.hpp"

namespace hpsearch::engine {

struct Engine::State {
  World world;
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
  Status operator()(const EndTrial& command) const { return end_trial(step, command); }
  Status operator()(const JoinWorker& command) const { return join_worker(step, command); }
  Status operator()(const LoseWorker& command) const { return lose_worker(step, command); }
  Status operator()(const ExpireLeases& command) const { return expire_leases(step, command); }
  Status operator()(const QuarantineWorker& command) const { return quarantine_worker(step, command); }
  Status operator()(const ReleaseWorker& command) const { return release_worker(step, command); }
  Status operator()(const NoteRemains& command) const { return note_remains(step, command); }
  Status operator()(const DisclaimAttempts& command) const { return disclaim_attempts(step, command); }
  Status operator()(const NoteTroubles& command) const { return note_troubles(step, command); }
  Status operator()(const AdoptAttempt& command) const { return adopt_attempt(step, command); }
  Status operator()(const DisownAttempt& command) const { return disown_attempt(step, command); }
  Status operator()(const ConfirmStart& command) const { return confirm_start(step, command); }
  Status operator()(TakeReports& command) const { return take_reports(step, std::move(command)); }
  Status operator()(const DeleteCheckpoints& command) const { return delete_checkpoints(step, command); }
  Status operator()(const ConfirmDeleted& command) const { return confirm_deleted(step, command); }
  Status operator()(const LookAtClock&) const { return Done{}; }
};

}  // namespace

Engine::Engine(SearcherRegistry registry) : state_(std::make_unique<State>()) {
  state_->world.registry = registry;
}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

Result<Effects> Engine::step(Command command, Instant now) {
  Effects effects;
  if (const Status done = step(std::move(command), now, effects); !done) {
    return done.error();
  }
  return effects;
}

Status Engine::step(Command command, Instant now, Effects& effects) {
  effects.events.clear();
  effects.orders.clear();
  effects.created.reset();
  effects.joined.reset();
  Step step(state_->world, effects, std::max(now, state_->world.last_instant));
  Status done = std::visit(Dispatch{step}, command);
  if (done) {
    settle(step);
    give_orders(step);
  }
  return done;
}

Status Engine::may_join(const JoinWorker& command) const {
  return engine::may_join(state_->world, command);
}

Status Engine::replay(const Event& event) {
  const Status fits = admissible(state_->world, event);
  if (fits) {
    apply(state_->world, event);
  }
  return fits;
}

Value Engine::save() const {
  return save_world(state_->world);
}

Status Engine::load(const Value& saved) {
  HPSEARCH_CHECK(last_lsn() == Lsn{}, "a snapshot is loaded into a fresh engine");
  auto loaded = std::make_unique<State>();
  loaded->world.registry = state_->world.registry;
  loaded->world.trusts_workers = state_->world.trusts_workers;
  loaded->world.most_ends = state_->world.most_ends;
  Status status = load_world(saved, loaded->world);
  if (status) {
    state_ = std::move(loaded);
  }
  return status;
}

std::optional<Instant> Engine::next_deadline() const noexcept {
  const Agenda& agenda = state_->world.agenda;
  if (!agenda.unfinished.empty()) {
    return last_instant();
  }
  std::optional<Instant> next;
  if (!agenda.deadlines.empty()) {
    next = agenda.deadlines.begin()->first;
  }
  if (!agenda.put_off.empty()) {
    next = std::min(next.value_or(agenda.put_off.begin()->until), agenda.put_off.begin()->until);
  }
  return next;
}

Lsn Engine::last_lsn() const noexcept {
  return state_->world.last_lsn;
}
Instant Engine::last_instant() const noexcept {
  return state_->world.last_instant;
}
const Numbering& Engine::numbering() const noexcept {
  return state_->world.numbering;
}
const std::map<ExperimentId, ExperimentRecord>& Engine::experiments() const noexcept {
  return state_->world.experiments;
}
const std::map<WorkerId, WorkerRecord>& Engine::workers() const noexcept {
  return state_->world.workers;
}

const ExperimentRecord* Engine::find(ExperimentId experiment) const noexcept {
  const auto found = state_->world.experiments.find(experiment);
  return found == state_->world.experiments.end() ? nullptr : &found->second;
}

const TrialRecord* Engine::find(ExperimentId experiment, TrialNumber trial) const noexcept {
  const ExperimentRecord* record = find(experiment);
  return record != nullptr && trial.number() < record->trials.size() ? &record->trials[trial.number()]
                                                                     : nullptr;
}

void Engine::set_most_ends(std::uint64_t trials) noexcept {
  state_->world.most_ends = std::max<std::uint64_t>(1, trials);
}

void Engine::trust_workers() noexcept {
  state_->world.trusts_workers = true;
}

void Engine::set_suspect(WorkerId worker, bool suspect) {
  World& world = state_->world;
  if (suspect) {
    world.suspects.insert(worker);
  } else {
    world.suspects.erase(worker);
  }
  if (const auto known = world.workers.find(worker); known != world.workers.end()) {
    note_vacancy(world, known->second);
  }
}

}  // namespace hpsearch::engine
