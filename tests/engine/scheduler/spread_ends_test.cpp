// More trials end at once than one step may end: the next steps go on, and others are served in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

class SpreadEnds : public testing::Test {
 protected:
  /// Nine trials wait at the first of two rungs, three of which will go on, but for the last one to report
  /// there.
  void reach_the_end_of_a_rung() {
    cluster_.engine.set_most_ends(2);
    worker_ = cluster_.join("w", 1);
    id_ = cluster_.create(test_config({{"name", "async_halving"},
                                       {"num_rungs", 2},
                                       {"divisor", 3},
                                       {"max_trials", 9},
                                       {"max_concurrent_trials", 1}},
                                      {{"max_restarts", 0}}));
    while (all<TrialCreated>(cluster_.log).size() < 9) {
      step_of_the_one_that_runs();
    }
  }

  Effects step_of_the_one_that_runs() {
    const auto& [key, attempt] = *cluster_.attempts.begin();
    if (attempt.decision && attempt.decision->directive != Directive::train_on) {
      return cluster_.exit(key);
    }
    const Units length = attempt.decision ? attempt.decision->length : attempt.spec.length;
    return cluster_.report(AttemptKey(key), count(length), 0.01 * static_cast<double>(key.trial.number()));
  }

  [[nodiscard]] bool is_due() const {
    return cluster_.engine.next_deadline() == cluster_.engine.last_instant();
  }
  [[nodiscard]] std::size_t ended() const { return all<TrialEnded>(cluster_.log).size(); }
  [[nodiscard]] const ExperimentRecord& record() const { return *cluster_.engine.find(id_); }

  /// Until the rung is over: the trials that it names outnumber what one step may end.
  void end_the_rung() {
    reach_the_end_of_a_rung();
    while (!is_due()) {
      step_of_the_one_that_runs();
      ASSERT_FALSE(cluster_.attempts.empty());
    }
    ASSERT_FALSE(record().searcher->closable().empty());
  }

  void expect_replays() const {
    Engine replayed = cluster_.replayed();
    EXPECT_EQ(state_text(replayed), state_text(cluster_.engine));
  }

  TestCluster cluster_;
  WorkerId worker_;
  ExperimentId id_;
};

TEST_F(SpreadEnds, TheNextStepsGoOnUntilNothingIsLeft) {
  end_the_rung();
  std::size_t before = ended();
  while (is_due()) {
    const Effects effects = cluster_.step(CheckTimers{});
    EXPECT_LE(all<TrialEnded>(effects.events).size(), 2U);
    EXPECT_GT(ended(), before) << "each step brings it on";
    before = ended();
  }
  EXPECT_TRUE(record().searcher->closable().empty());
  EXPECT_EQ(record().state, ExperimentState::active) << "three trials train on";
  cluster_.run_all([](TrialNumber trial) { return 0.01 * static_cast<double>(trial.number()); });
  while (is_due()) {
    cluster_.step(CheckTimers{});
  }
  EXPECT_EQ(record().state, ExperimentState::completed);
  EXPECT_EQ(ended(), 9U);
  EXPECT_EQ(record().searcher->progress(), 1.0);
  expect_replays();
}

TEST_F(SpreadEnds, OthersAreServedInBetween) {
  end_the_rung();
  ASSERT_FALSE(cluster_.attempts.empty())
      << "its slot went to a trial that goes on before the others have ended";
  const Effects effects = step_of_the_one_that_runs();
  EXPECT_TRUE(std::any_of(effects.orders.begin(), effects.orders.end(),
                          [](const Order& order) { return std::holds_alternative<AckReports>(order); }));
  EXPECT_LE(all<TrialEnded>(effects.events).size(), 3U) << "two that wait, and the one that reported";
}

TEST_F(SpreadEnds, TheExperimentEndsOnlyBehindTheLastOfThem) {
  end_the_rung();
  for (const Event& event : cluster_.log) {
    EXPECT_FALSE(std::holds_alternative<ExperimentEnded>(event.body));
  }
  while (!is_ended(record().state)) {
    if (is_due()) {
      cluster_.step(CheckTimers{});
    } else {
      step_of_the_one_that_runs();
    }
  }
  ASSERT_TRUE(std::holds_alternative<ExperimentEnded>(cluster_.log.back().body));
  EXPECT_EQ(record().by_state[static_cast<std::size_t>(TrialState::paused)], 0U);
}

TEST_F(SpreadEnds, ARecoveredEngineGoesOnWhereItWas) {
  end_the_rung();
  Engine replayed(searchers::registry());
  replayed.set_most_ends(2);
  for (const Event& event : cluster_.log) {
    ASSERT_TRUE(replayed.replay(event));
  }
  cluster_.step(CheckTimers{});
  ASSERT_TRUE(replayed.step(CheckTimers{}, cluster_.now));
  EXPECT_EQ(state_text(replayed), state_text(cluster_.engine));
}

