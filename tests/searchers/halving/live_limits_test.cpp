#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "contract/search_course.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/searchers/adaptive_asha.hpp"
#include "searchers/settings.hpp"

// max_trials changes while a search runs, and trials end while they wait.

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::ExitReason;
using engine::Finished;
using engine::MaxTrialsChanged;
using engine::PromoteTrial;
using engine::Searcher;
using engine::TrialNumber;
using engine::TrialWasClosed;
using engine::TrialWasCreated;
using engine::TrialWasPromoted;
using engine::Verdict;
using test::ExperimentConfig;
using test::kind_of;
using test::score;
using test::settings;
using test::Units;
using test::Value;

std::unique_ptr<Searcher> make(const ExperimentConfig& config) {
  return kind_of(config).make(config);
}

/// A search with a number of trials that somebody keeps changing.
class LiveSearch {
 public:
  enum class State : std::uint8_t { running, paused, ended };

  LiveSearch(ExperimentConfig config, std::uint64_t seed)
      : config_(std::move(config)),
        chance_(seed, TrialNumber(1), "live_limits"),
        max_trials_(config_.searcher.max_trials),
        searcher_(make(config_)),
        replayed_(make(config_)) {
    failure_history_ = chance_.below(3) == 0 ? 0 : chance_.below(30);
    changes_ = 1 + chance_.below(20);
  }

  void run() {
    for (std::uint64_t turns = 20'000; turns > 0; --turns) {
      if (finished_ && !end_.problem && chance_.below(3) > 0) {
        grow();
      }
      if (finished_ || ::testing::Test::HasFailure()) {
        return;
      }
      turn();
    }
    ADD_FAILURE() << "the search does not end";
  }

  void expect_sound_end() const {
    if (end_.problem) {
      EXPECT_GT(invalid_, max_trials_) << *end_.problem;
      return;
    }
    EXPECT_GE(counting(), max_trials_) << "trials are missing";
    EXPECT_EQ(searcher_->progress(), 1.0);
    for (std::size_t trial = 0; trial < states_.size(); ++trial) {
      EXPECT_EQ(states_[trial], State::ended) << "trial " << trial << " is stranded";
    }
  }

  [[nodiscard]] std::uint64_t counting() const { return states_.size() - invalid_; }

