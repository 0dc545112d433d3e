#include "hpsearch/engine/search.hpp"

#include <algorithm>
#include <utility>

#include "hpsearch/engine/experiment/best_trial.hpp"
#include "hpsearch/engine/experiment/open_end.hpp"

namespace hpsearch::engine {
namespace {

constexpr const char* own_uid = "in-process";

std::string text_of(TrialNumber trial) {
  return "trial " + std::to_string(trial.number());
}

void default_to(Value& config, std::string_view key, Value value) {
  if (Value::Map* map = config.as_map(); map != nullptr && !map->contains(key)) {
    (*map)[key] = std::move(value);
  }
}

/// A search in a program has one worker and one experiment, and never forgets them. "", or what else it says.
std::string not_of_a_program(const Event& event) {
  if (const auto* joined = std::get_if<WorkerJoined>(&event.body)) {
    if (joined->uid != own_uid || joined->worker != WorkerId(1) || joined->slots == 0) {
      return "is about another worker than the program";
    }
  } else if (const auto* created = std::get_if<ExperimentCreated>(&event.body)) {
    if (created->experiment != ExperimentId(1)) {
      return "is about another search";
    }
  } else if (std::holds_alternative<ExperimentDeleted>(event.body) ||
             std::holds_alternative<WorkerForgotten>(event.body) ||
             std::holds_alternative<LogsRemoved>(event.body) ||
             std::holds_alternative<CurveThinned>(event.body) ||
             std::holds_alternative<RowsRemoved>(event.body) ||
             std::holds_alternative<QueueAdded>(event.body) ||
             std::holds_alternative<StoreRestored>(event.body)) {
    return "is none of a search in a program";
  }
  return "";
}

}  // namespace

Search::Search(Engine engine, EventSink sink) : engine_(std::move(engine)), sink_(std::move(sink)) {
  engine_.trust_workers();  // No user could resume a search that paused itself.
  engine_.retry_at_once();  // Time passes only with each call.
}

Value Search::completed(Value config) {
  default_to(config, "entrypoint", Value::List{"in this program"});
  default_to(config, "name", "search");
  default_to(config, "max_restarts", 0);  // The caller knows whether to try again.
  // This program runs the trials, as many at once as it said, whatever the file says about workers.
  if (Value::Map* map = config.as_map(); map != nullptr) {
    map->erase("workers");
    Value* resources = map->find("resources");
    if (Value::Map* fields = resources == nullptr ? nullptr : resources->as_map(); fields != nullptr) {
      fields->erase("slots_per_trial");
      fields->erase("max_slots");
    }
  }
  return config;
}

Result<WorkerId> Search::join(std::uint64_t slots, std::uint64_t incarnation) {
  JoinWorker join;
  join.uid = own_uid;
  join.name = own_uid;
  join.incarnation = incarnation;
  join.slots = slots;
  join.slot_kind = "cpu";
  Result<Effects> joined = step(join);
  if (!joined) {
    return joined.error();
  }
  return *joined->joined;
}

Result<Search> Search::open(const Value& config, SearcherRegistry registry, std::uint64_t slots,
                            EventSink sink) {
  if (slots == 0) {
    return Error{Errc::bad_request, "slots is 0; a search needs at least one"};
  }
  Search search(Engine(registry), std::move(sink));
  const Result<WorkerId> worker = search.join(slots, 0);
  if (!worker) {
    return worker.error();
  }
  search.worker_ = *worker;
  CreateExperiment create;
  create.config = completed(config);
  Result<Effects> created = search.step(create);
  if (!created) {
    return created.error();
  }
  search.experiment_ = *created->created;
  return search;
}

Result<Search> Search::restore(std::span<const Event> events, SearcherRegistry registry, EventSink sink) {
  Search search(Engine(registry), std::move(sink));
  for (const Event& event : events) {
    if (const std::string strange = not_of_a_program(event); !strange.empty()) {
      return Error{Errc::corrupt, "event " + std::to_string(event.lsn.number()) + " " + strange};
    }
    if (const Status replayed = search.engine_.replay(event); !replayed) {
      return replayed.error();
    }
  }
  const auto& workers = search.engine_.workers();
  const auto& experiments = search.engine_.experiments();
  if (workers.empty() || experiments.empty()) {
    return Error{Errc::corrupt, "after event " + std::to_string(search.engine_.last_lsn().number()) +
                                    " there is no " + (workers.empty() ? "worker" : "search")};
  }
  if (const std::string open = open_end(experiments.begin()->second); !open.empty()) {
    return Error{Errc::corrupt,
                 "after event " + std::to_string(search.engine_.last_lsn().number()) + " " + open};
  }
  const WorkerRecord& before = workers.begin()->second;
  search.experiment_ = experiments.begin()->first;
  search.ticks_ = search.engine_.last_instant().micros();
  const Result<WorkerId> worker = search.join(before.slots.total(), before.incarnation + 1);
  if (!worker) {
    return worker.error();
  }
  search.worker_ = *worker;
  return search;
}

Result<Effects> Search::step(const Command& command) {
  Result<Effects> effects = step_once(command);
  while (effects &&
         engine_.next_deadline() == engine_.last_instant()) {  // There was more to do than one step may.
    HPSEARCH_CHECK(step_once(CheckTimers{}).has_value(), "looking at the clock is never wrong");
  }
  return effects;
}

Result<Effects> Search::step_once(const Command& command) {
  Result<Effects> effects = engine_.step(command, Instant::from_micros(++ticks_));
  if (effects) {
    if (sink_) {
      for (const Event& event : effects->events) {
        sink_(event);
      }
    }
    for (const Order& order : effects->orders) {
      if (const auto* launch = std::get_if<LaunchAttempt>(&order)) {
        ready_.push_back(launch->spec.key);
      }
    }
  }
  return effects;
}

std::optional<Search::Work> Search::ask() {
  if (ready_.empty()) {
    return std::nullopt;
  }
  const AttemptKey key = ready_.front();
  ready_.pop_front();
  const Result<Effects> started = step(ConfirmStart{worker_, key});
  HPSEARCH_CHECK(started.has_value(), "a lease that was granted can be started");
  const TrialRecord& trial = *engine_.find(experiment_, key.trial);
  return Work{key.trial, experiment().hparams[key.trial.number()], trial.reached, trial.live->granted_length};
}

Result<Decision> Search::report(TrialNumber number, Units length, double metric) {
  const TrialRecord* trial = engine_.find(experiment_, number);
  if (trial == nullptr || !trial->live || !trial->live->started) {
    return Error{Errc::not_found, text_of(number) + " is not out; ask() gives the work that can be reported"};
  }
  const AttemptKey key = trial->live->key;
  const std::uint64_t seq = trial->live->applied_seq + 1;
  MetricsReport report{length, {{experiment().config.searcher.metric, metric}}};
  const Result<Effects> effects = step(TakeReports{worker_, key, seq, {std::move(report)}});
  if (!effects) {
    return effects.error();
  }
  Decision decision;
  decision.length = trial->length;
  if (trial->live && trial->live->decision) {
    decision = *trial->live->decision;
  }
  if (decision.directive != Directive::train_on) {
    const Status ended = end_attempt(key, seq + 1, ExitReport{});
    if (!ended) {
      return ended.error();
    }
  }
  return decision;
}

Status Search::end_attempt(const AttemptKey& key, std::uint64_t seq, ExitReport exit) {
  const Result<Effects> effects = step(TakeReports{worker_, key, seq, {std::move(exit)}});
  if (!effects) {
    return effects.error();
  }
  return Done{};
}

Status Search::give_up(TrialNumber number, ExitReason reason, const std::string& why) {
  const TrialRecord* trial = engine_.find(experiment_, number);
  if (trial == nullptr || !trial->live || !trial->live->started) {
    return Error{Errc::not_found, text_of(number) + " is not out; ask() gives the work that can be given up"};
  }
  const AttemptKey key = trial->live->key;
  std::uint64_t seq = trial->live->applied_seq + 1;
  if (reason == ExitReason::user_canceled || reason == ExitReason::user_stopped) {
    const Result<Effects> effects = step(EndTrial{experiment_, number, reason});
    return effects ? end_attempt(key, seq, ExitReport{}) : Status(effects.error());
  }
  if (reason == ExitReason::invalid_hp) {
    const Result<Effects> effects = step(TakeReports{worker_, key, seq, {InvalidHparamsReport{why}}});
    if (!effects) {
      return effects.error();
    }
    ++seq;
  }
  ExitReport exit;
  exit.code = reason == ExitReason::errored ? 1 : 0;
  exit.message = why;
  return end_attempt(key, seq, std::move(exit));
}

std::optional<Search::Best> Search::best() const {
  const ExperimentRecord& record = experiment();
  const std::optional<TrialNumber> best = best_trial(record);
  if (!best) {
    return std::nullopt;
  }
  const TrialRecord& trial = record.trials[best->number()];
  return Best{*best, record.hparams[best->number()], trial.best->metric, trial.best->step};
}

bool Search::finished() const {
  return is_ended(experiment().state);
}

double Search::progress() const {
  return experiment().searcher->progress();
}

Result<Explanation> Search::explain(TrialNumber trial) const {
  if (trial.number() >= experiment().trials.size()) {
    return Error{Errc::not_found, "there is no " + text_of(trial)};
  }
  return engine::explain(experiment(), trial, engine_.workers(), engine_.last_instant());
}

const ExperimentRecord& Search::experiment() const {
  const ExperimentRecord* record = engine_.find(experiment_);
  HPSEARCH_CHECK(record != nullptr, "a search has its experiment");
  return *record;
}

}  // namespace hpsearch::engine