TEST_F(SpreadEnds, AnEarlyExitChangesNoRankOfThoseThatHaveYetToEnd) {
  end_the_rung();
  std::vector<TrialNumber> named;
  for (const TrialNumber trial : record().searcher->closable()) {
    named.push_back(trial);
  }
  const Effects effects = cluster_.step(EndTrial{id_, named.back(), ExitReason::user_canceled});
  std::vector<TrialNumber> closed;
  for (const TrialEnded& end : all<TrialEnded>(effects.events)) {
    EXPECT_EQ(end.reason.why, Reason::Why::rung_closed);
    EXPECT_GE(*end.reason.rank, *end.reason.keep);
    closed.push_back(end.trial);
  }
  EXPECT_EQ(closed, named)
      << "all that its rung had closed, each for that reason, though somebody asked for one of them";
  EXPECT_TRUE(all<TrialExitedEarly>(effects.events).empty()) << "its rung was over before";
}

TEST_F(SpreadEnds, AnotherTrialsEarlyExitComesBehindThem) {
  end_the_rung();
  cluster_.exit(cluster_.attempts.begin()->first);  // A trial that goes on gets its slot.
  const std::size_t named = record().searcher->closable().size();
  ASSERT_GT(named, 0U);
  const AttemptKey runs = cluster_.attempts.begin()->first;
  ASSERT_EQ(cluster_.trial(id_, runs.trial.number()).state, TrialState::running);
  const Effects effects = cluster_.exit(runs, 1);
  std::size_t before = 0;
  for (const Event& event : effects.events) {
    if (std::holds_alternative<TrialExitedEarly>(event.body)) {
      break;
    }
    before += std::holds_alternative<TrialEnded>(event.body) ? 1U : 0U;
  }
  EXPECT_EQ(before, named);
}

TEST_F(SpreadEnds, MoreTrialsAreWantedBehindThem) {
  end_the_rung();
  const std::size_t named = record().searcher->closable().size();
  const Effects effects =
      cluster_.step(ChangeExperiment{id_, Value::Map{{"searcher", Value::Map{{"max_trials", 12}}}}});
  EXPECT_EQ(all<TrialEnded>(effects.events).size(), named);
  EXPECT_TRUE(record().searcher->closable().empty());
  cluster_.run_all([](TrialNumber trial) { return 0.01 * static_cast<double>(trial.number()); });
  while (is_due()) {
    cluster_.step(CheckTimers{});
  }
  EXPECT_EQ(record().trials.size(), 12U);
  EXPECT_EQ(record().state, ExperimentState::completed);
}

TEST_F(SpreadEnds, WaitingTrialsOfACanceledExperimentEndFewAtATime) {
  reach_the_end_of_a_rung();
  const AttemptKey runs = cluster_.attempts.begin()->first;
  const std::size_t before = ended();
  const Effects first = cluster_.step(CancelExperiment{id_});
  EXPECT_EQ(all<TrialEnded>(first.events).size(), 2U);
  EXPECT_EQ(record().state, ExperimentState::stopping);
  EXPECT_TRUE(is_due());
  const Effects exit = cluster_.exit(runs);
  EXPECT_TRUE(all<ExperimentEnded>(exit.events).empty()) << "some wait still";
  while (is_due()) {
    const Effects effects = cluster_.step(CheckTimers{});
    EXPECT_LE(all<TrialEnded>(effects.events).size(), 2U);
  }
  EXPECT_EQ(record().state, ExperimentState::canceled);
  EXPECT_EQ(ended() - before, 9U - before);
  for (const TrialEnded& end : all<TrialEnded>(first.events)) {
    EXPECT_EQ(end.state, TrialState::canceled);
    EXPECT_EQ(end.reason.why, Reason::Why::user);
    EXPECT_EQ(end.reason.detail, "canceled by a user");
  }
  expect_replays();
}

TEST_F(SpreadEnds, NothingOfACanceledExperimentStartsMeanwhile) {
  reach_the_end_of_a_rung();
  cluster_.step(CancelExperiment{id_});
  const Effects killed = cluster_.step(KillExperiment{id_});
  const WorkerId other = cluster_.join("another", 3);
  EXPECT_EQ(cluster_.engine.workers().at(other).attempts.size(), 0U);
  cluster_.exit(cluster_.attempts.begin()->first);
  while (is_due()) {
    const Effects effects = cluster_.step(CheckTimers{});
    EXPECT_TRUE(all<LeaseGranted>(effects.events).empty());
  }
  EXPECT_EQ(record().state, ExperimentState::canceled);
  EXPECT_EQ(record().reason, "canceled by a user");
}

}  // namespace
}  // namespace hpsearch::engine
