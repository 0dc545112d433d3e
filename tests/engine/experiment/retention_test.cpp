#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

using Paths = std::vector<std::string>;

Value::Map storage(int experiment_best, int trial_best, int trial_latest) {
  return {{"checkpoint_storage", Value::Map{{"save_experiment_best", experiment_best},
                                            {"save_trial_best", trial_best},
                                            {"save_trial_latest", trial_latest}}}};
}

std::string path_of(const AttemptKey& key, std::uint64_t step) {
  return "/c/" + std::to_string(key.experiment.number()) + "/" + std::to_string(key.trial.number()) + "/" +
         std::to_string(key.attempt.number()) + "-" + std::to_string(step);
}

/// A cluster whose programs save at every step they report.
class Retention : public testing::Test {
 protected:
  Retention() { cluster_.join("a", 4); }

  void save(const AttemptKey& key, std::uint64_t step) {
    cluster_.send(key, CheckpointReport{Units{step}, path_of(key, step), 2, 100});
  }
  /// Trains to length 9 over steps 3, 6 and 9 with these metrics, saving at each, and exits.
  void train(const AttemptKey& key, const std::vector<double>& metrics) {
    for (std::uint64_t i = 0; i < metrics.size(); ++i) {
      save(key, 3 * (i + 1));
      cluster_.report(key, 3 * (i + 1), metrics[i]);
    }
    cluster_.exit(key);
  }
  Paths kept(ExperimentId id, std::uint64_t trial) {
    Paths paths;
    const TrialRecord& record = cluster_.trial(id, trial);
    for (std::size_t i = 0; record.checkpoints && i < record.checkpoints->kept.size(); ++i) {
      paths.push_back(record.checkpoints->kept[i].path);
    }
    return paths;
  }
  Paths collected() const {
    Paths paths;
    for (const Event& event : cluster_.log) {
      if (const auto* collected = std::get_if<CheckpointsCollected>(&event.body)) {
        paths.insert(paths.end(), collected->paths.begin(), collected->paths.end());
      }
    }
    return paths;
  }

  TestCluster cluster_;
};

TEST_F(Retention, KeepsTheBestAndTheLatestOfAClosedTrial) {
  const ExperimentId id = cluster_.create(random_config(1, 1, storage(0, 1, 1)));
  const AttemptKey key = cluster_.live(id, 0);
  train(key, {0.5, 0.1, 0.3});
  EXPECT_EQ(kept(id, 0), (Paths{path_of(key, 6), path_of(key, 9)}));
  EXPECT_EQ(collected(), Paths{path_of(key, 3)});
  EXPECT_EQ(cluster_.trial(id, 0).checkpoints->best, path_of(key, 6));
  EXPECT_EQ(cluster_.engine.find(id)->condemned, Paths{path_of(key, 3)});
}

TEST_F(Retention, NothingIsCollectedWhileAProgramLives) {
  const ExperimentId id = cluster_.create(random_config(1, 1, storage(0, 0, 1)));
  const AttemptKey key = cluster_.live(id, 0);
  save(key, 3);
  cluster_.report(key, 3, 0.5);
  save(key, 9);
  cluster_.report(key, 9, 0.5);
  EXPECT_TRUE(is_closed(cluster_.trial(id, 0).state));
  EXPECT_EQ(collected(), Paths{});
  cluster_.exit(key);
  EXPECT_EQ(kept(id, 0), Paths{path_of(key, 9)});
}

TEST_F(Retention, ATrialThatMayBePromotedKeepsEverything) {
  const ExperimentId id = cluster_.create(asha_config(9, 1, false, storage(0, 0, 0)));
  const AttemptKey key = cluster_.live(id, 0);
  save(key, 1);
  cluster_.report(key, 1, 0.1);
  ASSERT_FALSE(is_closed(cluster_.trial(id, 0).state));
  if (cluster_.attempts.contains(key)) {
    cluster_.exit(key);
  }
  EXPECT_EQ(kept(id, 0), Paths{path_of(key, 1)});
  while (!cluster_.attempts.empty()) {
    const AttemptKey next = cluster_.attempts.begin()->first;
    const TestAttempt& attempt = cluster_.attempts.begin()->second;
    if (attempt.decision && attempt.decision->directive != Directive::train_on) {
      cluster_.exit(next);
      continue;
    }
    if (attempt.spec.latest_step > Units{}) {  // Whoever goes on has a checkpoint that was not collected.
      const Paths gone = collected();
      EXPECT_EQ(std::count(gone.begin(), gone.end(), attempt.spec.latest_checkpoint), 0);
    }
    const std::uint64_t length = count(attempt.decision ? attempt.decision->length : attempt.spec.length);
    save(next, length);
    cluster_.report(next, length, static_cast<double>(next.trial.number()));
  }
  EXPECT_EQ(cluster_.engine.find(id)->state, ExperimentState::completed);
  for (std::uint64_t trial = 0; trial < 9; ++trial) {
    EXPECT_EQ(kept(id, trial), Paths{}) << trial;
  }
}

