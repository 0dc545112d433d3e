#include "model/model_sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "spaces.hpp"

namespace hpsearch::searchers::model {
namespace {

using engine::Draw;
using engine::ExitReason;
using engine::Goal;
using engine::Score;
using engine::Space;
using engine::TrialNumber;
using engine::Units;
using engine::Value;

using Metric = std::function<double(const Value& hparams, Units length)>;
using Proposal = ModelSampler::Proposal;
using Choice = ModelSampler::Choice;

/// A search whose promotions are drawn: what a sampler hears of it, and what it proposes.
class Search {
 public:
  struct Trained {
    std::optional<Value> hparams;  // The configuration of a new trial.
    TrialNumber trial;
    Units target{};
  };
  struct Validated {
    TrialNumber trial;
    Units length{};
    Score score;
  };
  struct Exited {
    TrialNumber trial;
    ExitReason reason{};
  };
  using Event = std::variant<Trained, Validated, Exited>;

  Search(Space space, std::vector<Units> rungs, Metric metric, Goal goal, ModelSettings settings = {},
         std::uint64_t seed = 1)
      : space_(std::move(space)),
        rungs_(std::move(rungs)),
        metric_(std::move(metric)),
        goal_(goal),
        settings_(settings),
        seed_(seed),
        sampler_(fresh()) {}

  /// Four slots, until so many results are there.
  void run_to(std::size_t results) {
    while (results_ < results) {
      Draw draw(seed_, TrialNumber(turn_++), "search");
      while (running_.size() < 4) {
        if (!waiting_.empty() && draw.unit() < 0.3) {
          const std::size_t which = draw.below(waiting_.size());
          const auto [trial, rung] = waiting_[which];
          waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(which));
          running_.emplace_back(trial, rung + 1);
          tell(Trained{std::nullopt, trial, rungs_[rung + 1]});
        } else {
          const Proposal proposal = propose();
          const TrialNumber trial(hparams_.size());
          hparams_.push_back(proposal.hparams);
          running_.emplace_back(trial, proposal.first_rung);
          tell(Trained{proposal.hparams, trial, rungs_[proposal.first_rung]});
        }
      }
      const std::size_t which = draw.below(running_.size());
      const auto [trial, rung] = running_[which];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
      if (draw.unit() < failures_) {
        tell(Exited{trial, draw.unit() < 0.5 ? ExitReason::errored : ExitReason::user_canceled});
        continue;
      }
      const double metric = metric_(hparams_[trial.number()], rungs_[rung]);
      ++results_;
      if (std::isnan(metric) && fails_without_a_number_) {
        tell(Exited{trial, ExitReason::errored});
        continue;
      }
      tell(Validated{trial, rungs_[rung], Score::from_metric(metric, goal_)});
      if (rung + 1 < rungs_.size()) {
        waiting_.emplace_back(trial, rung);
      }
    }
  }

  [[nodiscard]] Proposal propose() const { return sampler_->propose(TrialNumber(hparams_.size()), rungs_); }
  [[nodiscard]] Proposal propose(const ModelSampler& other) const {
    return other.propose(TrialNumber(hparams_.size()), rungs_);
  }
  [[nodiscard]] std::unique_ptr<ModelSampler> fresh() const {
    return std::make_unique<ModelSampler>(space_, rungs_.back(), seed_, settings_);
  }
  [[nodiscard]] std::unique_ptr<ModelSampler> replayed() const {
    auto sampler = fresh();
    for (const Event& event : events_) {
      tell(*sampler, event);
    }
    return sampler;
  }
  void fail(double share) { failures_ = share; }
  void fail_without_a_number() { fails_without_a_number_ = true; }

  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const std::vector<Value>& hparams() const { return hparams_; }
  [[nodiscard]] const ModelSampler& sampler() const { return *sampler_; }

