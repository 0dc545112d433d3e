#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "messages.hpp"

// Experiments that have ended and continue.

namespace hpsearch::engine {
namespace {

Value more_trials(std::uint64_t trials) {
  return Value::Map{{"searcher", Value::Map{{"max_trials", static_cast<std::int64_t>(trials)}}}};
}

Value::Map budget(Value::Map limits) {
  return Value::Map{{"budget", std::move(limits)}};
}

/// What a program measures: a function of the trial and how far it is.
double metric_of(TrialNumber trial, Units length) {
  Draw draw(11, trial, "metric");
  return static_cast<double>(draw.below(1000)) + 1.0 / static_cast<double>(count(length) + 1);
}

std::string described(const Reason& reason) {
  std::string text(name_of(reason.why));
  for (const auto& number : {reason.rank, reason.size, reason.keep}) {
    text += number ? " " + std::to_string(*number) : " -";
  }
  text += reason.bracket ? " b" + std::to_string(*reason.bracket) : "";
  return text + (reason.rung ? " r" + std::to_string(*reason.rung) : "");
}

/// The search's decisions, without times and numbers of events.
std::vector<std::string> decisions(const std::vector<Event>& log, Lsn after) {
  std::vector<std::string> out;
  for (const Event& event : log) {
    if (event.lsn <= after) {
      continue;
    }
    const auto say = [&out](const char* what, TrialNumber trial, const std::string& how) {
      out.push_back(std::string(what) + " " + std::to_string(trial.number()) + " " + how);
    };
    if (const auto* created = std::get_if<TrialCreated>(&event.body)) {
      say("create", created->trial,
          python_text(created->hparams) + " " + std::to_string(count(created->length)) + " " +
              described(created->reason));
    } else if (const auto* promoted = std::get_if<TrialPromoted>(&event.body)) {
      say("promote", promoted->trial,
          std::to_string(count(promoted->length)) + " " + described(promoted->reason));
    } else if (const auto* paused = std::get_if<TrialPaused>(&event.body)) {
      say("pause", paused->trial, described(paused->reason));
    } else if (const auto* ended = std::get_if<TrialEnded>(&event.body)) {
      say("end", ended->trial, std::string(name_of(ended->state)) + " " + described(ended->reason));
    } else if (const auto* over = std::get_if<ExperimentEnded>(&event.body)) {
      out.push_back("over " + std::string(name_of(over->state)) + " " + over->reason);
    }
  }
  return out;
}

/// The next thing that some program does; false: none runs.
bool turn(TestCluster& cluster, Draw& chance) {
  if (cluster.attempts.empty()) {
    return false;
  }
  auto chosen = cluster.attempts.begin();
  std::advance(chosen, static_cast<std::ptrdiff_t>(chance.below(cluster.attempts.size())));
  const AttemptKey key = chosen->first;
  const TestAttempt& attempt = chosen->second;
  if (attempt.decision && attempt.decision->directive != Directive::train_on) {
    cluster.exit(key);
    return true;
  }
  const std::uint64_t happens = chance.below(100);
  if (happens < 3) {
    cluster.send(key, InvalidHparamsReport{"not this one"});
  } else if (happens < 8) {
    cluster.exit(key, 1);
  } else {
    const Units length = attempt.decision ? attempt.decision->length : attempt.spec.length;
    cluster.report(key, count(length), metric_of(key.trial, length));
  }
  return true;
}

void run_to_end(TestCluster& cluster, std::uint64_t seed) {
  Draw chance(seed, TrialNumber(2), "turns");
  for (int turns = 0; turn(cluster, chance); ++turns) {
    ASSERT_LT(turns, 20'000) << "the search does not end";
  }
}

/// An engine that has replayed the log, in which failures are the programs' too.
Engine replayed(const TestCluster& cluster) {
  Engine twin(searchers::registry());
  twin.trust_workers();
  for (const Event& event : cluster.log) {
    EXPECT_TRUE(twin.replay(event)) << "event " << event.lsn.number();
  }
  return twin;
}

void expect_replayable(const TestCluster& cluster) {
  EXPECT_EQ(state_text(replayed(cluster)), state_text(cluster.engine));
}

/// The same, and the engine is now and then another one that has replayed the log.
void run_to_end_replaying(TestCluster& cluster, std::uint64_t seed) {
  Draw chance(seed, TrialNumber(2), "turns");
  Draw restarts(seed, TrialNumber(3), "restarts");
  for (int turns = 0; turn(cluster, chance); ++turns) {
    ASSERT_LT(turns, 20'000) << "the search does not end";
    if (restarts.below(40) == 0) {
      expect_replayable(cluster);
      cluster.engine = replayed(cluster);
    }
  }
}

Value drawn_config(Draw& draw) {
  const auto number = [&draw](std::uint64_t from, std::uint64_t below) {
    return Value(static_cast<std::int64_t>(from + draw.below(below)));
  };
  Value::Map searcher{{"max_trials", number(1, 30)}, {"max_concurrent_trials", number(0, 6)}};
  switch (draw.below(3)) {
    case 0:
      searcher["name"] = "random";
      break;
    case 1:
      searcher["name"] = "async_halving";
      searcher["num_rungs"] = number(1, 4);
      break;
    default:
      searcher["name"] = "adaptive_asha";
      searcher["mode"] = draw.below(2) == 0 ? "standard" : "conservative";
      break;
  }
  if (draw.below(3) > 0 && *searcher["name"].as_text() != "random") {
    searcher["stop_once"] = draw.below(2) == 0;
    searcher["divisor"] = number(2, 3);
  }
  searcher["max_length"] = Value::Map{{"epochs", number(1, 40)}};
  return test_config(std::move(searcher), Value::Map{{"max_restarts", 0}});
}

ExperimentId started(TestCluster& cluster, Value config) {
  cluster.join("a", 4);
  cluster.engine.trust_workers();  // Failures are the programs' here.
  return cluster.create(std::move(config));
}

/// A cluster in which everything of the log happened but its last event.
void forget_last_event(TestCluster& cluster) {
  cluster.log.pop_back();
  cluster.engine = replayed(cluster);
}

TEST(Reopened, SearchThatEndedContinuesAsOneThatWasNotOverYet) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 40 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed, TrialNumber(1), "reopened");
    const Value config = drawn_config(draw);
    TestCluster ended;
    const ExperimentId id = started(ended, config);
    run_to_end(ended, seed);
    if (ended.engine.find(id)->state != ExperimentState::completed) {
      continue;  // All failed, or too many were invalid.
    }
    TestCluster replaying;
    started(replaying, config);
    run_to_end(replaying, seed);
    TestCluster living;
    started(living, config);
    run_to_end(living, seed);
    ASSERT_TRUE(std::holds_alternative<ExperimentEnded>(living.log.back().body));
    forget_last_event(living);

    const std::uint64_t trials = ended.engine.find(id)->config.searcher.max_trials + 1 + draw.below(20);
    const Lsn before = ended.engine.last_lsn();
    const Lsn living_before = living.engine.last_lsn();
    for (TestCluster* cluster : {&ended, &replaying, &living}) {
      cluster->step(ChangeExperiment{id, more_trials(trials)});
      expect_replayable(*cluster);
    }
    EXPECT_EQ(ended.engine.find(id)->state, ExperimentState::active);
    run_to_end(ended, seed + 1000);
    run_to_end_replaying(replaying, seed + 1000);
    run_to_end(living, seed + 1000);
    const std::vector<std::string> decided = decisions(ended.log, before);
    EXPECT_EQ(decided, decisions(living.log, living_before)) << "what had ended goes another way";
    EXPECT_EQ(decided, decisions(replaying.log, before)) << "a log decides otherwise";
    expect_replayable(ended);
    const ExperimentRecord& record = *ended.engine.find(id);
    EXPECT_TRUE(is_ended(record.state));
    EXPECT_GE(record.trials.size(), trials);
    ++compared;
  }
  EXPECT_GT(compared, 10U) << "the seeds say little";
}

TEST(Reopened, RandomSearchTriesWhatALargerOneWouldHaveTried) {
  TestCluster grown;
  const ExperimentId id = started(grown, random_config(6, 2));
  run_to_end(grown, 1);
  grown.step(ChangeExperiment{id, more_trials(11)});
  run_to_end(grown, 2);
  TestCluster large;
  started(large, random_config(11, 2));
  run_to_end(large, 3);
  const ExperimentRecord& a = *grown.engine.find(id);
  const ExperimentRecord& b = *large.engine.find(id);
  ASSERT_GE(a.trials.size(), 11U);
  for (std::size_t trial = 0; trial < 11; ++trial) {
    EXPECT_TRUE(a.hparams[trial] == b.hparams[trial]) << trial;
  }
}

/// Budgets end a search at any point, and another budget lets it continue from there.
TEST(Reopened, ASearchThatABudgetEndedContinuesWhereItWas) {
  std::size_t revived = 0;
  for (std::uint64_t seed = 1; seed <= 40 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed, TrialNumber(1), "budget");
    TestCluster cluster;
    const ExperimentId id = started(cluster, drawn_config(draw));
    Draw chance(seed, TrialNumber(2), "turns");
    for (std::uint64_t turns = draw.below(40); turns > 0 && turn(cluster, chance); --turns) {
    }
    const ExperimentRecord& record = *cluster.engine.find(id);
    if (is_ended(record.state)) {
      continue;
    }
    cluster.step(ChangeExperiment{id, budget({{"target", 1e9}})});
    run_to_end(cluster, seed + 500);
    if (record.state != ExperimentState::completed ||
        record.by_state[static_cast<std::size_t>(TrialState::canceled)] == 0) {
      continue;
    }
    const std::size_t canceled = record.by_state[static_cast<std::size_t>(TrialState::canceled)];
    EXPECT_NE(cluster.refused(ChangeExperiment{id, budget({{"target", 2e9}})}).message.find("target"),
              std::string::npos)
        << "it would end again at once";
    if (draw.below(2) == 0) {
      cluster.engine = replayed(cluster);
    }
    cluster.step(ChangeExperiment{id, budget({{"target", nullptr}})});
    expect_replayable(cluster);
    const ExperimentRecord& now = *cluster.engine.find(id);
    EXPECT_EQ(now.by_state[static_cast<std::size_t>(TrialState::canceled)], 0U);
    run_to_end_replaying(cluster, seed + 1000);
    expect_replayable(cluster);
    const ExperimentRecord& end = *cluster.engine.find(id);
    EXPECT_TRUE(is_ended(end.state));
    EXPECT_EQ(end.by_state[static_cast<std::size_t>(TrialState::canceled)], 0U)
        << "a trial that was canceled with its experiment is lost";
    if (end.state == ExperimentState::completed) {
      EXPECT_GE(end.trials.size(), end.config.searcher.max_trials);
    }
    revived += canceled;
  }
  EXPECT_GT(revived, 10U) << "the seeds say little";
}

