#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "engine/test_cluster.hpp"
#include "messages.hpp"

namespace hpsearch::engine {
namespace {

Value searcher(Value::Map fields) {
  return Value::Map{{"searcher", std::move(fields)}};
}

std::size_t asked_to_pause(const TestCluster& cluster) {
  std::size_t count = 0;
  for (const auto& [key, attempt] : cluster.attempts) {
    if (attempt.decision && attempt.decision->directive == Directive::pause) {
      ++count;
    }
  }
  return count;
}

TEST(ChangeLimits, MoreConcurrencyFillsFreeSlotsAtOnce) {
  TestCluster cluster;
  cluster.join("a", 8);
  const ExperimentId id = cluster.create(random_config(20, 2));
  EXPECT_EQ(cluster.attempts.size(), 2U);
  cluster.step(ChangeExperiment{id, searcher({{"max_concurrent_trials", 5}})});
  EXPECT_EQ(cluster.attempts.size(), 5U);
  EXPECT_EQ(cluster.engine.find(id)->config.searcher.max_concurrent_trials, 5U);
  EXPECT_EQ(*cluster.engine.find(id)->effective.at_path("searcher.max_concurrent_trials"), Value(5));
}

TEST(ChangeLimits, LessConcurrencyPausesTheTrialsLeasedLastAndLosesNone) {
  TestCluster cluster;
  cluster.join("a", 4);
  const ExperimentId id = cluster.create(random_config(5, 4));
  cluster.step(ChangeExperiment{id, searcher({{"max_concurrent_trials", 1}})});
  EXPECT_EQ(asked_to_pause(cluster), 3U);
  EXPECT_FALSE(cluster.attempts.at(cluster.live(id, 0)).decision.has_value()) << "the oldest goes on";
  cluster.step(ChangeExperiment{id, searcher({{"max_concurrent_trials", 2}})});
  EXPECT_EQ(asked_to_pause(cluster), 3U) << "what was count to pause pauses";
  const AttemptKey third = cluster.live(id, 2);
  cluster.send(third, CheckpointReport{Units{4}, "/c/4", 1, 10});
  cluster.exit(third);
  EXPECT_EQ(cluster.trial(id, 2).state, TrialState::pending) << "paused by us, not ended by itself";
  cluster.exit(cluster.live(id, 3));
  cluster.exit(cluster.live(id, 1));
  EXPECT_EQ(cluster.attempts.size(), 2U);
  while (!cluster.attempts.empty()) {
    ASSERT_LE(cluster.engine.find(id)->running.size(), 2U);
    const AttemptKey key = cluster.attempts.begin()->first;
    cluster.report(key, 9, 0.5);
    cluster.exit(key);
  }
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.engine.find(id)->by_state[static_cast<std::size_t>(TrialState::completed)], 5U);
}

TEST(ChangeLimits, SubmissionThatIsRepeatedAfterwardsIsStillTheSame) {
  TestCluster cluster;
  CreateExperiment command;
  command.config = random_config(5, 1);
  command.seed = 1;
  command.idempotency_key = "k";
  const ExperimentId id = *cluster.step(command).created;
  cluster.step(ChangeExperiment{id, searcher({{"max_concurrent_trials", 2}})});
  EXPECT_EQ(cluster.step(command).created, id) << "the answer to the first one was lost";
  command.config = random_config(5, 2);
  EXPECT_EQ(cluster.refused(command).code, Errc::conflict) << "as it is now, it was never submitted";
}

TEST(ChangeLimits, MaxSlotsCountsSlotsNotTrials) {
  TestCluster cluster;
  cluster.join("a", 8);
  const ExperimentId id =
      cluster.create(random_config(9, 4, Value::Map{{"resources", Value::Map{{"slots_per_trial", 2}}}}));
  EXPECT_EQ(cluster.attempts.size(), 4U);
  cluster.step(ChangeExperiment{id, Value::Map{{"resources", Value::Map{{"max_slots", 5}}}}});
  EXPECT_EQ(asked_to_pause(cluster), 2U);
}

TEST(ChangeLimits, WeightAndPriorityDecideWhoIsServedNext) {
  TestCluster cluster;
  const ExperimentId first = cluster.create(random_config(9, 9));
  const ExperimentId second = cluster.create(random_config(9, 9));
  cluster.step(ChangeExperiment{second, Value::Map{{"resources", Value::Map{{"priority", 1}}}}});
  cluster.join("a", 1);
  EXPECT_EQ(cluster.engine.find(first)->running.size(), 0U);
  EXPECT_EQ(cluster.engine.find(second)->running.size(), 1U);
}

TEST(ChangeLimits, RefusesByNameWhatCannotChangeOrWouldBeWrong) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(9, 1));
  const auto refusal = [&](Value changes) {
    return cluster.refused(ChangeExperiment{id, std::move(changes)});
  };
  EXPECT_MESSAGE(refusal(searcher({{"divisor", 3}})).message);
  EXPECT_MESSAGE(refusal(Value::Map{{"entrypoint", "x"}}).message);
  EXPECT_MESSAGE(refusal(searcher({{"max_trials", 0}})).message);
  EXPECT_NE(refusal(searcher({{"max_trials", nullptr}})).message.find("searcher.max_trials"),
            std::string::npos);
  EXPECT_MESSAGE(refusal(Value::Map{{"budget", 3}}).message);
  EXPECT_EQ(refusal(Value::Map()).code, Errc::bad_request);
  EXPECT_EQ(refusal(Value(3)).code, Errc::bad_request);
  EXPECT_EQ(cluster.refused(ChangeExperiment{ExperimentId(7), searcher({{"max_trials", 3}})}).code,
            Errc::not_found);
  // One refusal names all fields: those that cannot change, and those with a wrong value.
  const ChangeExperiment mixed{
      id, Value::Map{{"entrypoint", "x"}, {"searcher", Value::Map{{"divisor", 3}, {"max_trials", 0}}}}};
  const Problems all = cluster.engine.problems_of(mixed);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].path, "entrypoint");
  EXPECT_EQ(all[1].path, "searcher.divisor");
  EXPECT_EQ(all[2].path, "searcher.max_trials");
  EXPECT_EQ(cluster.refused(mixed).message,
            describe(all[0]) + "\n" + describe(all[1]) + "\n" + describe(all[2]));
  EXPECT_TRUE(cluster.engine.problems_of(ChangeExperiment{id, searcher({{"max_trials", 12}})}).empty());
  EXPECT_TRUE(
      cluster.engine.problems_of(ChangeExperiment{ExperimentId(7), searcher({{"max_trials", 0}})}).empty());
  const Lsn before = cluster.engine.last_lsn();
  cluster.step(ChangeExperiment{id, searcher({{"max_trials", 9}})});
  EXPECT_EQ(cluster.engine.last_lsn(), before) << "what changes nothing leaves no trace";
  cluster.step(KillExperiment{id});
  EXPECT_EQ(refusal(searcher({{"max_trials", 10}})).code, Errc::wrong_state);
}