 private:
  void tell(const Event& event) {
    events_.push_back(event);
    tell(*sampler_, event);
  }
  static void tell(ModelSampler& sampler, const Event& event) {
    if (const auto* trained = std::get_if<Trained>(&event)) {
      if (trained->hparams) {
        sampler.hear_training(*trained->hparams, trained->target);
      } else {
        sampler.hear_training(trained->trial, trained->target);
      }
    } else if (const auto* validated = std::get_if<Validated>(&event)) {
      sampler.hear_result(validated->trial, validated->length, validated->score);
    } else {
      const auto& exited = std::get<Exited>(event);
      sampler.hear_ended(exited.trial, exited.reason);
    }
  }

  Space space_;
  std::vector<Units> rungs_;
  Metric metric_;
  Goal goal_;
  ModelSettings settings_;
  std::uint64_t seed_;
  double failures_ = 0.05;
  bool fails_without_a_number_ = false;
  std::unique_ptr<ModelSampler> sampler_;
  std::vector<Event> events_;
  std::vector<Value> hparams_;
  std::vector<std::pair<TrialNumber, std::size_t>> running_;
  std::vector<std::pair<TrialNumber, std::size_t>> waiting_;
  std::size_t results_ = 0;
  std::uint64_t turn_ = 0;
};

double number(const Value& hparams, const char* name) {
  return hparams.at_path(name)->number_or(0);
}

double bowl(const Value& hparams, Units length) {
  const double a = number(hparams, "x0") - 0.3;
  const double b = number(hparams, "x1") - 0.8;
  return 1 - a * a - 2 * b * b - 0.3 / static_cast<double>(engine::count(length));
}

std::vector<Units> rungs() {
  return {Units{3}, Units{9}, Units{27}};
}

void expect_equal(const Proposal& a, const Proposal& b) {
  EXPECT_EQ(a.hparams, b.hparams);
  EXPECT_EQ(a.first_rung, b.first_rung);
  EXPECT_EQ(a.choice, b.choice);
  EXPECT_EQ(a.results, b.results);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.deviation, b.deviation);
  EXPECT_EQ(a.log_improvement, b.log_improvement);
  EXPECT_EQ(a.correlation, b.correlation);
  EXPECT_EQ(a.nearest, b.nearest);
}

TEST(ModelSampler, AReplayedLogProposesBitForBitTheSame) {
  Search search(test::cube(3), rungs(), bowl, Goal::maximize);
  for (const std::size_t results : {0U, 7U, 8U, 9U, 40U, 100U, 260U, 400U}) {
    search.run_to(results);
    SCOPED_TRACE(results);
    const Proposal live = search.propose();
    expect_equal(live, search.propose());
    expect_equal(live, search.propose(*search.replayed()));
  }
}

TEST(ModelSampler, FindsTheBestOfABowlAndSaysWhatItExpects) {
  ModelSettings settings;
  settings.explore = 0;
  Search search(test::cube(2), rungs(), bowl, Goal::maximize, settings);
  search.fail(0);
  search.run_to(60);
  const Proposal proposal = search.propose();
  ASSERT_EQ(proposal.choice, Choice::modelled);
  EXPECT_NEAR(number(proposal.hparams, "x0"), 0.3, 0.1);
  EXPECT_NEAR(number(proposal.hparams, "x1"), 0.8, 0.1);
  EXPECT_NEAR(proposal.mean, bowl(proposal.hparams, Units{27}), 0.02);
  EXPECT_LT(proposal.deviation, 0.05);
  EXPECT_EQ(proposal.first_rung, 0U);
  EXPECT_GE(proposal.correlation.value(), 0.7);
  ASSERT_EQ(proposal.nearest.size(), 3U);
  for (const TrialNumber trial : proposal.nearest) {
    EXPECT_NEAR(number(search.hparams()[trial.number()], "x0"), 0.3, 0.2);
  }
}

