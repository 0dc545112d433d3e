#include "hpsearch/engine/sim/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <variant>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/engine.hpp"

namespace hpsearch::engine::sim {
namespace {

constexpr std::uint64_t tenths = 10;
constexpr const char* simulated_failure = "simulated failure";

/// When something is due. Ties go to what was assigned first.
struct Due {
  Instant at;
  std::uint64_t ticket = 0;
  TrialNumber trial;
  friend bool operator>(const Due& a, const Due& b) noexcept {
    return a.at != b.at ? a.at > b.at : a.ticket > b.ticket;
  }
};

/// A program that trains on a virtual worker.
struct Program {
  AttemptKey key;
  WorkerId worker;
  std::uint64_t next_seq = 1;
  Units from{};      // Of the piece of work it is at.
  Units position{};  // Trained and told.
  Units next{};      // Where it stops next, to report or to crash.
  Units goal{};
  Instant begin;
  std::uint64_t ticket = 0;
  std::optional<Units> crash_at;
  std::optional<Units> exit_at;  // As was recorded.
  bool training = false;  // Between begin_piece() and end_piece().
};

/// What we know of a trial that the engine does not.
struct Course {
  Value hparams;
  std::vector<Units> lengths;
  std::optional<Program> program;
  bool has_curve = true;
  std::optional<std::string> errored;  // Of what, by an early exit: every further attempt fails of it at once.
};

Duration seconds_to_duration(double seconds) {
  constexpr double longest = 4e18;  // Microseconds; an Instant holds twice that.
  const double micros = std::nearbyint(seconds * 1e6);
  return Duration::micros(static_cast<std::int64_t>(micros > 0 ? std::min(micros, longest) : 0));
}

// The engine takes instant 0 for "not yet", so its clock runs a microsecond ahead of ours.
constexpr Duration ahead = Duration::micros(1);

constexpr std::uint64_t most_slots = 10'000'000;
constexpr std::int64_t last_micros = 4'000'000'000'000'000'000;  // Half of what an Instant holds.

Instant later(Instant at, Duration by) {
  return at.micros() > last_micros - std::min(by.in_micros(), last_micros) ? Instant::from_micros(last_micros)
                                                                            : at + by;
}

class Simulator {
 public:
  Simulator(SearcherRegistry registry, Curves& curves, const Options& options)
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

  Result<Simulated> run(const Value& config);

 private:
  // --- the engine's side ---
  [[nodiscard]] Status can_run(const ResourcesConfig& resources) const;
  Status command(Command what);
  Status carry_out_orders();
  Status launch(const LaunchAttempt& order);
  Status decide(const DecideAttempt& order);
  void take_note(const Event& event);

  // --- the programs' side ---
  void begin_piece(Program& program, Units goal);
  void schedule(Program& program);
  Status arrive(const Due& due);
  Status exit_early(Program& program, ExitReason reason, const std::string& detail);
  Status exit_as_recorded(Program& program);
  Status end_those_that_waited();
  void note_the_best();
  Status report_metric(Program& program, Units length);
  Status leave(TrialNumber trial, int code, bool checkpoint);
  Status send(Program& program, std::vector<Report> reports);
  void end_piece(Program& program);

  [[nodiscard]] std::uint64_t op_of(TrialNumber trial) const { return courses_[trial.number()].lengths.size() - 1; }
  [[nodiscard]] Training training_of(TrialNumber trial) const {
    return Training{trial, courses_[trial.number()].hparams, op_of(trial)};
  }
  [[nodiscard]] bool ends_before_it_reports(TrialNumber trial, Units goal) const;
  [[nodiscard]] std::optional<EarlyExit> take_exit(TrialNumber trial, std::uint64_t op);
  [[nodiscard]] std::optional<Units> draw_crash(const Program& program, Units goal) const;
  [[nodiscard]] Duration time_for(const Program& program, Units from, Units to);

  void catch_up(Program& program);
  void stop_clock(Instant until);
  Simulated simulated();
  void measure_slot_use();

