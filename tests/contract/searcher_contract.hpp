#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "contract/search_course.hpp"

// What every searcher promises, as tests that any searcher can join, also one that lives in another project:
//
//   struct MySearcherUnderContract {
//     static engine::SearcherKind kind();
//     static engine::ExperimentConfig config(engine::Draw& draw);  // Any settings that pass kind().check.
//     static constexpr bool replaces_invalid = true;  // A trial with invalid hyperparameters does not count.
//     static constexpr bool learns = true;  // Only where configurations depend on what came of others.
//     // Only where the config has no max_trials to say it: how many trials there will be.
//     static engine::Cardinality planned(const engine::ExperimentConfig& config);
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(MySearcher, SearcherContract, MySearcherUnderContract);
//
// searcher_properties.hpp joins this kit and the property tests in one line.
//
// Every test runs many searches, each from a seed of its own, which a failure prints.
// HPSEARCH_CONTRACT_SEED=N runs that one alone, HPSEARCH_CONTRACT_SEEDS=N that many.

namespace hpsearch::contract {

template <class Fixture>
class SearcherContract : public ::testing::Test {
 protected:
  static constexpr std::uint64_t first_seed = 1;
  static constexpr std::uint64_t seeds = 24;

  /// Runs `test` with a fresh course for each seed, until one fails.
  template <class Test>
  static void for_each_seed(Test test) {
    std::uint64_t from = first_seed;
    std::uint64_t upto = first_seed + seeds;
    if (const char* many = std::getenv("HPSEARCH_CONTRACT_SEEDS")) {
      upto = from + std::strtoull(many, nullptr, 10);
    }
    if (const char* only = std::getenv("HPSEARCH_CONTRACT_SEED")) {
      from = std::strtoull(only, nullptr, 10);
      upto = from + 1;
    }
    for (std::uint64_t seed = from; seed < upto && !::testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE("HPSEARCH_CONTRACT_SEED=" + std::to_string(seed));
      test(seed);
    }
  }