TEST(Reopened, TrialThatWaitedAtItsRungWaitsThereAgain) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1, false, budget({{"target", 0.0}})));
  cluster.report(cluster.live(id, 0), 1, 5);
  cluster.exit(cluster.attempts.begin()->first);
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  cluster.report(cluster.live(id, 1), 1, 0);
  cluster.exit(cluster.attempts.begin()->first);
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::canceled);
  cluster.step(ChangeExperiment{id, budget({{"target", -1}})});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  EXPECT_FALSE(cluster.trial(id, 0).awaits_resume);
  EXPECT_EQ(cluster.trial(id, 0).ended_at, Instant{});
  cluster.expect_replayable();
}

TEST(Reopened, TimeAfterItsEndDoesNotCount) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(1, 1, budget({{"max_time", 60}})));
  cluster.report(cluster.live(id, 0), 9, 0.5);
  cluster.exit(cluster.attempts.begin()->first);
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  cluster.now = cluster.now + Duration::seconds(3600);
  cluster.step(ChangeExperiment{id, more_trials(2)});
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::active) << "an hour has passed since its end";
  cluster.now = cluster.now + Duration::seconds(61);
  cluster.step(CheckTimers{});
  EXPECT_EQ(cluster.engine.find(id)->state, ExperimentState::stopping);
  cluster.expect_replayable();
}

