#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/sampler_names.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/searchers/async_halving.hpp"
#include "hpsearch/searchers/sampler.hpp"
#include "settings.hpp"

// What a search makes of `searcher.prior`.

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::Reason;
using engine::SamplerName;
using engine::Searcher;
using engine::TrialNumber;
using test::ExperimentConfig;
using test::settings;
using test::Units;
using test::Value;

Value at(double lr) {
  return Value::Map{{"lr", lr}};
}

ExperimentConfig searching(SamplerName sampler) {
  ExperimentConfig config = settings("random", 3, 40);
  config.searcher.sampler = sampler;
  config.searcher.model.explore = 0;
  config.experiment_seed = 7;
  return config;
}

/// An earlier search found that the best is at 0.3.
ExperimentConfig with_prior(ExperimentConfig config) {
  for (int i = 0; i < 20; ++i) {
    const double lr = (i + 0.5) / 20;
    config.searcher.prior.push_back({at(lr), Units{3}, std::abs(lr - 0.3)});
  }
  return config;
}

std::unique_ptr<Searcher> searcher_of(const ExperimentConfig& config) {
  return test::kind_of(config).make(config);
}

CreateTrial start(Searcher& searcher) {
  const engine::Next next = searcher.next();
  const CreateTrial create = std::get<CreateTrial>(next);
  searcher.on_event(engine::TrialWasCreated{create.trial, create.hparams, create.length});
  return create;
}

/// The mean distance from 0.3 of so many trials at once.
double distance(const ExperimentConfig& config, int trials) {
  const std::unique_ptr<Searcher> searcher = searcher_of(config);
  double sum = 0;
  for (int i = 0; i < trials; ++i) {
    sum += std::abs(start(*searcher).hparams.at_path("lr")->number_or(9) - 0.3);
  }
  return sum / trials;
}

class Prior : public testing::TestWithParam<SamplerName> {};
INSTANTIATE_TEST_SUITE_P(OfSampler, Prior,
                         testing::Values(SamplerName::anneal, SamplerName::model, SamplerName::tpe),
                         [](const auto& test) {
                           return engine::sampler_names()[static_cast<std::size_t>(test.param)];
                         });

TEST_P(Prior, MakesTheFirstTrialsBetter) {
  const ExperimentConfig config = searching(GetParam());
  EXPECT_LT(distance(with_prior(config), 1), 0.15);
  EXPECT_LT(distance(with_prior(config), 8), distance(config, 8) / 2);
}

TEST_P(Prior, ComesBehindPoints) {
  ExperimentConfig config = with_prior(searching(GetParam()));
  config.searcher.points_to_evaluate = {at(0.9)};
  const std::unique_ptr<Searcher> searcher = searcher_of(config);
  EXPECT_EQ(start(*searcher).hparams, at(0.9));
  EXPECT_LT(std::abs(start(*searcher).hparams.at_path("lr")->number_or(9) - 0.3), 0.25);
}

TEST_P(Prior, GoesByTheDirectionOfTheSearch) {
  ExperimentConfig config = with_prior(searching(GetParam()));
  config.searcher.smaller_is_better = false;
  for (engine::PriorResult& result : config.searcher.prior) {
    result.metric = -result.metric;
  }
  EXPECT_EQ(start(*searcher_of(config)).hparams,
            start(*searcher_of(with_prior(searching(GetParam())))).hparams);
}

TEST_P(Prior, TrialsAreNumberedAsWithoutIt) {
  const std::unique_ptr<Searcher> searcher = searcher_of(with_prior(searching(GetParam())));
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const CreateTrial create = start(*searcher);
    EXPECT_EQ(create.trial, TrialNumber(trial));
    if (create.reason.near) {
      EXPECT_LT(*create.reason.near, trial) << "a trial of this search";
    }
    if (trial == 0) {
      EXPECT_EQ(create.reason.near, std::nullopt);
      EXPECT_EQ(create.reason.results, 20U) << "they count as results";
      EXPECT_TRUE(create.reason.expected || !create.reason.detail.empty());
    }
    // Better than all before it, so that others are near it.
    searcher->on_event(engine::TrialValidated{TrialNumber(trial), Units{3},
                                              test::score(-1 - 0.1 * static_cast<double>(trial))});
  }
}

TEST_P(Prior, MayBeTriedAgain) {
  ExperimentConfig config = searching(GetParam());
  config.space = test::space_of({{"lr", test::categorical({1, 2, 3})}});
  config.searcher.on_duplicate = engine::OnDuplicate::reject;
  for (const int lr : {1, 2, 3}) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      config.searcher.prior.push_back({Value::Map{{"lr", lr}}, Units{3}, 0.1 * lr});
    }
  }
  const std::unique_ptr<Searcher> searcher = searcher_of(config);
  std::set<std::string> tried;
  for (int i = 0; i < 3; ++i) {
    tried.insert(engine::compact_json(start(*searcher).hparams));
  }
  EXPECT_EQ(tried.size(), 3U);
}

/// Writes down what it hears of earlier searches.
class Listening final : public Sampler {
 public:
  explicit Listening(std::vector<std::string>& heard) : heard_(heard) {}
  [[nodiscard]] Sample sample(TrialNumber /*trial*/, std::span<const Units> /*rungs*/,
                              const Taken& /*taken*/) const override {
    return {at(0.5)};
  }
  void on_prior(const Value& hparams, std::span<const Earlier> results) override {
    std::string text = engine::short_number(hparams.at_path("lr")->number_or(-1)) + ":";
    for (const Earlier& result : results) {
      text += " " + engine::short_number(result.score.metric(engine::Goal::minimize).value_or(-1)) + " at " +
              std::to_string(engine::count(result.length));
    }
    heard_.push_back(text);
  }

 private:
  std::vector<std::string>& heard_;
};

TEST(PriorSeam, TellsTheResultsOfOneTrainingTogether) {
  ExperimentConfig config = settings("async_halving", 9, 4);
  config.searcher.num_rungs = 3;
  config.searcher.prior = {{at(0.1), Units{1}, 5}, {at(0.2), Units{1}, 6}, {at(0.1), Units{3}, 4},
                           {at(0.1), Units{3}, 3}, {at(0.1), Units{9}, 2}, {at(0.2), Units{9}, 1}};
  std::vector<std::string> heard;
  static_cast<void>(make_async_halving(config, std::make_unique<Listening>(heard)));
  EXPECT_EQ(heard,
            (std::vector<std::string>{"0.1: 5 at 1 4 at 3", "0.2: 6 at 1 1 at 9", "0.1: 3 at 3 2 at 9"}));
}

}  // namespace
}  // namespace hpsearch::searchers
