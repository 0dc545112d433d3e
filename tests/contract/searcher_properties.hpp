#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contract/arbitrary_search.hpp"
#include "contract/search_course.hpp"
#include "contract/searcher_contract.hpp"
#include "property.hpp"

// The promises of searcher_contract.hpp once more, under searches, workers and mishaps that rapidcheck makes
// up and, when a promise is broken, makes as small as it can. A searcher joins with the fixture it already
// has:
//
//   struct MySearcherUnderContract {
//     static engine::SearcherKind kind();
//     static engine::ExperimentConfig config(engine::Draw& draw);
//     static constexpr bool replaces_invalid = true;
//
//     // May be left out: takes any space; takes settings as they come; no test recounts its reasons.
//     static constexpr Spaces spaces = Spaces::any;
//     static void settle(engine::ExperimentConfig& config);
//     static std::unique_ptr<Judge> judge(const engine::ExperimentConfig& config);
//   };
//   HPSEARCH_SEARCHER_UNDER_CONTRACT(MySearcher, MySearcherUnderContract);  // Both kits at once.
//
// 4000 cases per searcher, in three properties. A failure prints RC_PARAMS="reproduce=…", which repeats it.
// RC_PARAMS="seed=…" repeats a run; RC_PARAMS="max_success=N" runs so many cases of each property.

namespace hpsearch::contract {

template <class Fixture>
class SearcherProperties : public ::testing::Test {
 protected:
  struct Case {
    engine::ExperimentConfig config;
    FaultPlan faults;
    std::uint64_t seed = 0;
  };

  [[nodiscard]] static Case arbitrary_case() {
    Case drawn;
    Spaces spaces = Spaces::any;
    if constexpr (requires { Fixture::spaces; }) {
      spaces = Fixture::spaces;
    }
    drawn.config = arbitrary_config(spaces);
    drawn.config.searcher.name = std::string(Fixture::kind().name);
    leave_out_unread_fields(drawn.config);
    if constexpr (requires { Fixture::settle(drawn.config); }) {
      Fixture::settle(drawn.config);
    }
    engine::Problems problems;
    if (const auto check = Fixture::kind().check; check != nullptr) {
      check(drawn.config, problems);
    }
    RC_PRE(problems.empty());
    drawn.faults = arbitrary_weather();
    drawn.seed = up_to(1'000'000);
    RC_LOG() << text_of(drawn.config) << "\nweather: " << text_of(drawn.faults) << ", course " << drawn.seed;
    return drawn;
  }

  static void leave_out_unread_fields(engine::ExperimentConfig& config) {
    const engine::SearcherKind kind = Fixture::kind();
    const auto reads = [&kind](std::string_view field) {
      return std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
    };
    if (!reads("points_to_evaluate")) {
      config.searcher.points_to_evaluate.clear();
    }
    if (!reads("repeats")) {
      config.searcher.repeats = 1;
    }
    if (!reads("on_duplicate")) {
      config.searcher.on_duplicate = engine::OnDuplicate::allow;
    }
  }

  [[nodiscard]] static Course course(const Case& drawn) {
    Course course(Fixture::kind(), Fixture::replaces_invalid, drawn.config, drawn.faults, drawn.seed);
    if constexpr (requires { Fixture::judge(drawn.config); }) {
      course.judge = Fixture::judge(drawn.config);
    }
    return course;
  }

  /// So many cases of `property`, which complains by GoogleTest's means.
  template <class Property>
  static void check(int cases, Property property) {
    test::check_property(cases, [&property] {
      ::testing::TestPartResultArray complaints;
      {
        const ::testing::ScopedFakeTestPartResultReporter collect(
            ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &complaints);
        property(complaints);
      }
      if (complaints.size() > 0) {
        const ::testing::TestPartResult& first = complaints.GetTestPartResult(0);
        RC_FAIL(std::string(first.message()) + " at line " + std::to_string(first.line_number()));
      }
    });
  }

  /// Runs a course until the first complaint.
  static void run(Course& course, const ::testing::TestPartResultArray& complaints) {
    course.stops = [&complaints] { return complaints.size() > 0; };
    course.run();
  }
};

TYPED_TEST_SUITE_P(SearcherProperties);

TYPED_TEST_P(SearcherProperties, EndWithinTheirLimitsForReasonsThatRecompute) {
  this->check(2000, [this](const auto& complaints) {
    const auto drawn = this->arbitrary_case();
    Course course = this->course(drawn);
    course.keeps_log = false;
    if constexpr (requires { TypeParam::planned(drawn.config); }) {
      EXPECT_EQ(course.planned(), TypeParam::planned(drawn.config));
    }
    this->run(course, complaints);
    EXPECT_EQ(course.searcher().progress(), 1.0);
    if (course.end().problem) {
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

TYPED_TEST_P(SearcherProperties, AreTheSameAfterEveryReplay) {
  this->check(1000, [this](const auto& complaints) {
    const auto drawn = this->arbitrary_case();
    Course straight = this->course(drawn);
    this->run(straight, complaints);
    RC_PRE(!straight.log.empty());
    const std::size_t moment =
        up_to(straight.log.size() - 1);  // So many events are heard without a question.
    const std::unique_ptr<engine::Searcher> listener = TypeParam::kind().make(drawn.config);
    for (std::size_t i = 0; i < straight.log.size(); ++i) {
      listener->on_event(straight.log[i].event);
      if (i >= moment) {
        SCOPED_TRACE("after event " + std::to_string(i) + ", replayed up to " + std::to_string(moment));
        ASSERT_NO_FATAL_FAILURE(straight.log[i].expect_of(*listener));
      }
    }
  });
}

TYPED_TEST_P(SearcherProperties, GiveOthersTheSameFateWhateverIsNoNumber) {
  this->check(1000, [this](const auto& complaints) {
    auto drawn = this->arbitrary_case();
    // An awful number still ranks before a trial that died.
    drawn.faults.errored = drawn.faults.user_canceled = drawn.faults.user_stopped = 0;
    drawn.faults.cancel_waiting = 0;
    drawn.faults.without_metric = std::max<std::uint64_t>(drawn.faults.without_metric, 10);
    std::vector<std::string> fates;
    for (const auto oddity : {FaultPlan::Oddity::mixed, FaultPlan::Oddity::nan, FaultPlan::Oddity::absent,
                              FaultPlan::Oddity::awful}) {
      // A model learns from how bad a number is, and what has one may be a finalist; only what is no number
      // says the same to them.
      if (oddity == FaultPlan::Oddity::awful &&
          (drawn.config.searcher.sampler == engine::SamplerName::model ||
           drawn.config.searcher.repeats > 1)) {
        continue;
      }
      drawn.faults.oddity = oddity;
      Course course = this->course(drawn);
      course.keeps_log = false;
      this->run(course, complaints);
      fates.push_back(course.fates());
    }
    for (const std::string& fate : fates) {
      ASSERT_EQ(fate, fates.front());
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(SearcherProperties, EndWithinTheirLimitsForReasonsThatRecompute,
                            AreTheSameAfterEveryReplay, GiveOthersTheSameFateWhateverIsNoNumber);

}  // namespace hpsearch::contract

/// All that every searcher promises, of the searcher that the fixture describes.
#define HPSEARCH_SEARCHER_UNDER_CONTRACT(name, fixture)            \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, SearcherContract, fixture); \
  INSTANTIATE_TYPED_TEST_SUITE_P(name, SearcherProperties, fixture)