 private:
  void turn() {
    if (searcher_->progress() < 1 && chance_.below(100) < changes_) {
      max_trials_ = 1 + chance_.below(60);
      tell(MaxTrialsChanged{max_trials_});
      close_what_can_be();
    }
    fill_slots();
    if (finished_ || running_.empty()) {
      return;
    }
    const auto turn = static_cast<std::size_t>(chance_.below(running_.size()));
    const TrialNumber trial = running_[turn];
    const std::uint64_t happens = chance_.below(100);
    const std::optional<TrialNumber> waits = one_that_waits();
    if (happens < failure_history_ / 3 && waits) {
      exit(*waits, ExitReason::user_canceled);
    } else if (happens < failure_history_) {
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(turn));
      exit(trial, happens % 2 == 0 ? ExitReason::invalid_hp : ExitReason::errored);
    } else {
      report(trial, turn);
    }
    close_what_can_be();
  }

  /// It is over, and then more trials are wanted.
  void grow() {
    max_trials_ = std::max(max_trials_, counting()) + 1 + chance_.below(20);
    const MaxTrialsChanged more{max_trials_};
    searcher_->on_event(more);
    replayed_->on_event(more);
    finished_ = false;
    EXPECT_LT(searcher_->progress(), 1.0);
    EXPECT_TRUE(std::holds_alternative<CreateTrial>(searcher_->next())) << "what has ended is not promoted";
  }

  void close_what_can_be() {
    const auto named = searcher_->closable();
    for (const TrialNumber closed : std::vector<TrialNumber>(named.begin(), named.end())) {
      ASSERT_EQ(states_[closed.number()], State::paused);
      states_[closed.number()] = State::ended;
      tell(TrialWasClosed{closed});
    }
  }

  void fill_slots() {
    while (running_.size() < 7) {
      const engine::Next next = searcher_->next();
      if (const auto* create = std::get_if<CreateTrial>(&next)) {
        ASSERT_LT(counting(), max_trials_) << "more trials than are wanted now";
        ASSERT_EQ(create->trial.number(), states_.size());
        states_.push_back(State::running);
        running_.push_back(create->trial);
        tell(TrialWasCreated{create->trial, create->hparams, create->length});
      } else if (const auto* promote = std::get_if<PromoteTrial>(&next)) {
        ASSERT_EQ(states_[promote->trial.number()], State::paused) << "only who waits is promoted";
        states_[promote->trial.number()] = State::running;
        running_.push_back(promote->trial);
        tell(TrialWasPromoted{promote->trial, promote->length});
      } else if (const auto* finished = std::get_if<Finished>(&next)) {
        end_ = *finished;
        finished_ = true;
        return;
      } else {
        ASSERT_FALSE(running_.empty()) << "nothing runs and nothing is wanted";
        return;
      }
    }
  }

  void report(TrialNumber trial, std::size_t turn) {
    tell(engine::TrialValidated{trial, Units{}, score(static_cast<double>(chance_.below(50)))});
    const Verdict verdict = searcher_->verdict(trial);
    if (verdict.action == Verdict::Action::train_on) {
      tell(TrialWasPromoted{trial, verdict.length});
      return;
    }
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(turn));
    states_[trial.number()] = State::paused;
    if (verdict.action == Verdict::Action::stop) {
      states_[trial.number()] = State::ended;
      tell(TrialWasClosed{trial});
    }
  }

  void exit(TrialNumber trial, ExitReason reason) {
    states_[trial.number()] = State::ended;
    if (reason == ExitReason::invalid_hp) {
      ++invalid_;
    }
    tell(engine::TrialExited{trial, reason});
  }

  /// Tells it, and one that only ever hears.
  void tell(const engine::SearchEvent& event) {
    const double before = searcher_->progress();
    searcher_->on_event(event);
    replayed_->on_event(event);
    EXPECT_GE(searcher_->progress(), before) << "progress goes back";
    EXPECT_EQ(searcher_->progress() == 1.0, std::holds_alternative<Finished>(searcher_->next()));
    EXPECT_EQ(contract::text_of(replayed_->next()), contract::text_of(searcher_->next()));
  }

  std::optional<TrialNumber> one_that_waits() {
    std::vector<TrialNumber> waiting;
    for (std::size_t trial = 0; trial < states_.size(); ++trial) {
      if (states_[trial] == State::paused) {
        waiting.push_back(TrialNumber(trial));
      }
    }
    return waiting.empty() ? std::nullopt : std::optional(waiting[chance_.below(waiting.size())]);
  }

  ExperimentConfig config_;
  engine::Draw chance_;
  std::uint64_t max_trials_;
  std::uint64_t failure_history_ = 0;
  std::uint64_t changes_ = 0;
  std::unique_ptr<Searcher> searcher_;
  std::unique_ptr<Searcher> replayed_;
  std::vector<State> states_;
  std::vector<TrialNumber> running_;
  std::uint64_t invalid_ = 0;
  bool finished_ = false;
  Finished end_;
};

void run_many(const std::string& searcher, bool stop_once) {
  for (std::uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    engine::Draw draw(seed, TrialNumber(0), "live_limits");
    ExperimentConfig config = settings(searcher, 1 + draw.below(100), 1 + draw.below(60));
    config.experiment_seed = seed;
    config.searcher.max_concurrent_trials = draw.below(9);
    config.searcher.divisor = 2 + static_cast<double>(draw.below(3));
    config.searcher.num_rungs = 1 + draw.below(4);
    config.searcher.mode = draw.below(2) == 0 ? engine::AshaMode::standard : engine::AshaMode::conservative;
    config.searcher.stop_once = stop_once;
    LiveSearch search(config, seed);
    search.run();
    search.expect_sound_end();
  }
}

TEST(LiveLimits, RandomRunsAsManyTrialsAsAreWantedNow) {
  run_many("random", false);
}
TEST(LiveLimits, AsyncHalvingRunsAsManyTrialsAsAreWantedNow) {
  run_many("async_halving", false);
}
TEST(LiveLimits, AsyncHalvingOfStoppingTypeRunsAsManyTrialsAsAreWantedNow) {
  run_many("async_halving", true);
}
TEST(LiveLimits, AdaptiveAshaRunsAsManyTrialsAsAreWantedNow) {
  run_many("adaptive_asha", false);
}
TEST(LiveLimits, AdaptiveAshaOfStoppingTypeRunsAsManyTrialsAsAreWantedNow) {
  run_many("adaptive_asha", true);
}