TEST(Reopened, ALargerTimeLetsItContinueAndASmallerOneDoesNot) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(3, 1, budget({{"max_time", 60}})));
  cluster.now = cluster.now + Duration::seconds(61);
  cluster.step(CheckTimers{});
  cluster.exit(cluster.attempts.begin()->first);
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::completed);
  EXPECT_NE(cluster.refused(ChangeExperiment{id, budget({{"max_time", 30}})}).message.find("max_time"),
            std::string::npos);
  cluster.step(ChangeExperiment{id, budget({{"max_time", 600}})});
  EXPECT_EQ(cluster.trial(id, 0).state, TrialState::running) << "it was canceled with its experiment";
  cluster.expect_replayable();
}

TEST(Reopened, RefusesWhatWouldChangeNothingAndSaysWhatDoes) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(2, 1));
  cluster.run_all([](TrialNumber) { return 0.5; });
  const auto refusal = [&cluster](ExperimentId experiment, Value changes) {
    const Error error = cluster.refused(ChangeExperiment{experiment, std::move(changes)});
    EXPECT_EQ(error.code, Errc::wrong_state);
    return error.message;
  };
  const std::string raise =
      "experiment 1 is COMPLETED: every trial of its search has ended; raise searcher.max_trials, which is "
      "2, "
      "to continue";
  EXPECT_EQ(refusal(id, more_trials(1)), raise);
  EXPECT_EQ(refusal(id, more_trials(2)), raise);
  EXPECT_EQ(refusal(id, budget({{"max_time", 60}})), raise);
  EXPECT_EQ(refusal(id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 2}}}}), raise);

  const ExperimentId grid = cluster.create(test_config(
      Value::Map{{"name", "grid"}, {"max_concurrent_trials", 1}},
      Value::Map{{"hyperparameters",
                  Value::Map{{"x", Value::Map{{"type", "categorical"}, {"vals", Value::List{1, 2}}}}}}}));
  cluster.run_all([](TrialNumber) { return 0.5; });
  EXPECT_MESSAGE(refusal(grid, budget({{"max_time", 60}})));

  Value config = random_config(
      9, 1,
      Value::Map{{"hyperparameters",
                  Value::Map{{"x", Value::Map{{"type", "categorical"}, {"vals", Value::List{1, 2}}}}}}});
  (*config.as_map()->find("searcher")->as_map())["on_duplicate"] = "reject";
  const ExperimentId small = cluster.create(config);
  cluster.run_all([](TrialNumber) { return 0.5; });
  ASSERT_EQ(cluster.engine.find(small)->trials.size(), 2U);
  EXPECT_MESSAGE(refusal(small, more_trials(20)));

  const ExperimentId canceled = cluster.create(random_config(2, 1));
  cluster.step(KillExperiment{canceled});
  cluster.exit(cluster.attempts.begin()->first);
  EXPECT_EQ(refusal(canceled, more_trials(9)), "experiment 4 is CANCELED and cannot be changed");
}

