#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model_search.hpp"

namespace hpsearch::searchers {
namespace {

using engine::CreateTrial;
using engine::Reason;
using engine::SamplerName;
using engine::Searcher;

TEST(ReasonOfAModel, HasWhatItExpectedAsNumbers) {
  const test::ExperimentConfig config = test::search_with(SamplerName::model);
  const std::unique_ptr<Searcher> searcher = test::kind_of(config).make(config);
  const std::vector<CreateTrial> created = test::run_trials(*searcher, 12);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(created[i].reason.why, Reason::Why::before_model);
    EXPECT_EQ(created[i].reason.results, i);
    EXPECT_FALSE(created[i].reason.expected);
  }
  for (std::size_t i = 8; i < 12; ++i) {
    const Reason& reason = created[i].reason;
    EXPECT_EQ(reason.why, Reason::Why::model_choice);
    EXPECT_EQ(reason.results, i);
    EXPECT_EQ(reason.detail, "");
    ASSERT_TRUE(reason.expected);
    EXPECT_NEAR(reason.expected->mean, 0, 0.3) << "in the metric's own sign and unit";
    EXPECT_GT(reason.expected->deviation, 0);
    ASSERT_TRUE(reason.expected->correlation);
    EXPECT_GE(*reason.expected->correlation, config.searcher.model.min_correlation);
    EXPECT_EQ(reason.expected->nearest.size(), 3U);
    for (const std::uint64_t trial : reason.expected->nearest) {
      EXPECT_LT(trial, i);
    }
  }
}

TEST(ReasonOfAModel, HasNoCorrelationWhereAllTrialsBeginAtFullLength) {
  test::ExperimentConfig config = test::search_with(SamplerName::model);
  config.searcher.name = "random";
  config.searcher.num_rungs = 0;
  const std::unique_ptr<Searcher> searcher = test::kind_of(config).make(config);
  const Reason reason = test::run_trials(*searcher, 9).back().reason;
  ASSERT_TRUE(reason.expected);
  EXPECT_FALSE(reason.expected->correlation);
}

TEST(ReasonOfAModel, SaysWhatIsExploration) {
  test::ExperimentConfig config = test::search_with(SamplerName::model);
  config.searcher.model.explore = 1;
  const std::unique_ptr<Searcher> searcher = test::kind_of(config).make(config);
  const Reason reason = test::run_trials(*searcher, 9).back().reason;
  EXPECT_EQ(reason.why, Reason::Why::explored);
  EXPECT_EQ(reason.results, 8U);
  EXPECT_FALSE(reason.expected);
}

}  // namespace
}  // namespace hpsearch::searchers
