#include "hpsearch/engine/sim/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/sim/yardstick.hpp"
#include "messages.hpp"

namespace hpsearch::engine::sim {
namespace {

/// Curves from a function of trial, length and op; a unit takes as many seconds as the trial's number plus
/// one.
class TestCurves final : public Curves {
 public:
  using Metric = std::function<double(std::uint64_t trial, std::uint64_t length, std::uint64_t op)>;
  explicit TestCurves(Metric metric) : metric_(std::move(metric)) {}
  double metric(const Training& training, Units length) override {
    return metric_(training.trial.number(), count(length), training.op);
  }
  bool has_times() const noexcept override { return true; }
  double seconds(const Training& training, Units from, Units to) override {
    return static_cast<double>((count(to) - count(from)) * (training.trial.number() + 1));
  }

 private:
  Metric metric_;
};

double by_trial(std::uint64_t trial, std::uint64_t, std::uint64_t) {
  return 0.01 * static_cast<double>(trial);
}
double equal(std::uint64_t, std::uint64_t, std::uint64_t) {
  return 1;
}
double drawn(std::uint64_t trial, std::uint64_t length, std::uint64_t) {
  return Draw(1, TrialNumber(trial), std::to_string(length)).unit();
}

Simulated run(const Value& config, const TestCurves::Metric& metric, const Options& options = {}) {
  TestCurves curves(metric);
  const Result<Simulated> simulated = simulate(config, searchers::registry(), curves, options);
  EXPECT_TRUE(simulated.has_value()) << (simulated ? "" : simulated.error().message);
  return simulated ? *simulated : Simulated{};
}

Options with(DurationModel duration, std::uint64_t workers) {
  Options options;
  options.duration = duration;
  options.workers = workers;
  return options;
}

std::vector<std::uint64_t> lengths_of(const Simulated& simulated, std::size_t trial) {
  std::vector<std::uint64_t> lengths;
  for (const Units length : simulated.trials.at(trial).lengths) {
    lengths.push_back(count(length));
  }
  return lengths;
}

/// Final length → trials.
std::map<std::uint64_t, int> final_counts(const Simulated& simulated) {
  std::map<std::uint64_t, int> counts;
  for (const SimulatedTrial& trial : simulated.trials) {
    ++counts[count(trial.reached)];
  }
  return counts;
}

std::vector<std::uint64_t> numbers(const std::vector<TrialNumber>& trials) {
  std::vector<std::uint64_t> out;
  for (const TrialNumber trial : trials) {
    out.push_back(trial.number());
  }
  return out;
}

/// One bracket with rungs 1000, 3000 and 9000.
Value spec_bracket(bool stop_once = false, Value::Map others = {}) {
  return test_config(Value::Map{{"name", "async_halving"},
                                {"num_rungs", 3},
                                {"divisor", 3},
                                {"max_trials", 12},
                                {"stop_once", stop_once},
                                {"max_length", Value::Map{{"batches", 9000}}}},
                     std::move(others));
}

Value adaptive(const char* mode, int max_rungs, int divisor, int length, int trials) {
  return test_config(Value::Map{{"name", "adaptive_asha"},
                                {"mode", mode},
                                {"max_rungs", max_rungs},
                                {"divisor", divisor},
                                {"max_trials", trials},
                                {"max_length", Value::Map{{"batches", length}}}});
}

TEST(Simulation, BracketOfTheSpecTrainsWhoItSays) {
  for (const std::uint64_t workers : {1U, 4U, 16U}) {
    const Simulated simulated = run(spec_bracket(), by_trial, with(DurationModel::op, workers));
    ASSERT_EQ(simulated.trials.size(), 12U);
    EXPECT_EQ(simulated.state, ExperimentState::completed);
    EXPECT_EQ(lengths_of(simulated, 0), (std::vector<std::uint64_t>{1000, 3000, 9000}));
    for (const std::size_t trial : {1U, 2U, 3U}) {
      EXPECT_EQ(lengths_of(simulated, trial), (std::vector<std::uint64_t>{1000, 3000})) << trial;
    }
    for (std::size_t trial = 4; trial < 12; ++trial) {
      EXPECT_EQ(lengths_of(simulated, trial), (std::vector<std::uint64_t>{1000})) << trial;
    }
    EXPECT_EQ(simulated.trained, 12 * 1000 + 4 * 2000 + 6000U);
  }
}

TEST(Simulation, EqualMetricsGiveTheCountsOfTheSpec) {
  using Counts = std::map<std::uint64_t, int>;
  const Options options = with(DurationModel::op, 16);
  EXPECT_EQ(final_counts(run(adaptive("standard", 5, 4, 1000, 100), equal, options)),
            (Counts{{15, 53}, {62, 30}, {250, 13}, {1000, 4}}));
  EXPECT_EQ(final_counts(run(adaptive("conservative", 5, 3, 81, 81), equal, options)),
            (Counts{{1, 32}, {3, 24}, {9, 14}, {27, 8}, {81, 3}}));
  EXPECT_EQ(final_counts(run(adaptive("aggressive", 5, 4, 64, 64), equal, options)),
            (Counts{{1, 48}, {4, 12}, {16, 3}, {64, 1}}));
}

TEST(Simulation, AnOpTakesOneTickAndTiesEndInOrderOfAssignment) {
  const Simulated simulated = run(random_config(6, 4), by_trial, with(DurationModel::op, 4));
  EXPECT_EQ(simulated.end, Instant::from_micros(2'000'000));
  EXPECT_EQ(numbers(simulated.closing_order), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  for (const Piece& piece : simulated.pieces) {
    EXPECT_EQ((piece.end - piece.begin).in_micros(), 1'000'000);
  }
}

TEST(Simulation, AUnitTakesASecond) {
  const Simulated simulated = run(random_config(3, 1), by_trial, with(DurationModel::unit, 1));
  EXPECT_EQ(simulated.end, Instant::from_micros(27'000'000));
  EXPECT_DOUBLE_EQ(simulated.slot_use, 1.0);
}

TEST(Simulation, CurvesMayBringTheirOwnTime) {
  // Trials 0, 1 and 2 take 9, 18 and 27 seconds; one worker has 0 and 2, the other 1.
  const Simulated simulated = run(random_config(3, 2), by_trial, with(DurationModel::curve, 2));
  EXPECT_EQ(simulated.end, Instant::from_micros(36'000'000));
  EXPECT_EQ(numbers(simulated.closing_order), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(simulated.slot_use, (9.0 + 18.0 + 27.0) / 72.0);
  EXPECT_DOUBLE_EQ(simulated.slot_use_by_tenth.back(), 0.5);
}

TEST(Simulation, PausedTrialsGoOnFromWhereTheyWere) {
  const Simulated simulated = run(spec_bracket(), by_trial, with(DurationModel::unit, 2));
  std::map<std::uint64_t, std::uint64_t> reached;
  for (const Piece& piece : simulated.pieces) {
    EXPECT_EQ(count(piece.from), reached[piece.trial.number()]);
    reached[piece.trial.number()] = count(piece.to);
  }
}

/// Most pieces of work that overlap.
std::size_t most_at_once(const Simulated& simulated) {
  std::vector<std::pair<Instant, int>> steps;
  for (const Piece& piece : simulated.pieces) {
    steps.emplace_back(piece.begin, 1);
    steps.emplace_back(piece.end, -1);
  }
  std::sort(steps.begin(), steps.end());  // At one instant, ends come first.
  int now = 0;
  int most = 0;
  for (const auto& [at, step] : steps) {
    now += step;
    most = std::max(most, now);
  }
  return static_cast<std::size_t>(most);
}

TEST(Simulation, NeverRunsMoreThanMaxConcurrentTrialsNorThanWorkers) {
  const Value config = asha_config(40, 5);
  EXPECT_EQ(most_at_once(run(config, drawn, with(DurationModel::curve, 1))), 1U);
  EXPECT_EQ(most_at_once(run(config, drawn, with(DurationModel::curve, 3))), 3U);
  EXPECT_EQ(most_at_once(run(config, drawn, with(DurationModel::curve, 20))), 5U);
}

TEST(Simulation, SameArgumentsGiveTheSameAnswer) {
  Options options = with(DurationModel::curve, 7);
  options.failure_rate = 0.3;
  options.failure_seed = 5;
  options.report_every = Units{2};
  const Value config = asha_config(50, 0);
  const Simulated first = run(config, drawn, options);
  const Simulated second = run(config, drawn, options);
  EXPECT_EQ(first.events, second.events);
  EXPECT_EQ(first.end, second.end);
  EXPECT_EQ(first.closing_order, second.closing_order);
  ASSERT_EQ(first.decisions.size(), second.decisions.size());
  for (std::size_t i = 0; i < first.decisions.size(); ++i) {
    EXPECT_EQ(first.decisions[i].at, second.decisions[i].at);
    EXPECT_EQ(first.decisions[i].trial, second.decisions[i].trial);
    EXPECT_EQ(first.decisions[i].reason, second.decisions[i].reason);
  }
  options.failure_seed = 6;
  EXPECT_NE(run(config, drawn, options).end, first.end) << "another seed should crash others";
}

TEST(Simulation, EarlyExitsEndTrialsAsTheEngineKnowsThem) {
  Options options = with(DurationModel::op, 4);
  options.exits = {{TrialNumber(0), 0, ExitReason::errored},
                   {TrialNumber(1), 1, ExitReason::invalid_hp},
                   {TrialNumber(2), 0, ExitReason::user_canceled},
                   {TrialNumber(3), 0, ExitReason::user_stopped},
                   {TrialNumber(9), 2, ExitReason::errored}};
  const Simulated simulated = run(spec_bracket(), by_trial, options);
  EXPECT_EQ(simulated.trials[0].state, TrialState::failed);
  EXPECT_EQ(simulated.trials[1].state, TrialState::stopped);
  EXPECT_EQ(simulated.trials[2].state, TrialState::canceled);
  EXPECT_EQ(simulated.trials[3].state, TrialState::stopped);
  EXPECT_EQ(lengths_of(simulated, 1), (std::vector<std::uint64_t>{1000, 3000}));
  EXPECT_EQ(count(simulated.trials[1].reached), 1000U);
  EXPECT_EQ(simulated.trials.size(), 13U) << "an invalid configuration is replaced";
  EXPECT_EQ(simulated.state, ExperimentState::completed);
  ASSERT_EQ(simulated.unused_exits.size(), 1U);
  EXPECT_EQ(simulated.unused_exits[0].trial, TrialNumber(9));
}

TEST(Simulation, AnInjectedErrorUsesUpAllRestarts) {
  Options options = with(DurationModel::op, 1);
  options.exits = {{TrialNumber(0), 0, ExitReason::errored}};
  const Simulated simulated = run(random_config(1, 1, Value::Map{{"max_restarts", 3}}), by_trial, options);
  EXPECT_EQ(simulated.state, ExperimentState::failed);
  // Without a report, the third and the fourth attempt wait for 1 s and 2 s.
  EXPECT_EQ(simulated.end, Instant::from_micros(4'000'000));
}

TEST(Simulation, RecordedExitsEndTrialsWhereTheyDid) {
  Options options = with(DurationModel::op, 1);
  options.recorded_exits = {
      {TrialNumber(0), {.at = Units{2000}, .reason = ExitReason::errored, .detail = "exit status 3"}},
      {TrialNumber(1), {.at = Units{}, .reason = ExitReason::invalid_hp, .detail = "lr is too large"}},
      {TrialNumber(3), {.at = Units{}, .reason = ExitReason::user_canceled}},
      {TrialNumber(8), {.at = Units{1000}, .reason = ExitReason::user_canceled, .waiting_until = 11}},
      {TrialNumber(9), {.at = Units{5000}, .reason = ExitReason::errored, .detail = "it never gets there"}}};
  const Simulated simulated = run(spec_bracket(), by_trial, options);
  const auto& trials = simulated.trials;
  EXPECT_EQ(simulated.state, ExperimentState::completed);
  EXPECT_EQ(trials[0].state, TrialState::failed);
  EXPECT_EQ(trials[0].reason.detail, "exit status 3");
  EXPECT_EQ(trials[0].reached, Units{2000});
  EXPECT_EQ(lengths_of(simulated, 0), (std::vector<std::uint64_t>{1000, 3000}));
  EXPECT_EQ(trials[1].state, TrialState::stopped);
  EXPECT_EQ(trials[1].reason.detail, "invalid hyperparameters: lr is too large");
  EXPECT_EQ(trials[1].reached, Units{});
  EXPECT_EQ(trials[3].state, TrialState::canceled);
  EXPECT_EQ(trials[3].reached, Units{});
  EXPECT_EQ(trials[8].state, TrialState::canceled);
  EXPECT_EQ(trials[8].reached, Units{1000}) << "it had reported when it was ended";
  std::uint64_t lengths = 0;  // Begun pieces of work that were reported.
  for (const Piece& piece : simulated.pieces) {
    const auto ended =
        std::find_if(simulated.decisions.begin(), simulated.decisions.end(), [](const Decided& decided) {
          return decided.what == Decided::What::exit_early && decided.trial == TrialNumber(8);
        });
    ASSERT_NE(ended, simulated.decisions.end());
    const std::uint64_t to = count(piece.to);
    lengths += piece.end <= ended->at && (to == 1000 || to == 3000 || to == 9000) ? 1U : 0U;
  }
  EXPECT_EQ(lengths, 11U);
  EXPECT_EQ(trials[9].reason.why, Reason::Why::rung_closed);
  EXPECT_EQ(trials.size(), 13U) << "the invalid one is replaced";
}

TEST(Simulation, AProgramThatWasPromotedInPlaceAndJustEndedHasWhatItReported) {
  Options options = with(DurationModel::op, 1);
  options.recorded_exits = {
      {TrialNumber(2), {.at = Units{2000}, .reason = ExitReason::user_stopped, .by_itself = true}}};
  const auto better = [](std::uint64_t trial, std::uint64_t, std::uint64_t) {
    return -static_cast<double>(trial);
  };
  const Simulated simulated = run(spec_bracket(), better, options);
  EXPECT_EQ(lengths_of(simulated, 2), (std::vector<std::uint64_t>{1000, 3000}));
  EXPECT_EQ(simulated.trials[2].state, TrialState::stopped);
  EXPECT_EQ(simulated.trials[2].reached, Units{2000});
  EXPECT_EQ(simulated.trials[2].reason.why, Reason::Why::rung_closed);
}

TEST(Simulation, ExitsThatAreGivenStandInForRecordedOnes) {
  Options options = with(DurationModel::op, 1);
  options.recorded_exits = {
      {TrialNumber(0), {.at = Units{}, .reason = ExitReason::errored, .detail = "recorded"}}};
  options.exits = {{TrialNumber(0), 1, ExitReason::user_canceled}};
  const Simulated simulated = run(spec_bracket(), by_trial, options);
  EXPECT_EQ(simulated.trials[0].state, TrialState::canceled);
  EXPECT_EQ(simulated.trials[0].reached, Units{1000});
}

/// Knows all trials but one, and may not be asked about that one.
class GappyCurves final : public Curves {
 public:
  explicit GappyCurves(std::uint64_t gap) : gap_(gap) {}
  Status covers(const Training& training) override {
    return training.trial.number() == gap_ ? Status(Error{Errc::bad_request, "no curve"}) : Status(Done{});
  }
  double metric(const Training& training, Units) override {
    EXPECT_NE(training.trial.number(), gap_);
    return 0.5;
  }
  bool has_times() const noexcept override { return true; }
  double seconds(const Training& training, Units from, Units to) override {
    EXPECT_NE(training.trial.number(), gap_);
    return static_cast<double>(count(to) - count(from));
  }

 private:
  std::uint64_t gap_;
};

TEST(Simulation, ATrialThatEndsBeforeItReportsNeedsNoCurve) {
  GappyCurves curves(1);
  Options options = with(DurationModel::curve, 1);
  EXPECT_FALSE(simulate(random_config(3, 1), searchers::registry(), curves, options).has_value());
  options.exits = {{TrialNumber(1), 0, ExitReason::invalid_hp}};
  const auto simulated = simulate(random_config(3, 1), searchers::registry(), curves, options);
  ASSERT_TRUE(simulated.has_value()) << simulated.error().message;
  EXPECT_EQ(simulated->trials.size(), 4U);
  EXPECT_EQ(yardstick(*simulated, curves)->metric, 0.5);
  options.report_every = Units{2};
  EXPECT_FALSE(simulate(random_config(3, 1), searchers::registry(), curves, options).has_value())
      << "it reports before";
  options.report_every.reset();
  options.exits.clear();
  options.recorded_exits = {
      {TrialNumber(1), {.at = Units{}, .reason = ExitReason::errored, .detail = "exit status 1"}}};
  EXPECT_TRUE(simulate(random_config(3, 1), searchers::registry(), curves, options).has_value());
}

TEST(Simulation, CrashedProgramsGoOnFromTheirCheckpoint) {
  Options options = with(DurationModel::unit, 4);
  options.failure_rate = 0.5;
  const Simulated simulated =
      run(asha_config(30, 0, false, Value::Map{{"max_restarts", 100}}), drawn, options);
  EXPECT_EQ(simulated.state, ExperimentState::completed);
  std::uint64_t useful = 0;
  for (const SimulatedTrial& trial : simulated.trials) {
    EXPECT_NE(trial.state, TrialState::failed);
    useful += count(trial.reached);
  }
  EXPECT_GT(simulated.trained, useful) << "what was trained after the checkpoint is trained again";
}

TEST(Simulation, AlwaysCrashingTrialsFail) {
  Options options = with(DurationModel::unit, 2);
  options.failure_rate = 1;
  const Simulated simulated = run(random_config(3, 0), by_trial, options);
  EXPECT_EQ(simulated.state, ExperimentState::failed);
  EXPECT_TRUE(simulated.improvements.empty());
}

TEST(Simulation, StopsTheClockAtUntil) {
  Options options = with(DurationModel::unit, 2);
  options.until = Duration::millis(13'500);
  const Simulated simulated = run(random_config(10, 0), by_trial, options);
  EXPECT_EQ(simulated.state, ExperimentState::active);
  EXPECT_EQ(simulated.end, Instant::from_micros(13'500'000));
  EXPECT_EQ(simulated.trials.size(), 4U);
  EXPECT_EQ(simulated.trained, 2 * 9 + 2 * 4U)
      << "four whole units fit into the 4.5 seconds after the first nine";
  EXPECT_DOUBLE_EQ(simulated.slot_use, 1.0);
}

TEST(Simulation, ABudgetOfTimeEndsTheSearchWhereThePlanOfTheFileSays) {
  const Value config = random_config(10, 2, Value::Map{{"budget", Value::Map{{"max_time", "12s"}}}});
  const Simulated simulated = run(config, by_trial, with(DurationModel::unit, 2));
  EXPECT_EQ(simulated.state, ExperimentState::completed);
  EXPECT_EQ(simulated.end, Instant::from_micros(12'000'000));
  EXPECT_EQ(simulated.trials.size(), 4U);
  EXPECT_EQ(simulated.trained, 2 * 9 + 2 * 3U) << "three seconds of the second pair are trained in vain";
}

TEST(Simulation, ATargetThatIsReachedEndsTheSearch) {
  const auto falling = [](std::uint64_t trial, std::uint64_t, std::uint64_t) {
    return 1.0 - 0.1 * static_cast<double>(trial);
  };
  const Value config = random_config(10, 1, Value::Map{{"budget", Value::Map{{"target", 0.65}}}});
  const Simulated simulated = run(config, falling, with(DurationModel::unit, 1));
  EXPECT_EQ(simulated.state, ExperimentState::completed);
  EXPECT_EQ(simulated.trials.size(), 5U);
}

TEST(Simulation, ReportsOnTheWayChangeNoTimes) {
  Options options = with(DurationModel::curve, 3);
  const Simulated seldom = run(asha_config(20, 0), drawn, options);
  options.report_every = Units{1};
  const Simulated often = run(asha_config(20, 0), drawn, options);
  EXPECT_EQ(seldom.end, often.end);
  EXPECT_EQ(seldom.closing_order, often.closing_order);
  EXPECT_GT(often.events, seldom.events);
}

TEST(Simulation, NanNeverIsTheBestSoFar) {
  const auto half_nan = [](std::uint64_t trial, std::uint64_t, std::uint64_t) {
    return trial % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(trial);
  };
  const Simulated simulated = run(random_config(6, 1), half_nan, with(DurationModel::unit, 1));
  ASSERT_EQ(simulated.improvements.size(), 1U);
  EXPECT_EQ(simulated.improvements[0].trial, TrialNumber(1));
  EXPECT_TRUE(std::isnan(*simulated.trials[0].metric));
}

TEST(Simulation, AnInvalidTrialIsNotTheBestSoFar) {
  const auto measured = [](std::uint64_t trial, std::uint64_t, std::uint64_t) {
    return trial == 1 ? 0.1 : 0.3;
  };
  Options options = with(DurationModel::unit, 1);
  options.report_every = Units{1};
  options.exits = {{TrialNumber(1), 0, ExitReason::invalid_hp}};
  TestCurves curves(measured);
  const auto simulated = simulate(random_config(3, 1), searchers::registry(), curves, options);
  ASSERT_TRUE(simulated.has_value());
  ASSERT_EQ(simulated->improvements.size(), 3U);
  EXPECT_EQ(simulated->improvements[1].trial, TrialNumber(1));
  EXPECT_DOUBLE_EQ(simulated->improvements[1].metric, 0.1);
  EXPECT_EQ(simulated->improvements[2].trial, TrialNumber(0)) << "from then on";
  EXPECT_DOUBLE_EQ(simulated->improvements[2].metric, 0.3);
  EXPECT_GT(simulated->improvements[2].at, simulated->improvements[1].at);
  EXPECT_TRUE(simulated->trials[1].invalid);
  EXPECT_DOUBLE_EQ(yardstick(*simulated, curves)->metric, 0.3);
}

TEST(Simulation, MetricsOfOnlyAnInvalidTrialAreNoResult) {
  Options options = with(DurationModel::unit, 1);
  options.report_every = Units{1};
  options.exits = {{TrialNumber(0), 0, ExitReason::invalid_hp}};
  const Simulated simulated = run(random_config(3, 1), by_trial, options);
  ASSERT_EQ(simulated.improvements.size(), 1U);
  EXPECT_EQ(simulated.improvements[0].trial, TrialNumber(1));
}

TEST(Simulation, TheYardstickIsWhatAFullyTrainedTrialWouldHaveHad) {
  // The last trial would be the best, but looks the worst until it is fully trained.
  const auto late = [](std::uint64_t trial, std::uint64_t length, std::uint64_t) {
    return length == 9000 ? 1.0 - 0.01 * static_cast<double>(trial) : 2.0 + static_cast<double>(trial);
  };
  TestCurves curves(late);
  const auto simulated = simulate(spec_bracket(), searchers::registry(), curves, with(DurationModel::op, 4));
  ASSERT_TRUE(simulated.has_value());
  const auto best = yardstick(*simulated, curves);
  ASSERT_TRUE(best.has_value());
  EXPECT_FALSE(best->known_optimum);
  EXPECT_DOUBLE_EQ(best->metric, 0.89);
  EXPECT_NEAR(regret(simulated->improvements.back().metric, best->metric, simulated->goal), 0.11, 1e-12);
}

TEST(Simulation, TheLastBestIsOfTheFinalistWithTheBestMean) {
  Value config = random_config(3, 1);
  Value::Map& searcher = *config.as_map()->find("searcher")->as_map();
  searcher["repeats"] = 2;
  searcher["finalists"] = 2;
  const std::vector<double> metrics = {0.5, 0.1, 0.2, 0.7, 0.22};  // Trial 3 repeats 1, trial 4 repeats 2.
  TestCurves curves([&](std::uint64_t trial, std::uint64_t, std::uint64_t) { return metrics.at(trial); });
  const auto simulated = simulate(config, searchers::registry(), curves, with(DurationModel::op, 1));
  ASSERT_TRUE(simulated.has_value()) << simulated.error().message;
  const auto& steps = simulated->improvements;
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].trial, TrialNumber(1)) << "the best of single trainings";
  EXPECT_EQ(steps[2].trial, TrialNumber(2)) << "0.21, not 0.4";
  EXPECT_DOUBLE_EQ(steps[2].metric, 0.2);
  EXPECT_DOUBLE_EQ(yardstick(*simulated, curves)->metric, 0.1);
}

TEST(Simulation, OpCountsPiecesOfWorkFromZero) {
  std::map<std::uint64_t, std::set<std::uint64_t>> ops;  // length → ops it was asked with
  run(
      spec_bracket(),
      [&](std::uint64_t trial, std::uint64_t length, std::uint64_t op) {
        ops[length].insert(op);
        return by_trial(trial, length, op);
      },
      with(DurationModel::unit, 4));
  using Ops = std::set<std::uint64_t>;
  EXPECT_EQ(ops, (std::map<std::uint64_t, Ops>{{1000, Ops{0}}, {3000, Ops{1}}, {9000, Ops{2}}}));
}

TEST(Simulation, CountsMoreTrainingThanFitsAnInteger) {
  const Value endless =
      test_config(Value::Map{{"name", "random"},
                             {"max_trials", 100},
                             {"max_length", Value::Map{{"epochs", 9'000'000'000'000'000'000}}}});
  const Simulated simulated = run(endless, equal, with(DurationModel::op, 10));
  EXPECT_EQ(to_text(simulated.trained), "900000000000000000000");
  TestCurves curves(equal);
  const auto refused = simulate(endless, searchers::registry(), curves, with(DurationModel::unit, 10));
  ASSERT_FALSE(refused.has_value());
  EXPECT_MESSAGE(refused.error().message);
  Options stopped = with(DurationModel::unit, 10);
  stopped.until = Duration::millis(1'000'000);
  EXPECT_EQ(count(run(endless, equal, stopped).trials[0].reached), 0U);
}

Value random_with(Value::Map resources) {
  return test_config({{"name", "random"}, {"max_trials", 3}, {"max_length", 4}},
                     {{"resources", std::move(resources)}});
}

TEST(Simulation, WorkersAreWhatTheFileAsksFor) {
  const Simulated simulated = run(
      random_with({{"resource_pool", "gpu"}, {"labels", Value::Map{{"zone", "a"}}}, {"slots_per_trial", 2}}),
      by_trial);
  EXPECT_EQ(simulated.state, ExperimentState::completed);
  EXPECT_EQ(simulated.trials.size(), 3U);
}

TEST(Simulation, RefusesWhatWouldNeverRun) {
  TestCurves curves(by_trial);
  const auto refused = [&](Value::Map resources) {
    const auto simulated = simulate(random_with(std::move(resources)), searchers::registry(), curves, {});
    return simulated ? std::string("accepted") : simulated.error().message;
  };
  EXPECT_EQ(refused({{"slots_per_trial", 4}, {"max_slots", 2}}),
            "resources.max_slots: 2 slots are fewer than a trial takes (resources.slots_per_trial is 4), so "
            "nothing would "
            "ever run");
  EXPECT_EQ(refused({{"slots_per_trial", INT64_MAX}}),
            "resources.slots_per_trial: 16 workers of 9223372036854775807 slots are more than can be "
            "simulated (at most "
            "10000000 slots in all)");
}

TEST(Simulation, RefusesWhatMakesNoSense) {
  TestCurves curves(by_trial);
  const auto refused = [&](const Options& options) {
    const auto simulated = simulate(random_config(1, 1), searchers::registry(), curves, options);
    return simulated ? std::string("accepted") : simulated.error().message;
  };
  EXPECT_EQ(refused(with(DurationModel::unit, 0)), "workers is 0; a simulation needs at least one");
  Options options;
  options.failure_rate = 1.5;
  EXPECT_EQ(refused(options), "the failure rate is a probability, from 0 to 1");
  EXPECT_FALSE(simulate(Value::Map{}, searchers::registry(), curves, {}).has_value());
}

}  // namespace
}  // namespace hpsearch::engine::sim