/// The same bowl; a third parameter has no effect.
double bowl_of_two(const Value& hparams, Units length) {
  return -bowl(hparams, length);
}

TEST(ModelSampler, SaysWhatItHasLearnt) {
  Search search(test::cube(3), rungs(), bowl_of_two, Goal::minimize);
  search.fail(0);
  search.run_to(7);
  const engine::Learnt early = search.sampler().learnt(Goal::minimize);
  EXPECT_EQ(early.results, 7U);
  EXPECT_EQ(early.needed, 8U);
  EXPECT_TRUE(early.importance.empty() && early.lengths.empty() && !early.best);

  search.run_to(80);
  const engine::Learnt learnt = search.sampler().learnt(Goal::minimize);
  EXPECT_EQ(learnt.results, 80U);
  ASSERT_EQ(learnt.importance.size(), 3U);
  EXPECT_EQ(learnt.importance.back().name, "x2") << "it has no effect";
  double shares = 0;
  for (const engine::Learnt::Importance& one : learnt.importance) {
    shares += one.share;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_LT(learnt.importance.back().share, 0.1);
  ASSERT_EQ(learnt.lengths.size(), 3U);
  std::uint64_t results = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(learnt.lengths[i].length, rungs()[i]);
    results += learnt.lengths[i].results;
  }
  EXPECT_EQ(results, 80U);
  EXPECT_GT(learnt.lengths.front().correlation, 0.7);
  EXPECT_EQ(learnt.lengths.back().correlation, 1);
  ASSERT_TRUE(learnt.best);
  EXPECT_NEAR(number(learnt.best->hparams, "x0"), 0.3, 0.1);
  EXPECT_NEAR(number(learnt.best->hparams, "x1"), 0.8, 0.1);
  EXPECT_NEAR(learnt.best->mean, bowl_of_two(learnt.best->hparams, Units{27}), 0.02);
  EXPECT_GT(learnt.best->deviation, 0);
  EXPECT_LT(learnt.best->deviation, 0.05);
  if (learnt.best->trial) {
    EXPECT_EQ(learnt.best->hparams, search.hparams()[learnt.best->trial->number()]);
  }
}

TEST(ModelSampler, SayingWhatItHasLearntChangesNoProposal) {
  Search search(test::cube(3), rungs(), bowl, Goal::maximize);
  for (const std::size_t results : {8U, 40U, 260U}) {
    search.run_to(results);
    SCOPED_TRACE(results);
    const std::unique_ptr<ModelSampler> asked = search.replayed();
    const engine::Learnt once = asked->learnt(Goal::maximize);
    expect_equal(search.propose(), search.propose(*asked));
    const engine::Learnt again = asked->learnt(Goal::maximize);
    ASSERT_TRUE(once.best && again.best);
    EXPECT_EQ(once.best->hparams, again.best->hparams);
    EXPECT_EQ(once.best->mean, again.best->mean);
    EXPECT_EQ(once.best->deviation, again.best->deviation);
  }
}

TEST(ModelSampler, HasLearntOfFullLengthBeforeATrialReachesIt) {
  const auto sampler = std::make_unique<ModelSampler>(test::cube(1), Units{81}, 1, ModelSettings());
  for (std::uint64_t trial = 0; trial < 10; ++trial) {
    const double x = static_cast<double>(trial) / 10;
    sampler->hear_training(Value::Map{{"x0", x}}, Units{1});
    sampler->hear_result(TrialNumber(trial), Units{1}, Score::from_metric(x, Goal::maximize));
  }
  const engine::Learnt learnt = sampler->learnt(Goal::maximize);
  ASSERT_EQ(learnt.lengths.size(), 2U);
  EXPECT_EQ(learnt.lengths[0].results, 10U);
  EXPECT_EQ(learnt.lengths[1].length, Units{81});
  EXPECT_EQ(learnt.lengths[1].results, 0U);
}

