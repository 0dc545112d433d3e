#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "hpsearch/engine/base/draw.hpp"
#include "sim/simulator.hpp"

// The part of Simulator that plays the programs on its workers.

namespace hpsearch::engine::sim {
namespace {

constexpr const char* simulated_failure = "simulated failure";

Duration seconds_to_duration(double seconds) {
  constexpr double longest = 4e18;  // Microseconds; an Instant holds twice that.
  const double micros = std::nearbyint(seconds * 1e6);
  return Duration::micros(static_cast<std::int64_t>(micros > 0 ? std::min(micros, longest) : 0));
}

}  // namespace

bool operator>(const Due& a, const Due& b) noexcept {
  return a.at != b.at ? a.at > b.at : a.ticket > b.ticket;
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
    return Done{};  // It had to end before.
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
  // Should it be started once more, it does the same again.
  const RecordedExit& recorded = recorded_exits_.at(trial);
  return recorded.by_itself ? leave(trial, 0, false) : exit_early(program, recorded.reason, recorded.detail);
}

/// The commands of users in the recorded search.
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
  Program program = *course.program;
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

}  // namespace hpsearch::engine::sim
