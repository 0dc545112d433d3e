#include "simulation/cluster/nodes/users.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/sampler_names.hpp"
#include "simulation/cluster/faults/probes.hpp"
#include "simulation/search_spaces.hpp"

namespace hpsearch::simulation {

using engine::Duration;
using engine::ExperimentState;
using engine::Value;

namespace {

// A client waits so long for an answer before it asks again with the same key.
constexpr Duration client_patience = Duration::seconds(30);

}  // namespace

Users::Users(VirtualTime& time, Faults& faults, DaemonNode& daemon, Promises& promises, std::uint64_t seed)
    : time_(time),
      faults_(faults),
      daemon_(daemon),
      promises_(promises),
      draw_(seed, engine::TrialNumber(0), "users"),
      patience_(seed, engine::TrialNumber(0), "patience"),
      gangs_(seed, engine::TrialNumber(0), "gangs"),
      budgets_(seed, engine::TrialNumber(0), "budgets"),
      samplers_(seed, engine::TrialNumber(0), "samplers"),
      spaces_(seed, engine::TrialNumber(0), "spaces"),
      repeats_(seed, engine::TrialNumber(0), "repeats"),
      rules_(seed, engine::TrialNumber(0), "rules"),
      quotas_(seed, engine::TrialNumber(0), "quotas") {
}

Value Users::search() {
  const auto number = [this](std::uint64_t least, std::uint64_t more) {
    return static_cast<std::int64_t>(least + draw_.below(more));
  };
  Value::Map searcher{{"metric", "score"},
                      {"max_trials", number(1, 14)},
                      {"max_concurrent_trials", number(0, 5)},
                      {"max_length", Value::Map{{"epochs", 9}}}};
  Value::Map config;
  config["entrypoint"] = "true";
  config["hyperparameters"] =
      Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}}};
  switch (draw_.below(5)) {
    case 0:
      searcher["name"] = "random";
      break;
    case 1:
    case 2:
      searcher["name"] = "async_halving";
      searcher["num_rungs"] = 3;
      searcher["divisor"] = 3;
      searcher["stop_once"] = draw_.below(2) == 0;
      break;
    case 3:
      searcher["name"] = "adaptive_asha";
      searcher["divisor"] = 3;
      searcher["stop_once"] = draw_.below(2) == 0;
      break;
    default: {
      const std::int64_t points = number(1, 9);
      searcher["name"] = "grid";
      searcher.erase("max_trials");
      config["hyperparameters"] = Value::Map{
          {"x",
           Value::Map{
               {"type", "int"}, {"minval", std::int64_t{1}}, {"maxval", points + 1}, {"count", points}}}};
    }
  }
  if (searcher.contains("max_trials")) {
    const std::vector<std::string>& samplers = engine::sampler_names();
    searcher["sampler"] = samplers[samplers_.below(samplers.size())];
  }
  take_some_space(config, spaces_);
  if (repeats_.below(4) == 0) {
    searcher["repeats"] = static_cast<std::int64_t>(2 + repeats_.below(2));
    searcher["finalists"] = static_cast<std::int64_t>(1 + repeats_.below(2));
  }
  take_some_rules(searcher, rules_);
  config["searcher"] = std::move(searcher);
  config["max_restarts"] = number(0, 4);
  if (patience_.below(2) == 0) {  // Longer than any step takes.
    config["progress_timeout"] = static_cast<std::int64_t>(1'200 + patience_.below(3'600));
  }
  if (gangs_.below(4) == 0 && gang_slots_ > 0) {
    config["resources"] =
        Value::Map{{"slots_per_trial", static_cast<std::int64_t>(gang_slots_)}, {"spans_workers", true}};
  }
  if (budgets_.below(4) == 0) {
    config["budget"] = Value::Map{{"max_time", static_cast<std::int64_t>(600 + budgets_.below(7'200))}};
  }
  return Value(std::move(config));
}

void Users::submit() {
  ++unanswered_;
  submit_until_answered(search(), "submission " + std::to_string(++submitted_), std::make_shared<bool>(false),
                        0);
}

void Users::submit_a_large_one() {
  ++unanswered_;
  Value::Map config{{"entrypoint", "true"},
                    {"max_restarts", 4},
                    {"hyperparameters",
                     Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 1.0}}}}},
                    {"searcher", Value::Map{{"name", "random"},
                                            {"metric", "score"},
                                            {"max_trials", 16},
                                            {"max_length", Value::Map{{"epochs", 2}}}}}};
  submit_until_answered(Value(std::move(config)), "submission " + std::to_string(++submitted_),
                        std::make_shared<bool>(false), 0);
}

void Users::submit_until_answered(Value config, std::string key, std::shared_ptr<bool> answered,
                                  std::uint64_t tries) {
  if (daemon::Runtime* runtime = daemon_.listening()) {
    if (tries > 0) {
      reached(Probe::submission_repeated_after_a_crash);
    }
    engine::CreateExperiment command;
    command.config = config;
    command.fallback_name = "search";
    command.seed = draw_.below(1'000'000);
    command.idempotency_key = key;
    const std::uint64_t times = faults_.strikes(Fault::user_submits_twice) ? 2 : 1;
    for (std::uint64_t i = 0; i < times; ++i) {
      static_cast<void>(runtime->perform(command, [this, answered](const auto& outcome) {
        if (!outcome || !outcome->created) {
          promises_.break_because("a search is refused: " + (outcome ? "no id" : outcome.error().message));
          return;
        }
        if (promises_.fold().find(*outcome->created) == nullptr) {
          promises_.break_because("I1: a submission was answered and is not durable");
        }
        if (!std::exchange(*answered, true)) {
          --unanswered_;
        }
      }));
    }
  }
  time_.after(client_patience, [this, answered, config = std::move(config), key = std::move(key), tries] {
    if (!*answered) {
      submit_until_answered(config, key, answered, tries + 1);
    }
  });
}