TEST_F(Retention, TheBestOfTheExperimentOutliveItsEnd) {
  const ExperimentId id = cluster_.create(random_config(3, 1, storage(2, 0, 0)));
  const AttemptKey first = cluster_.live(id, 0);
  train(first, {0.5, 0.3, 0.4});
  EXPECT_EQ(kept(id, 0), (Paths{path_of(first, 6), path_of(first, 9)}));  // The two best so far.
  const AttemptKey second = cluster_.live(id, 1);
  train(second, {0.9, 0.1, 0.9});
  const AttemptKey third = cluster_.live(id, 2);
  train(third, {0.7, 0.7, 0.7});
  EXPECT_EQ(kept(id, 0), Paths{path_of(first, 6)});
  EXPECT_EQ(kept(id, 1), Paths{path_of(second, 6)});
  EXPECT_EQ(kept(id, 2), Paths{});
}

TEST_F(Retention, TheBestTrialOfTheFinalistsKeepsItsBestCheckpoint) {
  Value config = random_config(3, 1, storage(2, 0, 0));
  Value::Map& searcher = *config.as_map()->find("searcher")->as_map();
  searcher["repeats"] = 2;
  searcher["finalists"] = 2;
  const ExperimentId id = cluster_.create(std::move(config));
  const auto train_next = [&](std::uint64_t trial, const std::vector<double>& metrics) {
    const AttemptKey key = cluster_.live(id, trial);
    train(key, metrics);
    return key;
  };
  train_next(0, {0.9, 0.9, 0.5});
  train_next(1, {0.9, 0.9, 0.1});
  const AttemptKey winner = train_next(2, {0.9, 0.9, 0.2});
  const AttemptKey repeat_of_1 = train_next(3, {0.05, 0.06, 0.7});  // Two that look better than the winner's.
  train_next(4, {0.9, 0.9, 0.22});
  const ExperimentRecord& record = *cluster_.engine.find(id);
  ASSERT_EQ(record.state, ExperimentState::completed);
  EXPECT_EQ(kept(id, 2), Paths{path_of(winner, 9)});
  EXPECT_EQ(kept(id, 3), (Paths{path_of(repeat_of_1, 3), path_of(repeat_of_1, 6)}));
  EXPECT_EQ(kept(id, 1), Paths{}) << "a finalist that did not win";
  EXPECT_EQ(kept(id, 4), Paths{});
}

TEST_F(Retention, InvalidHyperparametersTakeNobodysPlaceAmongTheBestOfTheExperiment) {
  const ExperimentId id = cluster_.create(random_config(2, 2, storage(1, 0, 0)));
  const AttemptKey invalid = cluster_.live(id, 0);
  const AttemptKey valid = cluster_.live(id, 1);
  save(invalid, 3);
  cluster_.report(invalid, 3, 0.1);
  cluster_.send(invalid, InvalidHparamsReport{"no"});
  cluster_.exit(invalid);
  train(valid, {0.5, 0.6, 0.7});
  EXPECT_EQ(kept(id, 1), Paths{path_of(valid, 3)});
  EXPECT_EQ(kept(id, 0), Paths{});
}

TEST_F(Retention, NorDoesWhatAnInvalidTrialStillReportsBeforeItExits) {
  const ExperimentId id = cluster_.create(random_config(2, 2, storage(1, 0, 0)));
  const AttemptKey invalid = cluster_.live(id, 0);
  const AttemptKey valid = cluster_.live(id, 1);
  cluster_.send(invalid, InvalidHparamsReport{"no"});
  save(invalid, 3);
  cluster_.report(invalid, 3, 0.1);
  train(valid, {0.5, 0.6, 0.7});
  cluster_.exit(invalid);
  EXPECT_EQ(kept(id, 1), Paths{path_of(valid, 3)});
}

TEST_F(Retention, AnUnmeasuredCheckpointCountsOnlyAsLatest) {
  const ExperimentId id = cluster_.create(random_config(1, 1, storage(0, 1, 1)));
  const AttemptKey key = cluster_.live(id, 0);
  save(key, 2);
  cluster_.report(key, 3, 0.1);
  save(key, 4);
  cluster_.report(key, 9, std::numeric_limits<double>::quiet_NaN());
  save(key, 9);
  cluster_.exit(key);
  EXPECT_EQ(kept(id, 0), Paths{path_of(key, 9)});
}

