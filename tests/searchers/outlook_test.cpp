// What may still become of a trial that waits: Searcher::outlook().

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "contract/fault_plan.hpp"
#include "contract/search_course.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "searchers/halving/late_starts.hpp"
#include "settings.hpp"

namespace hpsearch::searchers {
namespace {

using contract::Course;
using contract::FaultPlan;
using contract::RecordedAnswers;
using engine::ExperimentConfig;
using engine::Outlook;
using engine::Searcher;
using engine::TrialNumber;
using engine::Units;
using test::kind_of;
using test::settings;

constexpr std::uint64_t courses = 200;

ExperimentConfig drawn(engine::Draw& draw) {
  ExperimentConfig config = settings(draw.below(2) == 0 ? "async_halving" : "adaptive_asha",
                                     1 + draw.below(100), 1 + draw.below(40));
  constexpr double divisors[] = {1.3, 1.5, 2, 2.5, 3, 4};
  config.searcher.divisor = divisors[draw.below(6)];
  config.searcher.num_rungs = 1 + draw.below(5);
  config.searcher.max_rungs = 1 + draw.below(5);
  config.searcher.mode = engine::AshaMode::conservative;
  config.searcher.max_concurrent_trials = draw.below(12);
  config.experiment_seed = draw.below(1000);
  return config;
}

/// Every other search lets trials begin at any rung.
engine::SearcherKind drawn_kind(const ExperimentConfig& config, std::uint64_t seed) {
  if (seed % 2 == 0) {
    return kind_of(config);
  }
  return config.searcher.name == "async_halving" ? test::late_async_halving() : test::late_adaptive_asha();
}

std::vector<TrialNumber> waiting(Course& course) {
  const auto closable = course.searcher().closable();
  std::vector<TrialNumber> found;
  for (std::size_t number = 0; number < course.trials().size(); ++number) {
    if (course.trials()[number].state == Course::State::paused &&
        !std::binary_search(closable.begin(), closable.end(), TrialNumber(number))) {
      found.emplace_back(number);
    }
  }
  return found;
}

/// Which pieces of work an equal searcher gives one after the other: the trial each is for.
std::vector<TrialNumber> work_at_hand(Course& course) {
  const std::unique_ptr<Searcher> twin = course.kind().make(course.config());
  for (const RecordedAnswers& heard : course.log) {
    twin->on_event(heard.event);
  }
  std::vector<TrialNumber> work;
  for (;;) {
    const engine::Next next = twin->next();
    if (const auto* create = std::get_if<engine::CreateTrial>(&next)) {
      work.push_back(create->trial);
      twin->on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
    } else if (const auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
      work.push_back(promote->trial);
      twin->on_event(engine::TrialWasPromoted{promote->trial, promote->length});
    } else {
      return work;
    }
  }
}

TEST(Outlook, SaysHowManyGoBefore) {
  std::uint64_t promotable = 0;
  std::uint64_t behind_others = 0;
  for (std::uint64_t seed = 0; seed < courses && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    engine::Draw draw(seed, TrialNumber(0), "outlook");
    const ExperimentConfig config = drawn(draw);
    FaultPlan faults = FaultPlan::drawn(draw);
    faults.capacity_changes = 20;  // Without free slots, several may be promoted at the same time.
    Course course(drawn_kind(config, seed), true, config, faults, seed);
    course.after_each = [&](Course& self) {
      if (std::holds_alternative<engine::TrialValidated>(self.log.back().event)) {
        return;  // Its verdict was not applied yet.
      }
      const std::vector<TrialNumber> work = work_at_hand(self);
      for (const TrialNumber trial : waiting(self)) {
        const std::optional<std::uint64_t> ahead = self.searcher().outlook(trial).ahead;
        const auto found = std::find(work.begin(), work.end(), trial);
        ASSERT_EQ(ahead.has_value(), found != work.end()) << "trial " << trial.number();
        if (ahead) {
          EXPECT_EQ(*ahead, static_cast<std::uint64_t>(found - work.begin())) << "trial " << trial.number();
          ++promotable;
          behind_others += *ahead > 0 ? 1U : 0U;
        }
      }
    };
    course.run();
  }
  EXPECT_GT(promotable, 600U) << "or the test sees too little";
  EXPECT_GT(behind_others, 200U);
}

TEST(Outlook, SaysHowManyResultsMayComeAtMost) {
  for (std::uint64_t seed = 0; seed < courses && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    engine::Draw draw(seed, TrialNumber(1), "outlook");
    const ExperimentConfig config = drawn(draw);
    FaultPlan faults = FaultPlan::drawn(draw);
    faults.limit_changes = 0;
    faults.invalid_hp = 0;
    faults.cancel_waiting = 0;
    Course course(drawn_kind(config, seed), true, config, faults, seed);
    course.keeps_log = false;
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // Bracket and rung.
    std::map<Place, std::uint64_t> most;
    course.after_each = [&](Course& self) {
      for (const TrialNumber trial : waiting(self)) {
        const engine::Reason standing = self.searcher().standing(trial);
        const std::uint64_t now = *standing.size + self.searcher().outlook(trial).results_to_come;
        const auto [known, fresh] = most.try_emplace({standing.bracket.value_or(0), *standing.rung}, now);
        EXPECT_LE(*standing.size, known->second);
        EXPECT_LE(now, known->second) << "what cannot come any more does not come back";
        known->second = std::min(known->second, now);
      }
    };
    course.run();
    std::map<Place, std::uint64_t> came;
    for (const Course::Trial& trial : course.trials()) {
      for (const Course::Result& result : trial.results) {
        ++came[{result.bracket, result.rung}];
      }
    }
    for (const auto& [place, limit] : most) {
      EXPECT_LE(came[place], limit) << "bracket " << place.first << ", rung " << place.second;
    }
  }
}

/// A search in whose course each trial reports at once what `metric` says, one after the other.
class OneByOne {
 public:
  explicit OneByOne(const ExperimentConfig& config) : searcher_(kind_of(config).make(config)) {}