Value colours() {
  return Value::Map{
      {"hyperparameters",
       Value::Map{{"x", Value::Map{{"type", "categorical"}, {"vals", Value::List{"r", "g", "b", "w"}}}}}}};
}

TEST(ChangeLimits, PointsComeNextInTheirOrderInsteadOfThoseNotStarted) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(5, 1, *colours().as_map());
  const auto point = [](const char* colour) { return Value(Value::Map{{"x", colour}}); };
  (*config.as_map()->find("searcher")->as_map())["points_to_evaluate"] =
      Value::List{point("r"), point("r"), point("r")};
  const ExperimentId id = cluster.create(config);
  cluster.step(ChangeExperiment{id, searcher({{"points_to_evaluate", Value::List{point("w"), point("g")}}})});
  cluster.run_all([](TrialNumber) { return 0.5; });
  const ExperimentRecord& record = *cluster.engine.find(id);
  ASSERT_EQ(record.trials.size(), 5U);
  EXPECT_TRUE(record.hparams[0] == point("r"));
  EXPECT_TRUE(record.hparams[1] == point("w"));
  EXPECT_TRUE(record.hparams[2] == point("g"));
  EXPECT_NE(cluster.refused(ChangeExperiment{id, searcher({{"points_to_evaluate", Value::List{point("w")}}})})
                .message,
            "");
}