// --- one cause at a time ---

std::vector<std::uint32_t> brackets_of_new_trials(Searcher& searcher) {
  std::vector<std::uint32_t> brackets;
  while (true) {
    const engine::Next next = searcher.next();
    const auto* create = std::get_if<CreateTrial>(&next);
    if (create == nullptr) {
      return brackets;
    }
    brackets.push_back(create->reason.bracket.value_or(0));
    searcher.on_event(TrialWasCreated{create->trial, create->hparams, create->length});
  }
}

std::vector<std::uint64_t> counts(const std::vector<std::uint32_t>& brackets) {
  std::vector<std::uint64_t> counts;
  for (const std::uint32_t bracket : brackets) {
    counts.resize(std::max<std::size_t>(counts.size(), bracket + std::size_t{1}), 0);
    ++counts[bracket];
  }
  return counts;
}

ExperimentConfig three_brackets(std::uint64_t max_trials) {
  ExperimentConfig config = settings("adaptive_asha", 1000, max_trials);
  config.searcher.max_concurrent_trials = 0;
  return config;
}

TEST(LiveLimits, BracketsShareANewTotalByTheSameWeights) {
  const auto searcher = make(three_brackets(100));
  searcher->on_event(MaxTrialsChanged{200});
  const std::vector<std::uint64_t> expected = share_out(200, Divisor(4), {4, 3, 2});
  EXPECT_EQ(counts(brackets_of_new_trials(*searcher)), expected);
}

TEST(LiveLimits, ABracketKeepsWhatItHasAtTheExpenseOfTheOthers) {
  const auto searcher = make(three_brackets(100));
  const std::vector<std::uint64_t> before = counts(brackets_of_new_trials(*searcher));
  ASSERT_EQ(before, (std::vector<std::uint64_t>{70, 22, 8}));
  searcher->on_event(MaxTrialsChanged{101});
  EXPECT_EQ(brackets_of_new_trials(*searcher).size(), 1U);
}

TEST(LiveLimits, BelowWhatExistsNothingIsCreated) {
  ExperimentConfig config = settings("random", 1, 10);
  const auto searcher = make(config);
  ASSERT_EQ(brackets_of_new_trials(*searcher).size(), 10U);
  searcher->on_event(MaxTrialsChanged{20});
  for (int i = 0; i < 5; ++i) {
    const engine::Next next = searcher->next();
    const auto& create = std::get<CreateTrial>(next);
    searcher->on_event(TrialWasCreated{create.trial, create.hparams, create.length});
  }
  searcher->on_event(MaxTrialsChanged{3});
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()));
  searcher->on_event(engine::TrialExited{TrialNumber(0), ExitReason::invalid_hp});
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next())) << "14 are more than 3";
  for (std::uint64_t trial = 1; trial < 15; ++trial) {
    searcher->on_event(TrialWasClosed{TrialNumber(trial)});
  }
  EXPECT_TRUE(std::holds_alternative<Finished>(searcher->next()));
}

TEST(LiveLimits, LoweringClosesTheRungsThatNoTrialCanReachAnyMore) {
  ExperimentConfig config = settings("async_halving", 4, 100);
  config.searcher.num_rungs = 2;
  const auto searcher = make(config);
  for (std::uint64_t trial = 0; trial < 2; ++trial) {
    const engine::Next next = searcher->next();
    const auto& create = std::get<CreateTrial>(next);
    searcher->on_event(TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(
        engine::TrialValidated{create.trial, create.length, score(static_cast<double>(trial))});
  }
  EXPECT_TRUE(searcher->closable().empty());
  searcher->on_event(MaxTrialsChanged{2});
  EXPECT_EQ(searcher->closable().size(), 2U);
}

TEST(LiveLimits, BracketsThatAreOverShareMoreTrialsByTheSameWeights) {
  const auto searcher = make(three_brackets(100));
  std::vector<std::uint64_t> in_all = counts(brackets_of_new_trials(*searcher));
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    searcher->on_event(engine::TrialExited{TrialNumber(trial), ExitReason::user_canceled});
  }
  ASSERT_TRUE(std::holds_alternative<Finished>(searcher->next()));
  searcher->on_event(MaxTrialsChanged{200});
  const std::vector<std::uint64_t> more = counts(brackets_of_new_trials(*searcher));
  for (std::size_t bracket = 0; bracket < more.size(); ++bracket) {
    in_all[bracket] += more[bracket];
  }
  EXPECT_EQ(in_all, share_out(200, Divisor(4), {4, 3, 2}));
}