TEST(Reopened, RefusesMoreTrialsOfAnExhaustedSpaceAlsoWhileFinalistsAreRepeated) {
  TestCluster cluster;
  cluster.join("a", 1);
  Value config = random_config(
      9, 1,
      Value::Map{{"hyperparameters",
                  Value::Map{{"x", Value::Map{{"type", "categorical"}, {"vals", Value::List{1, 2}}}}}}});
  Value::Map& searcher = *config.as_map()->find("searcher")->as_map();
  searcher["on_duplicate"] = "reject";
  searcher["repeats"] = 2;
  const ExperimentId id = cluster.create(std::move(config));
  for (std::uint64_t trial = 0; trial < 2; ++trial) {
    const AttemptKey key = cluster.live(id, trial);
    cluster.report(key, 9, 0.5);
    cluster.exit(key);
  }
  ASSERT_FALSE(cluster.engine.find(id)->searcher->finalists().empty());
  ASSERT_EQ(cluster.engine.find(id)->state, ExperimentState::active);
  const Error error = cluster.refused(ChangeExperiment{id, more_trials(20)});
  EXPECT_EQ(error.code, Errc::wrong_state);
  EXPECT_EQ(error.message,
            "experiment 1 is ACTIVE: no configuration of its space is left to be tried; submit another "
            "experiment with a larger space");
  cluster.step(ChangeExperiment{id, Value::Map{{"searcher", Value::Map{{"max_concurrent_trials", 2}}}}});
}

// --- another program ---

ChangeProgram program(ExperimentId id, const std::string& digest) {
  return ChangeProgram{id, digest, 100, {"train.py"}};
}

ExperimentId create_packed(TestCluster& cluster, Value config) {
  CreateExperiment command;
  command.config = std::move(config);
  command.fallback_name = "test";
  command.seed = 7;
  command.context_digest = "one";
  command.context_bytes = 90;
  return *cluster.step(command).created;
}