TEST(ChangeLimits, TheSamePointsGivenAgainComeNextAgain) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(4, 1, *colours().as_map());
  const Value::List points{Value::Map{{"x", "w"}}};
  (*config.as_map()->find("searcher")->as_map())["points_to_evaluate"] = points;
  const ExperimentId id = cluster.create(config);
  cluster.step(
      ChangeExperiment{id, searcher({{"points_to_evaluate", points}})});  // To try again what failed, say.
  for (const std::uint64_t trial : {std::uint64_t{0}, std::uint64_t{1}}) {
    const AttemptKey key = cluster.live(id, trial);
    cluster.report(key, 9, 0.5);
    cluster.exit(key, 0);
    if (trial == 0) {
      cluster.step(ChangeExperiment{id, searcher({{"points_to_evaluate", points}})});
    }
  }
  const ExperimentRecord& record = *cluster.engine.find(id);
  for (std::size_t trial = 0; trial < 3; ++trial) {
    EXPECT_TRUE(record.hparams[trial] == points.front()) << trial;
  }
  const Lsn before = cluster.engine.last_lsn();
  cluster.step(ChangeExperiment{id, searcher({{"max_trials", 4}})});
  EXPECT_EQ(cluster.engine.last_lsn(), before) << "what is so already leaves no trace";
  Engine replayed = cluster.replayed();
  EXPECT_EQ(state_text(replayed), state_text(cluster.engine));
}

TEST(ChangeLimits, PointsThatWereGivenLongAgoStandInNobodysWay) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(6, 1, *colours().as_map());
  const Value::Map point{{"x", "w"}};
  (*config.as_map()->find("searcher")->as_map())["points_to_evaluate"] = Value::List{point, point, point};
  const ExperimentId id = cluster.create(config);
  cluster.step(ChangeExperiment{id, searcher({{"max_trials", 2}})});
  EXPECT_EQ(cluster.engine.find(id)->config.searcher.max_trials, 2U);
  cluster.step(ChangeExperiment{id, searcher({{"on_duplicate", "reject"}})});
  EXPECT_EQ(cluster.engine.find(id)->config.searcher.on_duplicate, OnDuplicate::reject);
  EXPECT_MESSAGE(
      cluster
          .refused(ChangeExperiment{id, searcher({{"points_to_evaluate", Value::List{point, point, point}}})})
          .message)
      << "those that are given now are looked at";
  Engine loaded = cluster.replayed();
  EXPECT_EQ(state_text(loaded), state_text(cluster.engine));
}

TEST(ChangeLimits, APointOutsideTheSpaceIsRefused) {
  TestCluster cluster;
  const ExperimentId id = cluster.create(random_config(5, 1, *colours().as_map()));
  const Value::List wrong{Value::Map{{"x", "pink"}}};
  EXPECT_NE(
      cluster.refused(ChangeExperiment{id, searcher({{"points_to_evaluate", wrong}})}).message.find("pink"),
      std::string::npos);
}

TEST(ChangeLimits, RejectingDuplicatesCountsWhatWasStartedBeforeAndExhaustsTheSpace) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(50, 1, *colours().as_map()));
  for (int i = 0; i < 6; ++i) {  // Six draws of four colours repeat themselves.
    cluster.report(cluster.attempts.begin()->first, 9, 0.5);
    cluster.exit(cluster.attempts.begin()->first);
  }
  const auto colours_started = [&] {
    std::map<std::string, int> started;
    const ExperimentRecord& record = *cluster.engine.find(id);
    for (std::size_t i = 0; i < record.trials.size(); ++i) {
      ++started[*record.hparams[i].at_path("x")->as_text()];
    }
    return started;
  };
  const auto before = colours_started();
  ASSERT_LT(before.size(), 7U);
  cluster.step(ChangeExperiment{id, searcher({{"on_duplicate", "reject"}})});
  cluster.run_all([](TrialNumber) { return 0.5; });
  const ExperimentRecord& record = *cluster.engine.find(id);
  EXPECT_EQ(record.state, ExperimentState::completed);
  const auto after = colours_started();
  EXPECT_EQ(after.size(), 4U) << "every colour was tried";
  for (const auto& [colour, times] : after) {
    EXPECT_EQ(times, before.contains(colour) ? before.at(colour) : 1) << colour;
  }
  Engine replayed = cluster.replayed();
  EXPECT_EQ(state_text(replayed), state_text(cluster.engine));
}

