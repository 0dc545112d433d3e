#include "sim/simulator.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "hpsearch/engine/experiment/best_trial.hpp"

namespace hpsearch::engine::sim {
namespace {

constexpr std::uint64_t tenths = 10;
constexpr std::uint64_t most_slots = most_slots_of_a_worker;  // In all.

// The engine takes instant 0 for "not yet", so its clock runs a microsecond ahead of ours.
constexpr Duration ahead = Duration::micros(1);

}  // namespace

Simulator::Simulator(SearcherRegistry registry, Curves& curves, const Options& options)
    : registry_(registry),
      engine_(registry),
      curves_(curves),
      options_(options),
      unused_exits_(options.exits),
      recorded_exits_(options.recorded_exits) {
  for (const EarlyExit& exit : options.exits) {
    recorded_exits_.erase(exit.trial);
  }
  for (const auto& [trial, exit] : recorded_exits_) {
    if (exit.waiting_until) {
      waiters_.push_back(trial);
    }
  }
  engine_.trust_workers();
}

Status Simulator::command(Command what) {
  const Status done = engine_.step(std::move(what), now_ + ahead, effects_);
  if (!done) {
    return done;
  }
  for (const Event& event : effects_.events) {
    take_note(event);
  }
  if (effects_.created) {
    experiment_ = *effects_.created;
  }
  for (Order& order : effects_.orders) {
    orders_.push_back(std::move(order));
  }
  note_the_best();
  return Done{};
}

void Simulator::take_note(const Event& event) {
  lengths_reached_ += std::holds_alternative<LengthReached>(event.body) ? 1U : 0U;
  Decided decided;
  decided.at = now_;
  if (const auto* created = std::get_if<TrialCreated>(&event.body)) {
    courses_.emplace_back().hparams = created->hparams;
    decided.what = Decided::What::create;
    decided.trial = created->trial;
    decided.length = created->length;
    decided.reason = created->reason;
  } else if (const auto* promoted = std::get_if<TrialPromoted>(&event.body)) {
    decided.what = promoted->in_place ? Decided::What::promote_in_place : Decided::What::promote;
    decided.trial = promoted->trial;
    decided.length = promoted->length;
    decided.reason = promoted->reason;
  } else if (const auto* paused = std::get_if<TrialPaused>(&event.body)) {
    decided.what = Decided::What::pause;
    decided.trial = paused->trial;
    decided.reason = paused->reason;
  } else if (const auto* exited = std::get_if<TrialExitedEarly>(&event.body)) {
    decided.what = Decided::What::exit_early;
    decided.trial = exited->trial;
    decided.exit = exited->exit;
  } else if (const auto* ended = std::get_if<TrialEnded>(&event.body)) {
    simulated_.closing_order.push_back(ended->trial);
    decided.what = Decided::What::end;
    decided.trial = ended->trial;
    decided.state = ended->state;
    decided.reason = ended->reason;
  } else {
    return;
  }
  if (options_.keep_decisions) {
    simulated_.decisions.push_back(std::move(decided));
  }
}

void Simulator::note_the_best() {
  std::vector<Improvement>& steps = simulated_.improvements;
  const ExperimentRecord* experiment = engine_.find(experiment_);
  if (experiment == nullptr) {
    return;
  }
  const std::optional<TrialNumber> trial = best_trial(*experiment);
  if (!trial) {
    steps.clear();  // Whatever was measured was measured with invalid hyperparameters.
    return;
  }
  const Measurement best = *experiment->trials[trial->number()].best;
  if (steps.empty() || steps.back().trial != *trial || steps.back().metric != best.metric) {
    steps.push_back(Improvement{now_, *trial, best.step, best.metric});
  }
}

Status Simulator::carry_out_orders() {
  while (!orders_.empty()) {
    const Order order = std::move(orders_.front());
    orders_.pop_front();
    Status done = Done{};
    if (const auto* launch_order = std::get_if<LaunchAttempt>(&order)) {
      done = launch(*launch_order);
    } else if (const auto* decision = std::get_if<DecideAttempt>(&order)) {
      done = decide(*decision);
    }
    if (!done) {
      return done;
    }
  }
  return Done{};
}

Status Simulator::launch(const LaunchAttempt& order) {
  const TrialNumber trial = order.spec.key.trial;
  Course& course = courses_[trial.number()];
  const bool first = course.lengths.empty();
  if (first || course.lengths.back() != order.spec.length) {
    course.lengths.push_back(order.spec.length);
  }
  if (first) {
    const Status covered = curves_.covers(training_of(trial));
    if (!covered && !ends_before_it_reports(trial, order.spec.length)) {
      return covered;
    }
    course.has_curve = covered.has_value();
  }
  Program& program = course.program.emplace();
  program.key = order.spec.key;
  program.worker = order.worker;
  program.position = order.spec.latest_step;
  const Status started = command(ConfirmStart{order.worker, program.key});
  if (!started) {
    return started;
  }
  if (course.errored) {
    return leave(trial, 1, false);
  }
  begin_piece(program, order.spec.length);
  return Done{};
}

Status Simulator::decide(const DecideAttempt& order) {
  const TrialNumber trial = order.key.trial;
  Course& course = courses_[trial.number()];
  if (!course.program || course.program->key != order.key) {
    return Done{};  // It exited before it heard.
  }
  switch (order.decision.directive) {
    case Directive::train_on:
      course.lengths.push_back(order.decision.length);
      begin_piece(*course.program, order.decision.length);
      return Done{};
    case Directive::pause:
      return leave(trial, 0, true);
    case Directive::stop:
    case Directive::kill:
      return leave(trial, 0, false);
  }
  return Done{};
}

Status Simulator::can_run(const ResourcesConfig& resources) const {
  const std::uint64_t slots = resources.slots_per_trial;
  if (slots > most_slots / options_.workers) {
    return Error{Errc::bad_request, "resources.slots_per_trial: " + std::to_string(options_.workers) +
                                        " workers of " + std::to_string(slots) +
                                        " slots are more than can be simulated (at most " +
                                        std::to_string(most_slots) + " slots in all)"};
  }
  if (resources.max_slots && *resources.max_slots < slots) {
    return Error{Errc::bad_request, "resources.max_slots: " + std::to_string(*resources.max_slots) +
                                        " slots are fewer than a trial takes (resources.slots_per_trial is " +
                                        std::to_string(slots) + "), so nothing would ever run"};
  }
  return Done{};
}

Result<Simulated> Simulator::run(const Value& config) {
  const ParsedConfig parsed = parse_config(config, registry_, "simulation", 0);
  JoinWorker join;
  join.incarnation = 1;
  join.slots = 1;  // The engine reports a wrong config below.
  join.slot_kind = "cpu";
  if (parsed.config) {
    const ResourcesConfig& resources = parsed.config->resources;
    join.slots = std::max<std::uint64_t>(1, resources.slots_per_trial);
    join.pool = resources.resource_pool;
    join.labels = resources.labels;
    metric_ = parsed.config->searcher.metric;
    goal_ = parsed.config->searcher.goal();
    if (const Status possible = can_run(resources); !possible) {
      return possible.error();
    }
  }
  for (std::uint64_t i = 0; i < options_.workers; ++i) {
    join.uid = join.name = "worker " + std::to_string(i);
    const Status joined = command(join);
    HPSEARCH_CHECK(joined.has_value(), "a new worker is welcome");
  }
  CreateExperiment create;
  create.config = config;
  create.fallback_name = "simulation";
  Value::Map* searcher =
      create.config.as_map() != nullptr ? (*create.config.as_map())["searcher"].as_map() : nullptr;
  for (const char* source : {"source_trial_id", "source_checkpoint_uuid"}) {
    if (searcher != nullptr) {
      searcher->erase(source);  // There are no other experiments here, and curves know no weights.
    }
  }
  Status done = command(create);
  if (done) {
    done = carry_out_orders();
  }
  const Instant until =
      options_.until ? later(Instant(), *options_.until) : Instant::from_micros(last_micros);
  while (done && !is_ended(engine_.find(experiment_)->state)) {
    const std::optional<Instant> timer = engine_.next_deadline();
    const auto deadline = timer ? std::optional(Instant() + (*timer - (Instant() + ahead))) : std::nullopt;
    if (due_.empty() && !deadline) {
      return Error{Errc::bad_request,
                   "nothing runs any more, and the search is not over: no worker takes its trials"};
    }
    const bool look = due_.empty() || (deadline && *deadline < due_.top().at);
    const Instant next = look ? *deadline : due_.top().at;
    if (next > until) {
      stop_clock(until);
      break;
    }
    if (next.micros() >= last_micros) {
      return Error{Errc::bad_request,
                   "trial " + std::to_string(due_.top().trial.number()) + " trains beyond " +
                       std::to_string(last_micros / 1'000'000) +
                       " simulated seconds, where the clock ends; let pieces of work take a second "
                       "each, or stop the clock before"};
    }
    now_ = std::max(now_, next);
    if (look) {
      done = command(CheckTimers{});
    } else {
      const Due first = due_.top();
      due_.pop();
      done = arrive(first);
    }
    if (done) {
      done = carry_out_orders();
    }
    if (done) {
      done = end_those_that_waited();
    }
    if (courses_.size() > options_.most_trials) {
      return Error{Errc::bad_request,
                   "more than " + std::to_string(options_.most_trials) +
                       " trials are created, the most that are simulated; stop the clock before that"};
    }
  }
  if (!done) {
    return done.error();
  }
  return simulated();
}

/// While programs train.
void Simulator::stop_clock(Instant until) {
  now_ = until;
  for (Course& course : courses_) {
    if (course.program && course.program->training) {
      catch_up(*course.program);
      end_piece(*course.program);
    }
  }
}

void Simulator::measure_slot_use() {
  const double end = static_cast<double>(now_.micros());
  if (!(end > 0)) {
    return;
  }
  const double tenth = end / tenths;
  for (const Piece& piece : simulated_.pieces) {
    const double from = static_cast<double>(piece.begin.micros());
    const double to = static_cast<double>(piece.end.micros());
    for (std::size_t i = 0; i < tenths; ++i) {
      const double left = tenth * static_cast<double>(i);
      simulated_.slot_use_by_tenth[i] += std::max(0.0, std::min(to, left + tenth) - std::max(from, left));
    }
  }
  for (double& use : simulated_.slot_use_by_tenth) {
    simulated_.slot_use += use / end;
    use /= tenth;
  }
  const double workers = static_cast<double>(options_.workers);
  simulated_.slot_use /= workers;
  for (double& use : simulated_.slot_use_by_tenth) {
    use /= workers;
  }
}

Simulated Simulator::simulated() {
  const ExperimentRecord& record = *engine_.find(experiment_);
  simulated_.state = record.state;
  simulated_.reason = record.reason;
  simulated_.goal = goal_;
  simulated_.max_length = record.config.searcher.max_length;
  simulated_.unit = record.config.unit;
  simulated_.seed = record.config.experiment_seed;
  simulated_.events = engine_.last_lsn().number();
  simulated_.workers = options_.workers;
  simulated_.end = now_;
  measure_slot_use();
  simulated_.trials.reserve(record.trials.size());
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    const TrialRecord& trial = record.trials[i];
    simulated_.trials.push_back(
        SimulatedTrial{std::move(courses_[i].hparams), std::move(courses_[i].lengths), trial.reached,
                       trial.latest ? std::optional(trial.latest->metric) : std::nullopt, trial.state,
                       trial.reason, courses_[i].has_curve, trial.invalid});
  }
  simulated_.unused_exits = std::move(unused_exits_);
  return std::move(simulated_);
}

}  // namespace hpsearch::engine::sim