std::string digest_of(const TestCluster& cluster, ExperimentId id, std::uint64_t trial) {
  const ProgramChange* change = program_of(*cluster.engine.find(id), TrialNumber(trial));
  return change == nullptr ? "one" : change->context_digest;
}

TEST(ProgramChanged, TrialsThatReportedKeepTheirsAndTheOthersGetTheNewOne) {
  TestCluster cluster;
  cluster.join("a", 3);
  const ExperimentId id = create_packed(cluster, random_config(5, 3));
  cluster.report(cluster.live(id, 0), 1, 0.5);
  cluster.exit(cluster.live(id, 0), 1);  // It reported, and is tried again.
  cluster.step(PauseExperiment{id});
  cluster.exit(cluster.live(id, 1));  // It never said anything.
  cluster.step(program(id, "two"));
  EXPECT_EQ(digest_of(cluster, id, 0), "one") << "it has trained with the first";
  EXPECT_EQ(digest_of(cluster, id, 1), "two");
  EXPECT_EQ(digest_of(cluster, id, 2), "one") << "its attempt runs";
  EXPECT_EQ(digest_of(cluster, id, 3), "two") << "trials to come";
  const auto changed = all<engine::ProgramChanged>(cluster.log);
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_EQ(changed[0].from, TrialNumber(3));
  EXPECT_EQ(changed[0].also, std::vector<TrialNumber>{TrialNumber(1)});
  cluster.expect_replayable();
  cluster.step(program(id, "two"));
  EXPECT_EQ(all<engine::ProgramChanged>(cluster.log).size(), 1U) << "asked twice, it leaves no trace";
  cluster.step(program(id, "three"));
  EXPECT_EQ(digest_of(cluster, id, 1), "three");
  EXPECT_EQ(digest_of(cluster, id, 0), "one");
  cluster.expect_replayable();
}

TEST(ProgramChanged, WaitingAndPromotedTrialsKeepTheirs) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = create_packed(cluster, asha_config(6, 1));
  for (int i = 0; i < 2; ++i) {
    cluster.report(cluster.attempts.begin()->first, 1, 5 + i);
    cluster.exit(cluster.attempts.begin()->first);
  }
  ASSERT_EQ(cluster.trial(id, 0).state, TrialState::paused);
  cluster.step(program(id, "two"));
  cluster.run_all([](TrialNumber trial) { return 100 + static_cast<double>(trial.number()); });
  EXPECT_GT(cluster.trial(id, 0).length, Units{1}) << "it is promoted";
  EXPECT_EQ(digest_of(cluster, id, 0), "one");
  EXPECT_EQ(digest_of(cluster, id, 5), "two");
  cluster.expect_replayable();
}

TEST(ProgramChanged, ExperimentThatEndedContinuesWithIt) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = create_packed(cluster, random_config(2, 1));
  cluster.run_all([](TrialNumber) { return 0.5; });
  cluster.step(program(id, "two"));
  cluster.step(ChangeExperiment{id, more_trials(3)});
  EXPECT_EQ(digest_of(cluster, id, 1), "one");
  EXPECT_EQ(digest_of(cluster, id, 2), "two");
  cluster.expect_replayable();
}

TEST(ProgramChanged, InADirectoryEveryAttemptRunsWhatIsThere) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(random_config(2, 1));
  cluster.report(cluster.live(id, 0), 1, 0.5);
  cluster.step(program(id, ""));
  const ProgramChange* change = program_of(*cluster.engine.find(id), TrialNumber(0));
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->changed, std::vector<std::string>{"train.py"});
  EXPECT_EQ(cluster.refused(program(id, "two")).code, Errc::bad_request);
  const ExperimentId packed = create_packed(cluster, random_config(2, 1));
  EXPECT_EQ(cluster.refused(program(packed, "")).code, Errc::bad_request);
  EXPECT_EQ(cluster.refused(program(ExperimentId(9), "two")).code, Errc::not_found);
  cluster.step(KillExperiment{packed});
  EXPECT_EQ(cluster.refused(program(packed, "two")).code, Errc::wrong_state);
  cluster.expect_replayable();
}

}  // namespace
}  // namespace hpsearch::engine