void Users::perform(engine::Command command) {
  daemon::Runtime* runtime = daemon_.listening();
  if (runtime == nullptr) {
    return;  // They try again another time.
  }
  const auto at = std::make_shared<engine::Lsn>();
  const auto done = runtime->perform(std::move(command), [this, at](const auto& outcome) {
    if (outcome) {
      promises_.answered(*at);
    }
  });
  *at = runtime->engine().last_lsn();
  static_cast<void>(done);
}

Value Users::new_limits(const engine::ExperimentRecord& record) {
  Value::Map searcher;
  searcher["max_concurrent_trials"] = static_cast<std::int64_t>(draw_.below(5));
  const std::uint64_t now = record.config.searcher.max_trials;
  if (now > 0 && draw_.below(2) == 0) {
    searcher["max_trials"] = static_cast<std::int64_t>(1 + draw_.below(2 * now));
  }
  Value::Map resources;
  resources["priority"] = static_cast<std::int64_t>(1 + draw_.below(99));
  return Value(Value::Map{{"searcher", searcher}, {"resources", resources}});
}

void Users::quarantine_some_worker() {
  const auto& workers = daemon_.listening()->engine().workers();
  if (workers.empty()) {
    return;
  }
  const engine::WorkerId worker =
      std::next(workers.begin(), static_cast<long>(draw_.below(workers.size())))->first;
  faults_.struck(Fault::user_quarantines_worker);
  perform(engine::QuarantineWorker{worker, "it is to be looked at"});
  time_.after(Duration::seconds(static_cast<std::int64_t>(60 + draw_.below(3'600))),
              [this, worker] { perform(engine::ReleaseWorker{worker}); });
}

/// An attempt on several workers needs all its slots within it.
void Users::change_quota() {
  engine::Quota quota;
  if (quotas_.below(3) != 0) {
    quota.max_slots = std::max<std::uint64_t>(gang_slots_, 1) + quotas_.below(4);
  }
  perform(engine::ChangeQuota{std::string(engine::default_workspace), quota});
}

void Users::act(Fault kind) {
  const daemon::Runtime* runtime = daemon_.listening();
  if (runtime != nullptr && quotas_.below(3) == 0) {
    change_quota();
  }
  if (runtime != nullptr && kind == Fault::user_quarantines_worker) {
    quarantine_some_worker();
    return;
  }
  if (runtime == nullptr || runtime->engine().experiments().empty()) {
    return;
  }
  const auto& experiments = runtime->engine().experiments();
  std::vector<const engine::ExperimentRecord*> living;
  for (const auto& [id, record] : experiments) {
    if (!engine::is_ended(record.state)) {
      living.push_back(&record);
    }
  }
  if (living.empty()) {
    return;
  }
  const engine::ExperimentRecord& record = *living[draw_.below(living.size())];
  const engine::ExperimentId id = record.id;
  faults_.struck(kind);
  switch (kind) {
    case Fault::user_pause:
      if (record.state == ExperimentState::paused) {
        perform(engine::ResumeExperiment{id});
      } else if (record.state == ExperimentState::active) {
        perform(engine::PauseExperiment{id});
        // They do not forget it.
        time_.after(Duration::seconds(static_cast<std::int64_t>(60 + draw_.below(3'600))),
                    [this, id] { perform(engine::ResumeExperiment{id}); });
      }
      break;
    case Fault::user_cancel:
      perform(engine::CancelExperiment{id});
      break;
    case Fault::user_kill:
      perform(engine::KillExperiment{id});
      break;
    case Fault::user_ends_trial:
      if (!record.trials.empty()) {
        const engine::TrialNumber trial(draw_.below(record.trials.size()));
        if (!engine::is_closed(record.trials[trial.number()].state)) {
          perform(engine::EndTrial{
              id, trial,
              draw_.below(2) == 0 ? engine::ExitReason::user_canceled : engine::ExitReason::user_stopped});
        }
      }
      break;
    case Fault::user_changes_limits:
      if (record.state == ExperimentState::active || record.state == ExperimentState::paused) {
        perform(engine::ChangeExperiment{id, new_limits(record)});
      }
      break;
    default:
      break;
  }
}

void Users::undo_all() {
  const daemon::Runtime* runtime = daemon_.listening();
  if (runtime == nullptr) {
    return;
  }
  std::vector<engine::ExperimentId> paused;
  for (const auto& [id, record] : runtime->engine().experiments()) {
    if (record.state == ExperimentState::paused) {
      paused.push_back(id);
    }
  }
  for (const engine::ExperimentId id : paused) {
    perform(engine::ResumeExperiment{id});
  }
  std::vector<engine::WorkerId> quarantined;
  for (const auto& [id, worker] : runtime->engine().workers()) {
    if (!worker.quarantined.empty()) {
      quarantined.push_back(id);
    }
  }
  for (const engine::WorkerId id : quarantined) {
    perform(engine::ReleaseWorker{id});
  }
}

}  // namespace hpsearch::simulation