TEST_F(Retention, IsReportedToTheShellOnceAndForgottenWhenDone) {
  const ExperimentId id = cluster_.create(random_config(1, 1, storage(0, 0, 1)));
  const AttemptKey key = cluster_.live(id, 0);
  save(key, 3);
  save(key, 9);
  cluster_.report(key, 9, 0.5);
  const Effects effects = cluster_.exit(key);
  const auto discards = [](const Order& order) { return std::holds_alternative<DiscardCheckpoints>(order); };
  EXPECT_EQ(std::count_if(effects.orders.begin(), effects.orders.end(), discards), 1);
  cluster_.step(ConfirmDeleted{id, {path_of(key, 3), "/c/elsewhere"}});
  EXPECT_EQ(cluster_.engine.find(id)->condemned, Paths{});
  EXPECT_TRUE(cluster_.step(ConfirmDeleted{id, {path_of(key, 3)}}).events.empty());
}

TEST_F(Retention, AUserDeletesWhatNoTrialNeeds) {
  const ExperimentId id = cluster_.create(random_config(1, 1));
  const AttemptKey key = cluster_.live(id, 0);
  save(key, 3);
  save(key, 6);
  const Error refused = cluster_.refused(DeleteCheckpoints{id, TrialNumber(0), {path_of(key, 6)}});
  EXPECT_EQ(refused.code, Errc::wrong_state) << refused.message;
  cluster_.step(DeleteCheckpoints{id, TrialNumber(0), {path_of(key, 3)}});
  EXPECT_EQ(kept(id, 0), Paths{path_of(key, 6)});
  EXPECT_TRUE(cluster_.step(DeleteCheckpoints{id, TrialNumber(0), {path_of(key, 3)}}).events.empty());
  EXPECT_EQ(cluster_.refused(DeleteCheckpoints{id, TrialNumber(0), {"/c/none"}}).code, Errc::not_found);
  EXPECT_EQ(cluster_.refused(DeleteCheckpoints{id, TrialNumber(5), {}}).code, Errc::not_found);
}

/// By sorting all there are.
Paths best_by_looking_at_all(const ExperimentRecord& record, std::size_t most) {
  std::vector<std::pair<double, std::string>> all;  // Older ones first.
  for (const TrialRecord& trial : record.trials) {
    for (std::size_t i = 0; trial.checkpoints && i < trial.checkpoints->kept.size(); ++i) {
      if (const KnownCheckpoint& checkpoint = trial.checkpoints->kept[i]; checkpoint.metric) {
        all.emplace_back(*checkpoint.metric, checkpoint.path);
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Paths paths;
  for (std::size_t i = 0; i < all.size() && i < most; ++i) {
    paths.push_back(all[i].second);
  }
  return paths;
}

Paths best_of(const ExperimentRecord& record) {
  Paths paths;
  for (const BestCheckpoints::Entry& entry : record.best_checkpoints.entries()) {
    paths.push_back(entry.path);
  }
  return paths;
}

TEST_F(Retention, TheBestOfTheExperimentAreKnownWithoutLookingAtAll) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed, TrialNumber(0), "best");
    const ExperimentId id = cluster_.create(random_config(12, 4, storage(3, 1, 1)));
    const ExperimentRecord& record = *cluster_.engine.find(id);
    for (int i = 0; i < 300 && !record.running.empty(); ++i) {
      const TrialNumber number =
          *std::next(record.running.begin(), static_cast<std::ptrdiff_t>(draw.below(record.running.size())));
      const AttemptKey key = cluster_.live(id, number.number());
      const std::uint64_t step = 1 + draw.below(9);
      const auto decision = cluster_.attempts.at(key).decision;
      if (draw.below(8) == 0 || (decision && decision->directive != Directive::train_on)) {
        cluster_.exit(key);
      } else if (draw.below(2) == 0) {
        save(key, step);  // At times once more.
      } else {
        // Few values, so that there are ties, and at times another one for the same step.
        cluster_.report(key, draw.below(3) == 0 ? step : count(record.trials[number.number()].reached),
                        static_cast<double>(draw.below(5)));
      }
      ASSERT_EQ(best_of(record), best_by_looking_at_all(record, 3)) << "after " << i;
    }
    Engine twin = cluster_.replayed();
    EXPECT_EQ(best_of(*twin.find(id)), best_of(record));
    if (!is_ended(record.state)) {
      cluster_.step(KillExperiment{id});
    }
    for (const TrialNumber number : std::set<TrialNumber>(record.running)) {
      cluster_.exit(cluster_.live(id, number.number()));
    }
  }
}

TEST_F(Retention, ReplayKnowsTheSameCheckpoints) {
  const ExperimentId id = cluster_.create(random_config(2, 1, storage(1, 1, 1)));
  train(cluster_.live(id, 0), {0.5, 0.1, 0.3});
  const AttemptKey key = cluster_.live(id, 1);
  save(key, 3);
  cluster_.report(key, 3, 0.7);
  Engine replayed = cluster_.replayed();
  EXPECT_EQ(state_text(replayed), state_text(cluster_.engine));
  const auto effects = replayed.step(CheckTimers{}, cluster_.now);
  ASSERT_TRUE(effects);
  EXPECT_TRUE(effects->events.empty()) << "nothing is collected twice";
}

}  // namespace
}  // namespace hpsearch::engine
