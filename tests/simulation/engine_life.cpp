#include "simulation/engine_life.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "simulation/search_spaces.hpp"

namespace hpsearch::simulation {

using engine::AttemptKey;
using engine::Duration;
using engine::ExperimentId;
using engine::ExperimentRecord;
using engine::LiveAttempt;
using engine::Lsn;
using engine::SlotIndex;
using engine::TrialNumber;
using engine::TrialRecord;
using engine::Units;
using engine::Value;
using engine::WorkerId;

EngineLife::EngineLife(std::uint64_t seed) : EngineLife(seed, engine::Engine(searchers::registry())) {
}

EngineLife::EngineLife(std::uint64_t seed, engine::Engine engine)
    : draw_(seed, TrialNumber(0), "life"), rules_(seed, TrialNumber(0), "rules"), engine_(std::move(engine)) {
  now_ = std::max(now_, engine_.last_instant());
}

bool EngineLife::step(const engine::Command& command) {
  now_ = now_ + Duration::millis(1);
  const engine::Result<engine::Effects> effects = engine_.step(command, now_, chance(3) ? "ada" : "");
  if (effects) {
    log_.insert(log_.end(), effects->events.begin(), effects->events.end());
  }
  return effects.has_value();
}

Value EngineLife::some_config() {
  Value::Map config{
      {"entrypoint", "true"},
      {"max_restarts", static_cast<int>(draw_.below(3))},
      {"hyperparameters",
       Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}},
                  {"n", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 5}, {"count", 4}}},
                  {"kind", Value::Map{{"type", "categorical"}, {"vals", Value::List{"a", "b"}}}}}}};
  Value::Map searcher{{"metric", "score"},
                      {"max_length", Value::Map{{"epochs", 9}}},
                      {"max_concurrent_trials", static_cast<int>(draw_.below(5))}};
  const char* const names[] = {"random", "async_halving", "adaptive_asha", "grid", "single"};
  const std::string name = names[draw_.below(5)];
  searcher["name"] = name;
  if (name == "grid") {
    config["hyperparameters"] =
        Value::Map{{"n", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 5}, {"count", 5}}}};
  } else if (name != "single") {
    const char* const samplers[] = {"random", "model", "tpe", "anneal"};
    searcher["max_trials"] = static_cast<int>(2 + draw_.below(14));
    searcher["sampler"] = samplers[draw_.below(4)];
    searcher["on_duplicate"] = chance(3) ? "reject" : "allow";
  }
  if (name == "async_halving") {
    searcher["num_rungs"] = 3;
  }
  if (name == "async_halving" || name == "adaptive_asha") {
    searcher["divisor"] = 3;
    searcher["stop_once"] = chance(2);
  }
  if (name != "single" && chance(3)) {
    searcher["repeats"] = 2;
    searcher["finalists"] = 2;
  }
  take_some_rules(searcher, rules_);
  if (name != "grid" && name != "single") {
    take_some_space(config, draw_);
  }
  if (chance(4)) {
    config["workspace"] = "nlp";
    config["project"] = "letters";
  }
  if (chance(6)) {
    config["workers"] = "external";
  } else if (chance(4)) {
    config["resources"] = Value::Map{{"slots_per_trial", 4}, {"spans_workers", true}};
  } else if (chance(6)) {
    config["resources"] = Value::Map{{"slots_per_trial", 0}};
  }
  if (chance(6)) {
    config["budget"] = Value::Map{{"max_time", "10m"}};
  }
  config["searcher"] = std::move(searcher);
  return config;
}

void EngineLife::submit(const Value& config) {
  engine::CreateExperiment command;
  command.config = config;
  command.fallback_name = "life";
  command.seed = draw_.below(1'000);
  command.context_digest = chance(2) ? "c0ffee" : "";
  command.context_bytes = command.context_digest.empty() ? 0 : 100;
  command.owner = chance(2) ? "ada" : "";
  command.idempotency_key = chance(3) ? std::to_string(draw_.bits()) : "";
  step(command);
}

void EngineLife::join_two_workers() {
  join("w0", false);
  join("w1", false);
}

void EngineLife::restore_store() {
  engine::Engine again(searchers::registry());
  for (const engine::Event& event : log_) {
    HPSEARCH_CHECK(again.replay(event).has_value(), "a log replays");
  }
  now_ = now_ + Duration::seconds(60);
  const std::uint64_t from = engine::Numbering::first_after_a_restore;
  log_.push_back({Lsn(log_.size() + 1), now_, engine::StoreRestored{from, Duration::seconds(30)}});
  HPSEARCH_CHECK(again.replay(log_.back()).has_value(), "a log may be restored");
  engine_ = std::move(again);
  step(engine::ContinueTime{});
}

void EngineLife::live(int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    something_happens();
  }
}