  /// `settle` may have its way with the weather.
  template <class Settle>
  [[nodiscard]] static Course course(std::uint64_t seed, Settle settle) {
    engine::Draw draw(seed, engine::TrialNumber(0), "settings");
    engine::ExperimentConfig config = Fixture::config(draw);
    engine::Problems problems;
    if (const auto check = Fixture::kind().check; check != nullptr) {
      check(config, problems);
    }
    for (const engine::Problem& problem : problems) {
      ADD_FAILURE() << "the fixture's settings are wrong: " << engine::describe(problem);
    }
    FaultPlan faults = FaultPlan::drawn(draw);
    settle(faults);
    return Course(Fixture::kind(), Fixture::replaces_invalid, std::move(config), faults, seed);
  }
  [[nodiscard]] static Course course(std::uint64_t seed) {
    return course(seed, [](FaultPlan&) {});
  }
};

TYPED_TEST_SUITE_P(SearcherContract);

TYPED_TEST_P(SearcherContract, EndsWithinItsLimitsAndStrandsNoTrial) {
  this->for_each_seed([this](std::uint64_t seed) {
    Course course = this->course(seed);
    if constexpr (requires { TypeParam::planned(course.config()); }) {
      EXPECT_EQ(course.planned(), TypeParam::planned(course.config()));
    }
    course.run();
    EXPECT_EQ(course.searcher().progress(), 1.0);
    if (course.end().problem) {
      EXPECT_FALSE(course.end().problem->empty());
      return;
    }
    for (std::size_t number = 0; number < course.trials().size(); ++number) {
      EXPECT_EQ(course.trials()[number].state, Course::State::ended) << "trial " << number << " is stranded";
    }
    if (course.end().note.empty()) {
      course.expect_all_trials();
    }
  });
}

/// Both searches went the same way: every event, and every answer after it.
inline void expect_same_way(const Course& one, const Course& other) {
  ASSERT_EQ(one.log.size(), other.log.size());
  for (std::size_t i = 0; i < one.log.size(); ++i) {
    ASSERT_EQ(one.log[i].next, other.log[i].next) << "after event " << i;
    ASSERT_EQ(one.log[i].verdict, other.log[i].verdict) << "after event " << i;
    ASSERT_EQ(one.log[i].closable, other.log[i].closable) << "after event " << i;
    ASSERT_EQ(one.log[i].standing, other.log[i].standing) << "after event " << i;
    ASSERT_EQ(one.log[i].progress, other.log[i].progress) << "after event " << i;
  }
}

TYPED_TEST_P(SearcherContract, ASearcherThatReplayedTheLogGoesOnTheSameWay) {
  this->for_each_seed([this](std::uint64_t seed) {
    Course straight = this->course(seed);
    straight.run();
    Course interrupted = this->course(seed);
    interrupted.after_each = [](Course& course) {
      if (course.log.size() > 12 && course.log.size() % 17 != 0) {
        return;  // Replaying is linear; over all seeds every kind of moment is met.
      }
      std::unique_ptr<engine::Searcher> replayed = course.kind().make(course.config());
      for (const RecordedAnswers& heard : course.log) {
        replayed->on_event(heard.event);
      }
      course.replace(std::move(replayed));
    };
    interrupted.run();
    expect_same_way(interrupted, straight);
  });
}

TYPED_TEST_P(SearcherContract, HearingTheLogAloneGivesTheSameAnswers) {
  this->for_each_seed([this](std::uint64_t seed) {
    Course course = this->course(seed);
    course.run();
    std::unique_ptr<engine::Searcher> listener = course.kind().make(course.config());
    for (std::size_t i = 0; i < course.log.size(); ++i) {
      const RecordedAnswers& heard = course.log[i];
      listener->on_event(heard.event);
      if (i % 7 != 0 &&
          i + 1 < course.log.size()) {  // Long stretches without being asked anything, as in a real recovery.
        continue;
      }
      SCOPED_TRACE("after event " + std::to_string(i));
      ASSERT_NO_FATAL_FAILURE(heard.expect_of(*listener));
    }
  });
}

TYPED_TEST_P(SearcherContract, LookingChangesNothing) {
  this->for_each_seed([this](std::uint64_t seed) {
    Course straight = this->course(seed);
    straight.run();
    Course course = this->course(seed);
    course.after_each = [](Course& looked_at) {
      for (int times = 0; times < 2 && looked_at.log.size() % 11 == 0; ++times) {
        looked_at.log.back().expect_of(looked_at.searcher());
      }
    };
    course.run();
    expect_same_way(course, straight);
  });
}

TYPED_TEST_P(SearcherContract, ConfigurationsDependOnNeitherOrderNorSlots) {
  if constexpr (requires { requires TypeParam::learns; }) {
    return;
  }
  this->for_each_seed([this](std::uint64_t seed) {
    Course one = this->course(seed, [](FaultPlan& faults) {
      faults.point_changes = faults.duplicate_changes = 0;  // They depend on these, of course.
    });
    engine::ExperimentConfig config = one.config();
    if (config.searcher.on_duplicate == engine::OnDuplicate::reject) {
      return;  // What must not repeat depends on how many trials there were before.
    }
    one.run();
    config.searcher.max_concurrent_trials = 1 + seed % 5;
    Course other(one.kind(), TypeParam::replaces_invalid, config, FaultPlan{}, seed + 1000);
    other.run();
    const std::size_t common = std::min(one.trials().size(), other.trials().size());
    for (std::size_t number = 0; number < common; ++number) {
      ASSERT_EQ(one.trials()[number].hparams, other.trials()[number].hparams) << "trial " << number;
    }
  });
}

TYPED_TEST_P(SearcherContract, LateAndRepeatedEventsChangeNothing) {
  this->for_each_seed([this](std::uint64_t seed) {
    Course straight = this->course(seed);
    straight.run();
    Course course = this->course(seed);
    engine::Draw chance(seed, engine::TrialNumber(0), "played again");  // Its own: the course stays the same.
    course.after_each = [&chance](Course& played) {
      if (chance.below(8) != 0) {
        return;
      }
      engine::Searcher& searcher = played.searcher();
      const RecordedAnswers& last = played.log.back();
      if (std::holds_alternative<engine::TrialValidated>(last.event) ||
          std::holds_alternative<engine::TrialExited>(last.event) ||
          std::holds_alternative<engine::TrialWasClosed>(last.event)) {
        searcher.on_event(last.event);
        SCOPED_TRACE("played twice");
        last.expect_of(searcher);
      }
      std::vector<engine::TrialNumber> ended;
      for (std::size_t number = 0; number < played.trials().size(); ++number) {
        if (played.trials()[number].state == Course::State::ended) {
          ended.emplace_back(number);
        }
      }
      if (ended.empty()) {
        return;
      }
      const engine::TrialNumber late = ended[static_cast<std::size_t>(chance.below(ended.size()))];
      const engine::Units length = played.trials()[late.number()].length;
      const engine::Score good = engine::Score::from_metric(-1e9, engine::Goal::minimize);
      const std::vector<engine::SearchEvent> events = {
          engine::TrialReported{late, length, good}, engine::TrialValidated{late, length, good},
          engine::TrialExited{late, engine::ExitReason::errored},
          engine::TrialExited{late, engine::ExitReason::invalid_hp}, engine::TrialWasClosed{late}};
      for (std::size_t i = 0; i < events.size(); ++i) {
        searcher.on_event(events[i]);
        SCOPED_TRACE("of trial " + std::to_string(late.number()) + ", played too late: event " +
                     std::to_string(i));
        last.expect_of(searcher);
      }
    };
    course.run();
    expect_same_way(course, straight);
  });
}

REGISTER_TYPED_TEST_SUITE_P(SearcherContract, EndsWithinItsLimitsAndStrandsNoTrial,
                            ASearcherThatReplayedTheLogGoesOnTheSameWay,
                            HearingTheLogAloneGivesTheSameAnswers, LookingChangesNothing,
                            ConfigurationsDependOnNeitherOrderNorSlots, LateAndRepeatedEventsChangeNothing);

}  // namespace hpsearch::contract