TEST(ChangeLimits, APointThatWasStartedAlreadyIsNotStartedAgainWhereDuplicatesAreRejected) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(4, 1, *colours().as_map());
  const auto point = [](const char* colour) { return Value(Value::Map{{"x", colour}}); };
  Value::Map& settings = *config.as_map()->find("searcher")->as_map();
  settings["points_to_evaluate"] = Value::List{point("r")};
  settings["on_duplicate"] = "reject";
  const ExperimentId id = cluster.create(config);
  cluster.step(ChangeExperiment{id, searcher({{"points_to_evaluate", Value::List{point("r"), point("g")}}})});
  cluster.run_all([](TrialNumber) { return 0.5; });
  const ExperimentRecord& record = *cluster.engine.find(id);
  std::set<std::string> started;
  for (std::size_t i = 0; i < record.trials.size(); ++i) {
    started.insert(*record.hparams[i].at_path("x")->as_text());
  }
  EXPECT_EQ(started, (std::set<std::string>{"b", "g", "r", "w"}));
  EXPECT_EQ(record.trials.size(), 4U);
}

TEST(ChangeLimits, NoDrawComesBetweenPointsOfWhichOneWasStartedAlready) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value::Map space{{"x", Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 100}}}};
  Value config = random_config(9, 1, Value::Map{{"hyperparameters", std::move(space)}});
  const auto point = [](int x) { return Value(Value::Map{{"x", x}}); };
  Value::Map& settings = *config.as_map()->find("searcher")->as_map();
  settings["points_to_evaluate"] = Value::List{point(9)};
  settings["on_duplicate"] = "reject";
  const ExperimentId id = cluster.create(config);
  cluster.step(
      ChangeExperiment{id, searcher({{"points_to_evaluate", Value::List{point(9), point(8), point(7)}}})});
  cluster.run_all([](TrialNumber) { return 0.5; });
  const ExperimentRecord& record = *cluster.engine.find(id);
  EXPECT_TRUE(record.hparams[0] == point(9));
  EXPECT_TRUE(record.hparams[1] == point(8));
  EXPECT_TRUE(record.hparams[2] == point(7));
}

TEST(ChangeLimits, APausedSearchThatIsOverTakesMoreTrialsAndNothingElseOfTheSearcher) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(1, 1);
  const Value::List points{Value::Map{{"x", 0.5}}};
  (*config.as_map()->find("searcher")->as_map())["points_to_evaluate"] = points;
  const ExperimentId id = cluster.create(config);
  cluster.step(PauseExperiment{id});
  const AttemptKey last = cluster.live(id, 0);
  cluster.report(last, 9, 0.5);
  cluster.exit(last);
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::paused);
  const Error refused = cluster.refused(ChangeExperiment{id, searcher({{"max_concurrent_trials", 3}})});
  EXPECT_EQ(refused.code, Errc::wrong_state);
  EXPECT_MESSAGE(refused.message);
  EXPECT_EQ(cluster.refused(ChangeExperiment{id, searcher({{"points_to_evaluate", points}})}).code,
            Errc::wrong_state)
      << "the same ones again would not be tried either";
  cluster.step(ChangeExperiment{id, Value::Map{{"budget", Value::Map{{"max_failed_trials", 5}}}}});
  cluster.step(ChangeExperiment{id, searcher({{"max_trials", 3}})});
  cluster.step(ResumeExperiment{id});
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 3U);
}