void EngineLife::something_happens() {
  const std::uint64_t kind = draw_.below(100);
  if (kind < 62) {
    a_program_does_something();
  } else if (kind < 78) {
    a_worker_does_something();
  } else if (kind < 92) {
    a_user_does_something();
  } else if (kind < 94) {
    step(engine::NoteTime{});
  } else {
    if (const auto due = engine_.next_deadline(); due && chance(2)) {
      now_ = std::max(now_, *due);
    } else {
      now_ = now_ + Duration::seconds(static_cast<std::int64_t>(draw_.below(100)));
    }
    step(engine::CheckTimers{});
  }
}

// --- choices; nothing where there is none ---

const ExperimentRecord* EngineLife::some_experiment() {
  const auto& all = engine_.experiments();
  if (all.empty()) {
    return nullptr;
  }
  return &std::next(all.begin(), static_cast<std::ptrdiff_t>(draw_.below(all.size())))->second;
}

const LiveAttempt* EngineLife::some_attempt() {
  const ExperimentRecord* record = some_experiment();
  if (record == nullptr || record->running.empty()) {
    return nullptr;
  }
  const auto number =
      std::next(record->running.begin(), static_cast<std::ptrdiff_t>(draw_.below(record->running.size())));
  return &*record->trials[number->number()].live;
}

WorkerId EngineLife::some_worker() {
  const auto& all = engine_.workers();
  return all.empty() ? WorkerId(1)
                     : std::next(all.begin(), static_cast<std::ptrdiff_t>(draw_.below(all.size())))->first;
}

std::vector<engine::HeldAttempt> EngineLife::held_by(WorkerId id) {
  std::vector<engine::HeldAttempt> held;
  const auto worker = engine_.workers().find(id);
  if (worker == engine_.workers().end()) {
    return held;
  }
  const auto add = [&](const LiveAttempt& live, const std::vector<SlotIndex>& slots) {
    engine::HeldAttempt attempt{live.known_as(), false, live.applied_seq, Lsn{}};
    attempt.first_seq = live.applied_seq + 1;
    attempt.slots = slots;
    attempt.length = live.granted_length;
    attempt.held_for = Duration::seconds(static_cast<std::int64_t>(draw_.below(500)));
    attempt.unkillable = chance(8);
    if (!chance(6)) {
      held.push_back(std::move(attempt));
    }
  };
  for (const AttemptKey& key : worker->second.attempts) {
    const LiveAttempt& live = *engine_.find(key.experiment, key.trial)->live;
    if (const auto part = live.part_on(id)) {
      add(live, *part->slots);
    }
  }
  for (const AttemptKey& key : worker->second.may_return) {
    const TrialRecord* trial = engine_.find(key.experiment, key.trial);
    if (trial != nullptr && trial->failure_history && trial->failure_history->lost) {
      add(*trial->failure_history->lost, trial->failure_history->lost->slots);
    }
  }
  return held;
}

// --- workers ---

void EngineLife::join(const std::string& uid, bool restarted) {
  engine::JoinWorker command;
  command.uid = uid;
  command.name = "node-" + uid;
  command.slots = 2;
  command.slot_kind = "gpu";
  command.address = "10.0.0." + uid;
  command.incarnation = 1;
  for (const auto& [id, worker] : engine_.workers()) {
    if (worker.uid == uid) {
      command.incarnation = worker.incarnation + (restarted ? 1 : 0);
      command.held = restarted ? std::vector<engine::HeldAttempt>{} : held_by(id);
    }
  }
  if (chance(4)) {
    command.slots = 1 + draw_.below(3);
  }
  if (chance(3)) {
    for (std::uint64_t slot = 0; slot < command.slots; ++slot) {
      command.devices.push_back({"GPU-" + std::to_string(slot / 2), "Fake GPU", 0, 0});
    }
  }
  if (chance(5)) {
    command.troubles.push_back({SlotIndex(draw_.below(command.slots)), "broken"});
  }
  step(command);
}