TEST(LiveLimits, AResultThatWasClosedCountsInItsRungButIsNotPromotedByMoreTrials) {
  ExperimentConfig config = settings("async_halving", 4, 2);
  config.searcher.num_rungs = 2;
  config.searcher.divisor = 2;
  const auto searcher = make(config);
  const auto run = [&searcher](double metric) {
    const engine::Next next = searcher->next();
    const auto& create = std::get<CreateTrial>(next);
    searcher->on_event(TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(engine::TrialValidated{create.trial, create.length, score(metric)});
    return create.trial;
  };
  const auto close = [&searcher](TrialNumber trial) { searcher->on_event(TrialWasClosed{trial}); };
  run(0);
  const TrialNumber second = run(1);
  const engine::Next promotion = searcher->next();
  const auto& first = std::get<PromoteTrial>(promotion);
  searcher->on_event(TrialWasPromoted{first.trial, first.length});
  close(second);
  searcher->on_event(engine::TrialValidated{first.trial, first.length, score(0)});
  close(first.trial);
  ASSERT_TRUE(std::holds_alternative<Finished>(searcher->next()));
  searcher->on_event(MaxTrialsChanged{4});
  run(2);
  const TrialNumber worst = run(3);
  EXPECT_TRUE(std::holds_alternative<engine::NothingNow>(searcher->next()))
      << "the two best of four are those that have ended";
  EXPECT_EQ(searcher->standing(worst).keep, 2U) << "results from before the end count";
}

TEST(LiveLimits, ProgressHoldsStillUntilItIsPastWhereItWas) {
  const auto searcher = make(settings("random", 1, 2));
  const auto finish_one = [&searcher] {
    const engine::Next next = searcher->next();
    const auto& create = std::get<CreateTrial>(next);
    searcher->on_event(TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(TrialWasClosed{create.trial});
  };
  finish_one();
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.5);
  searcher->on_event(MaxTrialsChanged{4});
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.5);
  finish_one();
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.5);
  finish_one();
  EXPECT_DOUBLE_EQ(searcher->progress(), 0.75);
  finish_one();
  EXPECT_EQ(searcher->progress(), 1.0);
}

TEST(LiveLimits, ASearchThatIsOverStaysOverUntilItGetsMoreTrials) {
  const auto searcher = make(settings("random", 1, 1));
  searcher->on_event(TrialWasCreated{TrialNumber(0), Value::Map(), Units{1}});
  searcher->on_event(TrialWasClosed{TrialNumber(0)});
  ASSERT_EQ(searcher->progress(), 1.0);
  searcher->on_event(MaxTrialsChanged{1});
  EXPECT_TRUE(std::holds_alternative<Finished>(searcher->next()));
  EXPECT_EQ(searcher->progress(), 1.0);
  searcher->on_event(MaxTrialsChanged{5});
  EXPECT_TRUE(std::holds_alternative<CreateTrial>(searcher->next()));
  EXPECT_LT(searcher->progress(), 1.0);
}

TEST(LiveLimits, TheGuardOfReplacementsFollows) {
  const auto searcher = make(settings("random", 1, 10));
  const auto one_invalid = [&searcher] {
    const engine::Next next = searcher->next();
    const auto& create = std::get<CreateTrial>(next);
    searcher->on_event(TrialWasCreated{create.trial, create.hparams, create.length});
    searcher->on_event(engine::TrialExited{create.trial, ExitReason::invalid_hp});
  };
  for (int i = 0; i < 5; ++i) {
    one_invalid();
  }
  searcher->on_event(MaxTrialsChanged{2});
  ASSERT_TRUE(std::holds_alternative<CreateTrial>(searcher->next())) << "what was replaced is forgiven";
  one_invalid();
  const engine::Next next = searcher->next();
  ASSERT_TRUE(std::holds_alternative<Finished>(next));
  EXPECT_TRUE(std::get<Finished>(next).problem.has_value());
}