TEST(ModelSampler, AffineChangesAndTheSignOfTheMetricChangeNoProposal) {
  Search maximised(test::cube(2), rungs(), bowl, Goal::maximize);
  Search minimised(
      test::cube(2), rungs(), [](const Value& hparams, Units length) { return -bowl(hparams, length); },
      Goal::minimize);
  // A power of two rounds nothing, so not even the last bits differ.
  Search scaled(
      test::cube(2), rungs(), [](const Value& hparams, Units length) { return 64 * bowl(hparams, length); },
      Goal::maximize);
  for (Search* search : {&maximised, &minimised, &scaled}) {
    search->run_to(60);
  }
  EXPECT_EQ(maximised.hparams(), minimised.hparams());
  EXPECT_EQ(maximised.hparams(), scaled.hparams());

  Search shifted(
      test::cube(2), rungs(),
      [](const Value& hparams, Units length) { return 3 * bowl(hparams, length) + 5; }, Goal::maximize);
  shifted.run_to(40);
  for (std::size_t i = 0; i < shifted.hparams().size(); ++i) {
    for (const char* name : {"x0", "x1"}) {
      EXPECT_NEAR(number(shifted.hparams()[i], name), number(maximised.hparams()[i], name), 1e-3) << i;
    }
  }
}

TEST(ModelSampler, WhereShortTrainingsMisleadATrialBeginsHigher) {
  const Metric crossing = [](const Value& hparams, Units length) {
    const double a = number(hparams, "x0");
    return engine::count(length) == 27 ? a : 1 - a;
  };
  ModelSettings settings;
  settings.explore = 0;
  Search search(test::cube(1), rungs(), crossing, Goal::maximize, settings);
  search.fail(0);
  search.run_to(80);
  const Proposal proposal = search.propose();
  ASSERT_EQ(proposal.choice, Choice::modelled);
  EXPECT_EQ(proposal.first_rung, 2U);
  EXPECT_GT(number(proposal.hparams, "x0"), 0.7);

  settings.min_correlation = 0;
  Search off(test::cube(1), rungs(), crossing, Goal::maximize, settings);
  off.run_to(80);
  EXPECT_EQ(off.propose().first_rung, 0U);
}

TEST(ModelSampler, InitialAndExploredTrialsDependOnSeedAndNumberAlone) {
  ModelSettings settings;
  settings.explore = 1;
  Search search(test::cube(2), rungs(), bowl, Goal::maximize, settings);
  Search other(
      test::cube(2), rungs(), [](const Value&, Units) { return 0.5; }, Goal::minimize, settings);
  search.run_to(30);
  other.run_to(30);
  EXPECT_EQ(search.propose().choice, Choice::explored);
  for (std::size_t i = 0; i < std::min(search.hparams().size(), other.hparams().size()); ++i) {
    EXPECT_EQ(search.hparams()[i], other.hparams()[i]);
  }
}

TEST(ModelSampler, ATrialThatIsTrainedLeavesLessToGainWhereItIs) {
  ModelSettings settings;
  settings.explore = 0;
  Search search(test::cube(2), rungs(), bowl, Goal::maximize, settings);
  search.run_to(40);
  const auto sampler = search.replayed();
  const Proposal before = search.propose(*sampler);
  ASSERT_EQ(before.choice, Choice::modelled);
  sampler->hear_training(before.hparams, Units{27});
  const Proposal after = search.propose(*sampler);  // With the same draws.
  EXPECT_LT(after.log_improvement, before.log_improvement);
}