void EngineLife::a_worker_does_something() {
  const WorkerId worker = some_worker();
  const auto known = engine_.workers().find(worker);
  switch (draw_.below(14)) {
    case 0:
      step(engine::LoseWorker{worker, "silent"});
      break;
    case 1:
      step(engine::ExpireLeases{worker, engine::Instant::from_micros(0), Duration::seconds(60), Duration{}});
      break;
    case 2:
      step(engine::NoteLeakedProcesses{worker, {}});
      break;
    case 3:
      if (const LiveAttempt* live = some_attempt()) {
        step(engine::NoteLeakedProcesses{
            worker,
            {{{live->key.experiment, live->key.trial, live->key.attempt, engine::LeaseId(1 + draw_.below(9))},
              {SlotIndex(draw_.below(3))}}}});
      }
      break;
    case 4:
      step(engine::NoteTroubles{worker, {{SlotIndex(draw_.below(3)), "broken"}}});
      break;
    case 5:
      step(engine::NoteTroubles{worker, {}});
      break;
    case 6:
      if (known != engine_.workers().end() && !known->second.attempts.empty()) {
        step(engine::DisclaimAttempts{worker, {*known->second.attempts.begin()}});
      }
      break;
    case 7:
      if (const LiveAttempt* live = some_attempt()) {
        AttemptKey key = live->key;
        key.attempt = engine::AttemptNumber(key.attempt.number() + 1);
        key.lease = engine::LeaseId(900 + draw_.below(100));
        engine::HeldAttempt held{key, false, draw_.below(3), Lsn{}};
        held.slots = {SlotIndex(draw_.below(2))};
        held.length = live->granted_length;
        step(chance(2) ? engine::Command(engine::AdoptAttempt{worker, held})
                       : engine::Command(engine::DisownAttempt{worker, key}));
      }
      break;
    default:
      join("w" + std::to_string(draw_.below(4)), chance(3));
  }
}

// --- programs ---

engine::Report EngineLife::some_report(const LiveAttempt& live) {
  const Units length = live.decision ? live.decision->length : live.granted_length;
  const auto metrics = [](std::uint64_t step, double score) {
    return engine::MetricsReport{Units{step}, {{"score", score}}};
  };
  engine::ExitReport exit;
  switch (draw_.below(16)) {
    case 0:
      exit.code = chance(2) ? 1 : 75;
      exit.message = "exit status 1";
      exit.log_tail = std::string(draw_.below(20), 'x');
      return exit;
    case 1:
      return exit;
    case 2:
      exit.cause = static_cast<engine::ExitReport::Cause>(draw_.below(8));
      exit.unkillable = chance(3);
      return exit;
    case 3:
      return engine::InvalidHparamsReport{"no"};
    case 4:
    case 5:
      return engine::CheckpointReport{Units{draw_.below(10)}, "/c/" + std::to_string(draw_.below(50)), 1, 1};
    case 6:
      return metrics(draw_.below(10), std::numeric_limits<double>::quiet_NaN());
    case 7:
      return engine::NoteReport{"prints", "the program prints something"};
    case 8:
      return engine::UnmeasuredReport{length};
    case 9:
    case 10:
    case 11:
      return metrics(draw_.below(12), draw_.unit());
    default:
      return metrics(engine::count(length), draw_.unit());
  }
}

void EngineLife::a_program_does_something() {
  const LiveAttempt* live = some_attempt();
  if (live == nullptr) {
    return;
  }
  const AttemptKey key = live->key;
  WorkerId where = live->worker;
  std::uint64_t seq = live->applied_seq + 1;
  if (live->gang) {
    const auto& member = live->gang->members[draw_.below(live->gang->members.size())];
    where = member.worker;
    seq = member.worker == live->worker ? seq : 1;
  }
  if (chance(5)) {
    step(engine::ConfirmStart{where, key});
    return;
  }
  if (live->is_ending() && !chance(4)) {
    engine::ExitReport exit;
    exit.cause = chance(2) ? engine::ExitReport::Cause::ended_by_agent : engine::ExitReport::Cause::exited;
    step(engine::TakeReports{where, key, seq, {exit}});
    return;
  }
  step(engine::TakeReports{where, key, seq, {some_report(*live)}});
}