TEST(ChangeLimits, ADefaultOfWhatASearcherDoesNotHaveIsRefused) {
  TestCluster cluster;
  const ExperimentId id = cluster.create(
      test_config(Value::Map{{"name", "single"}}, {{"hyperparameters", Value::Map{{"x", 1}}}}));
  for (const char* field : {"max_trials", "max_concurrent_trials", "on_duplicate", "points_to_evaluate"}) {
    Value::Map changes;
    changes[field] = nullptr;
    EXPECT_EQ(cluster.refused(ChangeExperiment{id, searcher(changes)}).message,
              std::string("searcher.") + field + ": does not apply to single (leave it out)");
  }
}

// The rule leaves nothing to draw and nothing runs: applied before the points, it would end the search.
TEST(ChangeLimits, PointsThatComeWithTheRuleThatExhaustsTheSpaceAreTried) {
  TestCluster cluster;
  cluster.join("a", 1);
  const double drawn = 1;
  const double other = 1.0000000000000002;
  Value config = random_config(
      5, 1,
      {{"hyperparameters",
        Value::Map{{"x", Value::Map{{"type", "double"}, {"minval", drawn}, {"maxval", other}}}}}});
  const ExperimentId id = cluster.create(config);
  cluster.step(PauseExperiment{id});
  const AttemptKey first = cluster.live(id, 0);
  cluster.report(first, 9, 0.5);
  cluster.exit(first);
  cluster.step(ChangeExperiment{
      id,
      searcher({{"on_duplicate", "reject"}, {"points_to_evaluate", Value::List{Value::Map{{"x", other}}}}})});
  cluster.step(ResumeExperiment{id});
  cluster.run_all([](TrialNumber) { return 0.5; });
  const ExperimentRecord& record = *cluster.engine.find(id);
  ASSERT_EQ(record.trials.size(), 2U);
  EXPECT_TRUE(record.hparams[1] == Value(Value::Map{{"x", other}}));
  EXPECT_EQ(record.state, ExperimentState::completed);
}

TEST(ChangeLimits, TheSmallestBudgetIsNotUsedUpBeforeAnythingRan) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id =
      cluster.create(random_config(2, 1, {{"budget", Value::Map{{"max_slot_hours", 1e-300}}}}));
  EXPECT_EQ(cluster.engine.find(id)->trials.size(), 1U);
  EXPECT_NE(cluster.engine.next_deadline(), std::nullopt);
}

TEST(ChangeLimits, SlotHoursBeyondAllClocksAreNoLimit) {
  for (const double hours : {1e7, 1e10, 1e300}) {
    TestCluster cluster;
    cluster.join("a", 1);
    const ExperimentId id = cluster.create(random_config(2, 1));
    cluster.step(ChangeExperiment{id, Value::Map{{"budget", Value::Map{{"max_slot_hours", hours}}}}});
    EXPECT_EQ(cluster.engine.next_deadline(), std::nullopt) << hours;
    cluster.run_all([](TrialNumber) { return 0.5; });
    EXPECT_EQ(cluster.engine.find(id)->trials.size(), 2U) << hours;
  }
}

TEST(ChangeLimits, ReplayGivesTheSameLimits) {
  TestCluster cluster;
  cluster.join("a", 4);
  const ExperimentId id = cluster.create(random_config(9, 4));
  cluster.step(ChangeExperiment{id, searcher({{"max_concurrent_trials", 2}, {"max_trials", 12}})});
  Engine replayed = cluster.replayed();
  EXPECT_TRUE(replayed.find(id)->effective == cluster.engine.find(id)->effective);
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    const auto& one = cluster.trial(id, trial).live->decision;
    const auto& other = replayed.find(id, TrialNumber(trial))->live->decision;
    ASSERT_EQ(one.has_value(), other.has_value());
    EXPECT_EQ(one ? one->id : Lsn{}, other ? other->id : Lsn{});
  }
}

}  // namespace
}  // namespace hpsearch::engine