TEST(LiveLimits, SingleAndGridHaveAFixedSize) {
  ExperimentConfig grid = settings("grid", 1);
  grid.space = test::space_of({{"a", test::with_count(test::int_range(0, 9), 2)}});
  for (const auto& config : {grid, settings("single", 1)}) {
    const auto searcher = make(config);
    const auto twin = make(config);
    searcher->on_event(MaxTrialsChanged{50});
    for (int step = 0; step < 5; ++step) {
      const std::string next = contract::text_of(searcher->next());
      EXPECT_EQ(next, contract::text_of(twin->next()));
      if (const auto answer = searcher->next(); const auto* create = std::get_if<CreateTrial>(&answer)) {
        for (Searcher* one : {searcher.get(), twin.get()}) {
          one->on_event(TrialWasCreated{create->trial, create->hparams, create->length});
        }
      }
      EXPECT_EQ(searcher->progress(), twin->progress());
    }
  }
}

// --- a trial that ends while it waits ---

ExperimentConfig two_rungs(bool stop_once) {
  ExperimentConfig config = settings("async_halving", 2, 100);
  config.searcher.num_rungs = 2;
  config.searcher.divisor = 2;
  config.searcher.stop_once = stop_once;
  return config;
}

void start_and_report(Searcher& searcher, std::uint64_t trial, double metric) {
  searcher.on_event(TrialWasCreated{TrialNumber(trial), Value::Map{{"lr", 0.5}}, Units{1}});
  searcher.on_event(engine::TrialValidated{TrialNumber(trial), Units{1}, score(metric)});
}

TEST(WaitingTrial, OnceCanceledIsNeverPromoted) {
  const auto searcher = make(two_rungs(false));
  start_and_report(*searcher, 0, 0.1);
  ASSERT_EQ(searcher->verdict(TrialNumber(0)).action, Verdict::Action::pause);
  searcher->on_event(engine::TrialExited{TrialNumber(0), ExitReason::user_canceled});
  start_and_report(*searcher, 1, 0.9);
  EXPECT_EQ(searcher->verdict(TrialNumber(1)).action, Verdict::Action::train_on)
      << "its good result must not hold the only place";
  EXPECT_EQ(searcher->verdict(TrialNumber(1)).reason.rank, 0U);
}

TEST(WaitingTrial, PromotableAndCanceledIsNeverPromoted) {
  const auto searcher = make(two_rungs(false));
  start_and_report(*searcher, 0, 0.1);
  start_and_report(*searcher, 1, 0.9);
  ASSERT_TRUE(std::holds_alternative<PromoteTrial>(searcher->next()));
  searcher->on_event(engine::TrialExited{TrialNumber(0), ExitReason::user_canceled});
  const engine::Next next = searcher->next();
  ASSERT_TRUE(std::holds_alternative<PromoteTrial>(next));
  EXPECT_EQ(std::get<PromoteTrial>(next).trial, TrialNumber(1));
}

TEST(WaitingTrial, CanceledAfterItsVerdictCountsAsWorstInTheStoppingType) {
  const auto searcher = make(two_rungs(true));
  start_and_report(*searcher, 0, 0.1);
  ASSERT_EQ(searcher->verdict(TrialNumber(0)).action, Verdict::Action::train_on);
  searcher->on_event(engine::TrialExited{TrialNumber(0), ExitReason::user_canceled});
  EXPECT_TRUE(std::holds_alternative<CreateTrial>(searcher->next())) << "nobody trains on";
  start_and_report(*searcher, 1, 0.9);
  const Verdict verdict = searcher->verdict(TrialNumber(1));
  EXPECT_EQ(verdict.action, Verdict::Action::train_on);
  EXPECT_EQ(verdict.reason.rank, 0U);
  EXPECT_EQ(verdict.reason.size, 2U);
}

TEST(WaitingTrial, ClosedByAUserKeepsItsResult) {
  const auto searcher = make(two_rungs(false));
  start_and_report(*searcher, 0, 0.1);
  searcher->on_event(TrialWasClosed{TrialNumber(0)});
  start_and_report(*searcher, 1, 0.9);
  EXPECT_EQ(searcher->verdict(TrialNumber(1)).action, Verdict::Action::pause);
  EXPECT_EQ(searcher->verdict(TrialNumber(1)).reason.rank, 1U);
}

}  // namespace
}  // namespace hpsearch::searchers