// --- users ---

void EngineLife::a_user_does_something() {
  const ExperimentRecord* record = some_experiment();
  if (record == nullptr || engine_.experiments().size() < 3 ? chance(4) : chance(30)) {
    submit(some_config());
    return;
  }
  if (record == nullptr) {
    return;
  }
  const ExperimentId id = record->id;
  const TrialNumber trial(record->trials.size() == 0 ? 0 : draw_.below(record->trials.size()));
  switch (draw_.below(23)) {
    case 0:
      step(engine::PauseExperiment{id});
      break;
    case 1:
    case 2:
    case 3:
      step(engine::ResumeExperiment{id});
      break;
    case 4:
      step(engine::CancelExperiment{id});
      break;
    case 5:
      step(engine::KillExperiment{id});
      break;
    case 6:
    case 7:
    case 8:
      step(engine::ChangeExperiment{
          id, Value::Map{{"searcher", Value::Map{{"max_trials", static_cast<int>(1 + draw_.below(20))},
                                                 {"max_concurrent_trials", static_cast<int>(draw_.below(5))},
                                                 {"on_duplicate", chance(2) ? "reject" : "allow"}}}}});
      break;
    case 9:
      step(engine::ChangeExperiment{
          id,
          Value::Map{{"searcher", Value::Map{{"points_to_evaluate", Value::List{record->config.space.sample(
                                                                        draw_.bits(), TrialNumber(0))}}}}}});
      break;
    case 10:
      step(engine::ChangeProgram{id, chance(2) ? "beef" : "dead", 10, {"train.py"}});
      break;
    case 11:
      step(engine::EndTrial{
          id, trial, chance(2) ? engine::ExitReason::user_canceled : engine::ExitReason::user_stopped});
      break;
    case 12:
      step(engine::RetryTrial{id, trial});
      break;
    case 13:
      step(chance(2) ? engine::Command(engine::ArchiveExperiment{id})
                     : engine::Command(engine::UnarchiveExperiment{id}));
      break;
    case 14:
      step(engine::DeleteExperiment{id, id.number() % 2 == 0 ? Duration::seconds(86'400) : Duration{}});
      break;
    case 15:
      if (trial.number() < record->trials.size() && record->trials[trial.number()].checkpoints &&
          !record->trials[trial.number()].checkpoints->kept.empty()) {
        step(engine::DeleteCheckpoints{
            id, trial, {record->trials[trial.number()].checkpoints->kept.front().path}});
      }
      if (!record->condemned.empty()) {
        step(engine::ConfirmDeleted{id, {record->condemned.front()}});
      }
      break;
    case 16:
      step(engine::CreateWorkspace{"nlp"});
      break;
    case 17: {
      engine::Quota quota;
      quota.max_slots = chance(2) ? std::optional<std::uint64_t>(1 + draw_.below(8)) : std::nullopt;
      quota.slot_hours_per_30d = chance(4) ? std::optional<std::uint64_t>(draw_.below(3)) : std::nullopt;
      step(engine::ChangeQuota{chance(2) ? "nlp" : "default", quota});
      break;
    }
    case 18:
      step(engine::NoteRequest{"key", "request"});
      break;
    case 19:
      step(engine::AskTrials{id, 1 + draw_.below(3), Duration::seconds(60), ""});
      break;
    case 20: {
      const WorkerId worker = some_worker();
      step(chance(3)   ? engine::Command(engine::QuarantineWorker{worker, "smoke"})
           : chance(2) ? engine::Command(engine::DrainWorker{worker})
                       : engine::Command(engine::ForgetWorker{worker, "gone"}));
      break;
    }
    case 21:
      step(engine::Annotate{.experiment = id,
                            .trial = chance(2) ? std::optional(trial) : std::nullopt,
                            .note = chance(2) ? "odd" : "",
                            .starred = chance(2)});
      break;
    default:
      step(engine::ReleaseWorker{some_worker()});
  }
}

}  // namespace hpsearch::simulation