  void train_next(double metric) {
    const engine::Next next = searcher_->next();
    const auto& create = std::get<engine::CreateTrial>(next);
    searcher_->on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
    Units length = create.length;
    for (;;) {
      searcher_->on_event(engine::TrialValidated{create.trial, length, test::score(metric)});
      const engine::Verdict verdict = searcher_->verdict(create.trial);
      if (verdict.action != engine::Verdict::Action::train_on) {
        return;
      }
      length = verdict.length;
      searcher_->on_event(engine::TrialWasPromoted{create.trial, length});
    }
  }
  [[nodiscard]] Outlook of(std::uint64_t trial) const { return searcher_->outlook(TrialNumber(trial)); }
  [[nodiscard]] engine::Reason standing(std::uint64_t trial) const {
    return searcher_->standing(TrialNumber(trial));
  }
  [[nodiscard]] Searcher& searcher() noexcept { return *searcher_; }

 private:
  std::unique_ptr<Searcher> searcher_;
};

ExperimentConfig halving(double divisor, std::uint64_t max_length, std::uint64_t trials) {
  ExperimentConfig config = settings("async_halving", max_length, trials);
  config.searcher.divisor = divisor;
  config.searcher.num_rungs = 3;
  return config;
}

TEST(Outlook, CountsTheTrialsThatAreStillToCome) {
  OneByOne search(halving(2, 4, 10));
  search.train_next(0.1);
  EXPECT_EQ(search.of(0).results_to_come, 9U);
  search.searcher().on_event(engine::MaxTrialsChanged{4});
  EXPECT_EQ(search.of(0).results_to_come, 3U);
  EXPECT_EQ(search.of(0).ahead, std::nullopt);
}

TEST(Outlook, AHigherRungIsReachedWhenEveryTrialIsBetterThanTheOnesBefore) {
  OneByOne search(halving(2, 4, 8));
  search.train_next(0.9);
  search.train_next(0.8);
  ASSERT_EQ(search.standing(1).rung, 1U);
  const std::uint64_t most = *search.standing(1).size + search.of(1).results_to_come;
  for (int better = 7; better > 1; --better) {
    search.train_next(0.1 * better);
  }
  EXPECT_EQ(most, 7U);
  EXPECT_EQ(search.standing(1).size, most);
}

TEST(Outlook, CountsThatTheFirstResultsBelowAHigherRungPromoteNone) {
  OneByOne search(halving(3, 9, 8));
  for (const double metric : {0.9, 0.8, 0.7}) {
    search.train_next(metric);
  }
  ASSERT_EQ(search.standing(2).rung, 1U);
  EXPECT_EQ(search.of(2).results_to_come, 5U)
      << "the rung below keeps one, so each of the five others may go on";
  for (const std::uint64_t invalid : {0U, 1U}) {
    search.searcher().on_event(engine::TrialExited{TrialNumber(invalid), engine::ExitReason::invalid_hp});
  }
  EXPECT_EQ(search.of(2).results_to_come, 6U) << "of the seven others one only fills the rung up again";
}

TEST(Outlook, IsEmptyForSearchersWithoutPauses) {
  ExperimentConfig config = settings("random", 4, 3);
  OneByOne search(config);
  search.train_next(0.5);
  EXPECT_EQ(search.of(0).ahead, std::nullopt);
  EXPECT_EQ(search.of(0).results_to_come, 0U);
}

}  // namespace
}  // namespace hpsearch::searchers