TEST(ModelSampler, EachTrialDrawsTheWarpOfItsTargets) {
  ModelSettings settings;
  settings.explore = 0;
  Search search(test::cube(2), rungs(), bowl, Goal::maximize, settings);
  search.run_to(60);
  // Under each warp the improvement expected at the same best place is another number.
  std::vector<double> win;
  std::vector<double> copula;
  for (std::uint64_t trial = 100; trial < 120; ++trial) {
    const bool wins = Draw(1, TrialNumber(trial), "model.warp").unit() < 0.5;
    (wins ? win : copula).push_back(search.sampler().propose(TrialNumber(trial), rungs()).log_improvement);
  }
  ASSERT_FALSE(win.empty() || copula.empty());
  const auto [least_win, most_win] = std::minmax_element(win.begin(), win.end());
  const auto [least_copula, most_copula] = std::minmax_element(copula.begin(), copula.end());
  EXPECT_TRUE(*most_win < *least_copula || *most_copula < *least_win)
      << *least_win << " to " << *most_win << ", and " << *least_copula << " to " << *most_copula;
}

TEST(ModelSampler, ARegionWhereTrialsFailIsAvoided) {
  ModelSettings settings;
  settings.explore = 0;
  Search search(
      test::cube(2), rungs(),
      [](const Value& hparams, Units length) {
        return number(hparams, "x0") > 0.5 ? std::nan("") : bowl(hparams, length);
      },
      Goal::maximize, settings);
  search.run_to(100);
  std::size_t failing = 0;
  for (std::size_t i = search.hparams().size() - 30; i < search.hparams().size(); ++i) {
    failing += number(search.hparams()[i], "x0") > 0.5 ? 1U : 0U;
  }
  EXPECT_LE(failing, 8U);
}

TEST(ModelSampler, ARegionWhereProgramsFailIsAvoidedThoughResultsRiseTowardsIt) {
  ModelSettings settings;
  settings.explore = 0;
  Search search(
      test::cube(1), rungs(),
      [](const Value& hparams, Units) {
        const double x = number(hparams, "x0");
        return x > 0.5 ? std::nan("") : x;
      },
      Goal::maximize, settings);
  search.fail(0);
  search.fail_without_a_number();
  search.run_to(60);
  std::size_t failing = 0;
  for (std::size_t i = search.hparams().size() - 20; i < search.hparams().size(); ++i) {
    failing += number(search.hparams()[i], "x0") > 0.5 ? 1U : 0U;
  }
  EXPECT_LE(failing, 10U);
}

// Every odd metric and space gives valid proposals.
struct Odd {
  const char* name;
  Space space;
  std::vector<Units> rungs;
  Metric metric;
  bool repeats = false;  // The space has too few configurations for all trials to differ.
};

TEST(ModelSampler, OddSearchesGetValidProposals) {
  const Metric first_letter = [](const Value& hparams, Units) {
    return *hparams.at_path("way")->as_text() == "a" ? 1.0 : 0.0;
  };
  const auto constantly = [](double metric) { return [metric](const Value&, Units) { return metric; }; };
  const Metric sum = [](const Value& hparams, Units) { return number(hparams, "x0"); };
  std::vector<Odd> odd{
      {"all equal", test::cube(2), rungs(), constantly(0.25)},
      {"all without a number", test::cube(2), rungs(), constantly(std::nan(""))},
      {"infinite", test::cube(2), rungs(), constantly(INFINITY)},
      {"huge", test::cube(2), rungs(), [](const Value& h, Units) { return 1e300 * (number(h, "x0") - 0.5); }},
      {"huge and tiny", test::cube(2), rungs(),
       [](const Value& h, Units) { return number(h, "x0") > 0.5 ? 1e300 : -1e-300; }},
      {"tiny", test::cube(2), rungs(), [](const Value& h, Units) { return 1e-300 * number(h, "x0"); }},
      {"one axis", test::cube(1), rungs(), sum},
      {"forty axes", test::cube(40), rungs(), sum},
      {"one length", test::cube(2), {Units{1}}, sum},
      {"one rung", test::cube(2), {Units{1000}}, sum},
      {"a choice alone", test::parsed({{"way", test::categorical({"a", "b", "c"})}}), rungs(), first_letter,
       true},
      {"nothing to search", test::parsed({{"way", "a"}}), rungs(), first_letter, true},
      {"few integers", test::parsed({{"x0", test::integer(0, 3)}}), rungs(), sum, true},
      {"wide integers", test::parsed({{"x0", test::integer(INT64_MIN, INT64_MAX)}}), rungs(), sum},
  };
  for (const Odd& one : odd) {
    for (const bool noisy : {false, true}) {
      SCOPED_TRACE(std::string(one.name) + (noisy ? ", noisy" : ""));
      ModelSettings settings;
      settings.noisy = noisy;
      Search search(one.space, one.rungs, one.metric, Goal::maximize, settings);
      search.run_to(60);
      expect_equal(search.propose(), search.propose(*search.replayed()));
      for (const Value& hparams : search.hparams()) {
        engine::Problems problems;
        one.space.check(hparams, "hparams", problems);
        EXPECT_TRUE(problems.empty());
      }
      if (!one.repeats) {
        for (std::size_t i = 0; i < search.hparams().size(); ++i) {
          EXPECT_EQ(std::count(search.hparams().begin(), search.hparams().end(), search.hparams()[i]), 1);
        }
      }
    }
  }
}