  SearcherRegistry registry_;
  Engine engine_;
  Curves& curves_;
  const Options& options_;
  ExperimentId experiment_;
  std::string metric_;
  Goal goal_ = Goal::minimize;
  Instant now_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  Effects effects_;  // Of the last command; kept for its room.
  std::deque<Order> orders_;
  std::uint64_t last_ticket_ = 0;
  std::deque<Course> courses_;  // By trial number; references stay good while trials are created.
  std::vector<EarlyExit> unused_exits_;
  std::map<TrialNumber, RecordedExit> recorded_exits_;
  std::vector<TrialNumber> waiters_;                    // Those that users end while they wait, and did not yet.
  std::uint64_t lengths_reached_ = 0;
  Simulated simulated_;
};

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

void Simulator::begin_piece(Program& program, Units goal) {
  program.from = program.position;
  program.goal = goal;
  program.begin = now_;
  program.ticket = ++last_ticket_;
  program.crash_at = draw_crash(program, goal);
  const auto recorded = recorded_exits_.find(program.key.trial);
  program.exit_at.reset();
  if (recorded != recorded_exits_.end() && !recorded->second.waiting_until && recorded->second.at < goal) {
    program.exit_at = std::max(recorded->second.at, program.position);
  }
  program.training = true;
  schedule(program);
}

std::optional<Units> Simulator::draw_crash(const Program& program, Units goal) const {
  const std::uint64_t units = count(goal) - std::min(count(goal), count(program.position));
  if (!(options_.failure_rate > 0) || units == 0) {
    return std::nullopt;
  }
  const TrialNumber trial = program.key.trial;
  Draw draw(options_.failure_seed, trial,
            "crash/" + std::to_string(program.key.attempt.number()) + "/" + std::to_string(op_of(trial)));
  if (draw.unit() >= options_.failure_rate) {
    return std::nullopt;
  }
  return Units{count(program.position) + 1 + draw.below(units)};
}

Duration Simulator::time_for(const Program& program, Units from, Units to) {
  const bool has_curve = courses_[program.key.trial.number()].has_curve;
  switch (has_curve || options_.duration != DurationModel::curve ? options_.duration : DurationModel::unit) {
    case DurationModel::unit:
      return seconds_to_duration(static_cast<double>(count(to) - count(from)));
    case DurationModel::op: {  // Reports on the way are spread over the one second.
      const double whole = static_cast<double>(count(program.goal) - count(program.from));
      return seconds_to_duration(whole > 0 ? static_cast<double>(count(to) - count(from)) / whole : 1.0);
    }
    case DurationModel::curve:
      return seconds_to_duration(curves_.seconds(training_of(program.key.trial), from, to));
  }
  return Duration();
}

void Simulator::schedule(Program& program) {
  Units next = std::max(program.goal, program.position);
  if (options_.report_every) {
    const std::uint64_t every = count(*options_.report_every);
    next = std::min(next, Units{(count(program.position) / every + 1) * every});
  }
  if (program.crash_at) {
    next = std::min(next, *program.crash_at);
  }
  if (program.exit_at) {
    next = std::min(next, *program.exit_at);
  }
  program.next = next;
  // Always from the piece's begin, so that reports on the way do not change when it is done.
  const Instant at = later(program.begin, time_for(program, program.from, next));
  due_.push(Due{std::max(at, now_), program.ticket, program.key.trial});
}

Status Simulator::arrive(const Due& due) {
  const TrialNumber trial = due.trial;
  std::optional<Program>& there = courses_[trial.number()].program;
  if (!there || there->ticket != due.ticket) {
    return Done{};  // It was told to end before.
  }
  Program& program = *there;
  program.position = program.next;
  if (program.crash_at == program.position) {
    return leave(trial, 1, false);
  }
  if (program.exit_at == program.position) {
    return exit_as_recorded(program);
  }
  if (program.position >= program.goal) {
    if (const std::optional<EarlyExit> exit = take_exit(trial, op_of(trial))) {
      return exit_early(program, exit->reason,
                        exit->reason == ExitReason::errored ? simulated_failure : "simulated");
    }
    end_piece(program);
    return report_metric(program, program.position);
  }
  const Status reported = report_metric(program, program.position);
  if (reported) {
    schedule(program);
  }
  return reported;
}

std::optional<EarlyExit> Simulator::take_exit(TrialNumber trial, std::uint64_t op) {
  const auto found = std::find_if(unused_exits_.begin(), unused_exits_.end(), [&](const EarlyExit& exit) {
    return exit.trial == trial && exit.op == op;
  });
  if (found == unused_exits_.end()) {
    return std::nullopt;
  }
  const EarlyExit exit = *found;
  unused_exits_.erase(found);
  return exit;
}

bool Simulator::ends_before_it_reports(TrialNumber trial, Units goal) const {
  const auto recorded = recorded_exits_.find(trial);
  if (recorded != recorded_exits_.end()) {
    return recorded->second.at == Units{};
  }
  const bool exits = std::any_of(unused_exits_.begin(), unused_exits_.end(), [trial](const EarlyExit& exit) {
    return exit.trial == trial && exit.op == 0;
  });
  return exits && !(options_.report_every && *options_.report_every < goal);
}

/// At the length that was recorded, which it has got to.
Status Simulator::exit_as_recorded(Program& program) {
  const TrialNumber trial = program.key.trial;
  if (program.position > program.from) {
    const AttemptKey key = program.key;
    const Status reported = report_metric(program, program.position);
    const std::optional<Program>& there = courses_[trial.number()].program;
    if (!reported || !there || there->key != key || is_ended(engine_.find(experiment_)->state)) {
      return reported;
    }
  }
  // One that was promoted in place and just ends may be started once more, and does the same again.
  const RecordedExit& recorded = recorded_exits_.at(trial);
  return recorded.by_itself ? leave(trial, 0, false) : exit_early(program, recorded.reason, recorded.detail);
}

/// What users did in the search that was recorded.
Status Simulator::end_those_that_waited() {
  Status done = Done{};
  for (std::size_t i = 0; done && i < waiters_.size();) {
    const TrialNumber number = waiters_[i];
    const RecordedExit& recorded = recorded_exits_.at(number);
    const TrialRecord* trial = engine_.find(experiment_, number);
    if (trial == nullptr || trial->state != TrialState::paused || trial->reached < recorded.at ||
        lengths_reached_ < *recorded.waiting_until) {
      ++i;
      continue;
    }
    waiters_.erase(waiters_.begin() + static_cast<std::ptrdiff_t>(i));
    done = command(EndTrial{experiment_, number, recorded.reason});
    if (done) {
      done = carry_out_orders();
    }
  }
  return done;
}

Status Simulator::exit_early(Program& program, ExitReason reason, const std::string& detail) {
  const TrialNumber trial = program.key.trial;
  switch (reason) {
    case ExitReason::errored:
      courses_[trial.number()].errored = detail;
      return leave(trial, 1, false);
    case ExitReason::invalid_hp:  // The engine answers with an order to stop.
      return send(program, {InvalidHparamsReport{detail}});
    case ExitReason::user_canceled:
    case ExitReason::user_stopped:
      return command(EndTrial{experiment_, trial, reason});
  }
  return Done{};
}

void Simulator::note_the_best() {
  std::vector<Improvement>& steps = simulated_.improvements;
  const ExperimentRecord* experiment = engine_.find(experiment_);
  if (experiment == nullptr) {
    return;
  }
  if (!experiment->best) {
    steps.clear();  // Whatever was measured was measured with invalid hyperparameters.
    return;
  }
  const Measurement best = *experiment->trials[experiment->best->number()].best;
  if (steps.empty() || steps.back().trial != *experiment->best || steps.back().metric != best.metric) {
    steps.push_back(Improvement{now_, *experiment->best, best.step, best.metric});
  }
}

Status Simulator::report_metric(Program& program, Units length) {
  const double value = curves_.metric(training_of(program.key.trial), length);
  return send(program, {MetricsReport{length, {{metric_, value}}}});
}

Status Simulator::send(Program& program, std::vector<Report> reports) {
  const std::uint64_t first = program.next_seq;
  program.next_seq += reports.size();
  return command(TakeReports{program.worker, program.key, first, std::move(reports)});
}

void Simulator::end_piece(Program& program) {
  const TrialNumber trial = program.key.trial;
  program.training = false;
  simulated_.trained += count(program.position) - count(program.from);
  simulated_.pieces.push_back(
      Piece{trial, op_of(trial), program.from, program.position, program.begin, now_});
}

Status Simulator::leave(TrialNumber trial, int code, bool checkpoint) {
  Course& course = courses_[trial.number()];
  if (course.program->training) {
    catch_up(*course.program);
    end_piece(*course.program);
  }
  Program program = std::move(*course.program);
  course.program.reset();
  std::vector<Report> reports;
  if (checkpoint) {
    reports.emplace_back(CheckpointReport{program.position, "simulated", 0, 0});
  }
  ExitReport exit;
  exit.code = code;
  if (code != 0) {
    exit.message = course.errored.value_or(simulated_failure);
  }
  reports.emplace_back(std::move(exit));
  return send(program, std::move(reports));
}

/// Moves a program on to the last whole unit that it can have trained by now.
void Simulator::catch_up(Program& program) {
  std::uint64_t done = count(program.position);
  std::uint64_t beyond = std::max(count(program.next), done) + 1;
  while (beyond - done > 1) {
    const std::uint64_t middle = done + (beyond - done) / 2;
    const bool in_time = later(program.begin, time_for(program, program.from, Units{middle})) <= now_;
    (in_time ? done : beyond) = middle;
  }
  program.position = Units{done};
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
    simulated_.trials.push_back(SimulatedTrial{std::move(courses_[i].hparams), std::move(courses_[i].lengths),
                                               trial.reached,
                                               trial.latest ? std::optional(trial.latest->metric) : std::nullopt,
                                               trial.state, trial.reason, courses_[i].has_curve, trial.invalid});
  }
  simulated_.unused_exits = std::move(unused_exits_);
  return std::move(simulated_);
}

Status Simulator::can_run(const ResourcesConfig& resources) const {
  const std::uint64_t slots = resources.slots_per_trial;
  if (slots > most_slots / options_.workers) {
    return Error{Errc::bad_request, "resources.slots_per_trial: " + std::to_string(options_.workers) + " workers of " +
                                        std::to_string(slots) + " slots are more than can be simulated (at most " +
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
  join.slots = 1;  // A wrong config is told by the engine below.
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
  Value::Map* searcher = create.config.as_map() != nullptr ? (*create.config.as_map())["searcher"].as_map() : nullptr;
  for (const char* source : {"source_trial_id", "source_checkpoint_uuid"}) {
    if (searcher != nullptr) {
      searcher->erase(source);  // There are no other experiments here, and curves know no weights.
    }
  }
  Status done = command(create);
  if (done) {
    done = carry_out_orders();
  }
  const Instant until = options_.until ? later(Instant(), *options_.until) : Instant::from_micros(last_micros);
  while (done && !is_ended(engine_.find(experiment_)->state)) {
    const std::optional<Instant> told = engine_.next_deadline();
    const auto deadline = told ? std::optional(Instant() + (*told - (Instant() + ahead))) : std::nullopt;
    if (due_.empty() && !deadline) {
      return Error{Errc::bad_request, "nothing runs any more, and the search is not over: no worker takes its trials"};
    }
    const bool look = due_.empty() || (deadline && *deadline < due_.top().at);
    const Instant next = look ? *deadline : due_.top().at;
    if (next > until) {
      stop_clock(until);
      break;
    }
    if (next.micros() >= last_micros) {
      return Error{Errc::bad_request, "trial " + std::to_string(due_.top().trial.number()) + " trains beyond " +
                                          std::to_string(last_micros / 1'000'000) +
                                          " simulated seconds, where the clock ends; let pieces of work take a second "
                                          "each, or stop the clock before"};
    }
    now_ = std::max(now_, next);
    if (look) {
      done = command(LookAtClock{});
    } else {
      const Due due = due_.top();
      due_.pop();
      done = arrive(due);
    }
    if (done) {
      done = carry_out_orders();
    }
    if (done) {
      done = end_those_that_waited();
    }
  }
  if (!done) {
    return done.error();
  }
  return simulated();
}

}  // namespace

std::string_view name_of(Decided::What what) noexcept {
  switch (what) {
    case Decided::What::create:
      return "create";
    case Decided::What::promote:
      return "promote";
    case Decided::What::promote_in_place:
      return "promote_in_place";
    case Decided::What::pause:
      return "pause";
    case Decided::What::exit_early:
      return "exit_early";
    case Decided::What::end:
      return "end";
  }
  return "";
}

Result<Simulated> simulate(const Value& config, SearcherRegistry registry, Curves& curves, const Options& options) {
  if (options.workers == 0) {
    return Error{Errc::bad_request, "workers is 0; a simulation needs at least one"};
  }
  if (options.report_every && count(*options.report_every) == 0) {
    return Error{Errc::bad_request, "report_every is 0; a report needs at least one unit of training"};
  }
  if (!(options.failure_rate >= 0 && options.failure_rate <= 1)) {
    return Error{Errc::bad_request, "the failure rate is a probability, from 0 to 1"};
  }
  if (options.duration == DurationModel::curve && !curves.has_times()) {
    return Error{Errc::bad_request, "these curves do not say how long training takes: let it take a second per unit "
                                    "of length or per piece of work"};
  }
  return Simulator(registry, curves, options).run(config);
}

std::optional<Yardstick> yardstick(const Simulated& simulated, Curves& curves) {
  if (const std::optional<double> best = curves.best()) {
    return Yardstick{*best, true};
  }
  std::optional<double> best;
  const auto consider = [&](double metric) {
    if (std::isfinite(metric) && (!best || regret(*best, metric, simulated.goal) > 0)) {
      best = metric;
    }
  };
  for (std::size_t i = 0; i < simulated.trials.size(); ++i) {
    const SimulatedTrial& trial = simulated.trials[i];
    if (!trial.has_curve || trial.invalid) {
      continue;
    }
    const std::uint64_t op = trial.lengths.empty() ? 0 : trial.lengths.size() - 1;
    consider(curves.metric(Training{TrialNumber(i), trial.hparams, op}, simulated.max_length));
  }
  if (!simulated.improvements.empty()) {
    consider(simulated.improvements.back().metric);
  }
  return best ? std::optional(Yardstick{*best, false}) : std::nullopt;
}

double regret(double metric, double yardstick, Goal goal) noexcept {
  return std::max(0.0, goal == Goal::minimize ? metric - yardstick : yardstick - metric);
}

}  // namespace hpsearch::engine::sim
