#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/sim/simulation.hpp"

namespace hpsearch::engine::sim {

constexpr std::int64_t last_micros = 4'000'000'000'000'000'000;  // Half of what an Instant holds.

/// Not beyond last_micros.
[[nodiscard]] inline Instant later(Instant at, Duration by) {
  return at.micros() > last_micros - std::min(by.in_micros(), last_micros) ? Instant::from_micros(last_micros)
                                                                           : at + by;
}

/// When something is due. Ties go to what was assigned first.
struct Due {
  Instant at;
  std::uint64_t ticket = 0;
  TrialNumber trial;
};
[[nodiscard]] bool operator>(const Due& a, const Due& b) noexcept;

/// A program that trains on a virtual worker.
struct Program {
  AttemptKey key;
  WorkerId worker;
  std::uint64_t next_seq = 1;
  Units from{};      // Where the current piece of work began.
  Units position{};  // Trained and reported.
  Units next{};      // Where it stops next, to report or to crash.
  Units goal{};
  Instant begin;
  std::uint64_t ticket = 0;
  std::optional<Units> crash_at;
  std::optional<Units> exit_at;  // As was recorded.
  bool training = false;         // Between begin_piece() and end_piece().
};

/// Facts about a trial that the engine doesn't have.
struct Course {
  Value hparams;
  std::vector<Units> lengths;
  std::optional<Program> program;
  bool has_curve = true;
  std::optional<std::string> errored;  // Why an early exit failed it: every further attempt fails at once.
};

/// One experiment on virtual workers. Two sides that meet at the engine: simulator.cpp gives it commands and
/// carries its orders out, programs.cpp trains.
class Simulator {
 public:
  /// Curves and options outlive it.
  Simulator(SearcherRegistry registry, Curves& curves, const Options& options);

  /// Once.
  Result<Simulated> run(const Value& config);

 private:
  // --- the engine's side ---
  [[nodiscard]] Status can_run(const ResourcesConfig& resources) const;
  Status command(Command what);
  Status carry_out_orders();
  Status launch(const LaunchAttempt& order);
  Status decide(const DecideAttempt& order);
  void take_note(const Event& event);
  void note_the_best();
  void stop_clock(Instant until);
  Simulated simulated();
  void measure_slot_use();

  // --- the programs' side ---
  void begin_piece(Program& program, Units goal);
  void schedule(Program& program);
  Status arrive(const Due& due);
  Status exit_early(Program& program, ExitReason reason, const std::string& detail);
  Status exit_as_recorded(Program& program);
  Status end_those_that_waited();
  Status report_metric(Program& program, Units length);
  Status leave(TrialNumber trial, int code, bool checkpoint);
  Status send(Program& program, std::vector<Report> reports);
  void end_piece(Program& program);

  [[nodiscard]] std::uint64_t op_of(TrialNumber trial) const {
    return courses_[trial.number()].lengths.size() - 1;
  }
  [[nodiscard]] Training training_of(TrialNumber trial) const {
    return Training{trial, courses_[trial.number()].hparams, op_of(trial)};
  }
  [[nodiscard]] bool ends_before_it_reports(TrialNumber trial, Units goal) const;
  [[nodiscard]] std::optional<EarlyExit> take_exit(TrialNumber trial, std::uint64_t op);
  [[nodiscard]] std::optional<Units> draw_crash(const Program& program, Units goal) const;
  [[nodiscard]] Duration time_for(const Program& program, Units from, Units to);
  void catch_up(Program& program);

  SearcherRegistry registry_;
  Engine engine_;
  Curves& curves_;
  const Options& options_;
  ExperimentId experiment_;
  std::string metric_;
  Goal goal_ = Goal::minimize;
  Instant now_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  Effects effects_;  // Effects of the last command; a member so that its memory is used again.
  std::deque<Order> orders_;
  std::uint64_t last_ticket_ = 0;
  std::deque<Course> courses_;  // By trial number; references stay good while trials are created.
  std::vector<EarlyExit> unused_exits_;
  std::map<TrialNumber, RecordedExit> recorded_exits_;
  std::vector<TrialNumber> waiters_;  // Those that users end while they wait, and did not yet.
  std::uint64_t lengths_reached_ = 0;
  Simulated simulated_;
};

}  // namespace hpsearch::engine::sim
