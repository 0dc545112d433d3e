#include "hpsearch/engine/learnt.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "model_search.hpp"

namespace hpsearch::searchers {
namespace {

using engine::SamplerName;
using engine::Searcher;

TEST(Learnt, IsSaidByTheSearcherOfASamplerWithAModel) {
  for (const char* name : {"random", "async_halving", "adaptive_asha"}) {
    test::ExperimentConfig config = test::search_with(SamplerName::model);
    config.searcher.name = name;
    if (config.searcher.name == "adaptive_asha") {
      config.searcher.num_rungs = 0;
      config.searcher.bracket_rungs = {3, 1};
    }
    const std::unique_ptr<Searcher> searcher = test::kind_of(config).make(config);
    test::run_trials(*searcher, 12);
    const std::optional<engine::Learnt> learnt = searcher->learnt();
    ASSERT_TRUE(learnt) << name;
    EXPECT_EQ(learnt->results, 12U) << name;
    ASSERT_TRUE(learnt->best) << name;
    EXPECT_NEAR(learnt->best->hparams.at_path("lr")->number_or(0), 0.3, 0.2) << name;
  }
}

TEST(Learnt, IsNothingWithoutAModel) {
  for (const SamplerName sampler : {SamplerName::random, SamplerName::tpe, SamplerName::anneal}) {
    const test::ExperimentConfig config = test::search_with(sampler);
    EXPECT_FALSE(test::kind_of(config).make(config)->learnt());
  }
  test::ExperimentConfig grid = test::settings("grid", 9);
  grid.space = test::space_of({{"lr", test::with_count(test::double_range(0, 1), 3)}});
  EXPECT_FALSE(test::kind_of(grid).make(grid)->learnt());
}

}  // namespace
}  // namespace hpsearch::searchers