TEST(ModelSampler, InASmallSpaceEveryConfigurationComesBeforeAnyComesTwice) {
  ModelSettings settings;
  settings.initial_results = 2;
  settings.explore = 0;
  Search search(
      test::parsed({{"x0", test::integer(1, 6)}, {"x1", test::integer(1, 5)}}), rungs(),
      [](const Value& hparams, Units) { return number(hparams, "x0") * number(hparams, "x1"); },
      Goal::maximize, settings);
  search.fail(0);
  search.run_to(2);
  const std::size_t initial = search.hparams().size();
  while (search.propose().choice != Choice::given_up) {
    search.run_to(search.propose().results + 1);
    ASSERT_LT(search.hparams().size(), 60U);
  }
  for (std::size_t i = initial; i < search.hparams().size(); ++i) {
    EXPECT_EQ(std::count(search.hparams().begin(), search.hparams().end(), search.hparams()[i]), 1) << i;
  }
}

TEST(ModelSampler, AProposalCostsTheSameAfterTenThousandResults) {
  const auto cost = [](std::size_t results) {
    Search search(test::cube(3), rungs(), bowl, Goal::maximize);
    const auto sampler = search.fresh();
    for (std::size_t i = 0; i < results; ++i) {
      const Value hparams = search.space().sample(7, TrialNumber(i));
      sampler->hear_training(hparams, Units{3});
      sampler->hear_result(TrialNumber(i), Units{3},
                           Score::from_metric(bowl(hparams, Units{3}), Goal::maximize));
    }
    static_cast<void>(sampler->propose(TrialNumber(results), rungs()));
    const auto before = sampler->work();
    std::size_t modelled = 0;
    for (std::size_t i = 1; i <= 20; ++i) {
      modelled += sampler->propose(TrialNumber(results + i), rungs()).choice == Choice::modelled ? 1U : 0U;
    }
    const auto after = sampler->work();
    EXPECT_EQ(after.fits, before.fits);  // It has not forgotten.
    EXPECT_GT(modelled, 10U);
    return static_cast<double>(after.kernel_values - before.kernel_values) / static_cast<double>(modelled);
  };
  const double few = cost(220);
  EXPECT_LT(cost(2'000), 1.2 * few);
  EXPECT_LT(cost(10'000), 1.2 * few);
}

TEST(ModelSampler, AskingAgainCostsNothing) {
  Search search(test::cube(2), rungs(), bowl, Goal::maximize);
  search.run_to(30);
  static_cast<void>(search.propose());
  const auto before = search.sampler().work();
  static_cast<void>(search.propose());
  EXPECT_EQ(search.sampler().work().kernel_values, before.kernel_values);
}

}  // namespace
}  // namespace hpsearch::searchers::model
