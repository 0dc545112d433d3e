#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/trial_state.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine::sim {

/// How long a piece of work takes. Of what ends at the same instant, the piece that was assigned first ends
/// first.
enum class DurationModel : std::uint8_t {
  unit,   ///< One second for each unit of length.
  op,     ///< One second for each piece of work, whatever its length.
  curve,  ///< The metric of the curves.
};

/// A piece of work that ends early: at the moment it would be done it exits instead of reporting.
struct EarlyExit {
  TrialNumber trial;
  std::uint64_t op = 0;  ///< Piece of work of that trial, from 0.
  /// errored uses up all of the trial's restarts at once; the others end it as the engine knows them.
  ExitReason reason = ExitReason::errored;
};

/// How a trial of a real search ended early: after so much training it exits, whichever piece of work that is
/// in the middle of.
struct RecordedExit {
  Units at{};  ///< The highest length it reported, which it reports first; 0 = it never reported.
  ExitReason reason = ExitReason::errored;
  std::string detail = {};  ///< The output of its program, if there is any.
  bool by_itself = false;   ///< Its program just ended, as if it were done.
  /// A user ended it while it waited at a rung: it trains to `at` and waits, and ends there once all trials
  /// together have been so many times at lengths that they were asked for.
  std::optional<std::uint64_t> waiting_until = std::nullopt;
};

struct Options {
  /// Each has the slots of exactly one trial, and the pool and labels that it asks for. At least 1.
  std::uint64_t workers = 16;
  DurationModel duration = DurationModel::unit;
  std::optional<Units>
      report_every;  ///< Also report at every multiple of it; otherwise at the asked lengths only.
  std::optional<Duration> until;  ///< Nothing that would happen later happens.
  std::vector<EarlyExit> exits;
  std::map<TrialNumber, RecordedExit> recorded_exits;  ///< The exits of trials that `exits` does not name.
  double failure_rate = 0;         ///< Chance that an attempt of a piece of work crashes part way, in [0, 1].
  std::uint64_t failure_seed = 0;  ///< Draws when; the same seed gives the same crashes.
  bool keep_decisions = true;      ///< Fill Simulated::decisions.
  std::uint64_t most_trials =
      5'000'000;  ///< A search that creates more is an error: some 400 bytes and more for each.
};

/// One attempt's training from one order to the next.
struct Piece {
  TrialNumber trial;
  std::uint64_t op = 0;
  Units from{};
  Units to{};  ///< Where it really ended: below the asked length after a crash or at Options::until.
  Instant begin;
  Instant end;
};

/// Something the engine decided.
struct Decided {
  enum class What : std::uint8_t { create, promote, promote_in_place, pause, exit_early, end };
  Instant at;
  What what = What::create;
  TrialNumber trial;
  Units length{};                   ///< Asked for; of create and promote.
  std::optional<TrialState> state;  ///< Set for `end`.
  std::optional<ExitReason> exit;   ///< Set for `exit_early`.
  Reason reason;                    ///< Set for all but `exit_early`.
};
[[nodiscard]] std::string_view name_of(Decided::What what) noexcept;

/// A trial as it stands at the end.
struct SimulatedTrial {
  Value hparams;
  std::vector<Units> lengths;  ///< Asked for and begun, in order; the last one may have ended early.
  Units reached{};             ///< Highest length reported.
  std::optional<double> metric;
  TrialState state = TrialState::pending;
  Reason reason;
  bool has_curve = true;  ///< False: it ended before it would have reported, and the curves do not know it.
  bool invalid = false;   ///< Its hyperparameters were: nothing that it measured counts.
};

/// From when on which report was the best of all (best_trial). It is better than the one before, unless the
/// trial of that one turned out to have invalid hyperparameters, and what it measured counts no more, or
/// repeats showed that another finalist has the better mean.
struct Improvement {
  Instant at;
  TrialNumber trial;
  Units length{};
  double metric = 0;
};

struct Simulated {
  ExperimentState state = ExperimentState::active;  ///< active: Options::until came first.
  std::string reason;                               ///< Why the experiment ended, or "".
  Goal goal = Goal::minimize;
  Units max_length{};
  std::string unit;
  std::uint64_t seed = 0;    ///< The experiment's.
  std::uint64_t events = 0;  ///< The number of events in the engine's log.
  std::uint64_t workers = 0;
  Instant end;              ///< When the last thing happened; the simulation begins at 0.
  Cardinality trained = 0;  ///< Units, repeated ones included.
  double slot_use = 0;      ///< Busy share of workers × time, in [0, 1].
  std::array<double, 10> slot_use_by_tenth{};
  std::vector<SimulatedTrial> trials;      ///< By trial number.
  std::vector<TrialNumber> closing_order;  ///< Trials in the order in which they ended.
  std::vector<Improvement> improvements;
  std::vector<Decided> decisions;
  std::vector<Piece> pieces;            ///< In the order in which they ended.
  std::vector<EarlyExit> unused_exits;  ///< Those of Options::exits whose piece of work never came.
};

/// Runs one experiment on virtual workers under a virtual clock: the engine, its scheduler and its searcher
/// are the ones that run real trainings, only the trainings are made up. Workers follow orders at once,
/// programs checkpoint when they are paused and go on from there.
///
/// `config` is an experiment as the file describes it, seed included. The same arguments give the same
/// answer.
///
/// Cost:  O(log n) per event in the queue, beside what Engine::step and the curves cost.
/// Fails: bad_request: the config is wrong, Options are, a trial has no curve, one trains for longer than the
/// virtual
///        clock can count, or there are more trials than Options::most_trials.
[[nodiscard]] Result<Simulated> simulate(const Value& config, SearcherRegistry registry, Curves& curves,
                                         const Options& options);

}  // namespace hpsearch::engine::sim
