#include "hpsearch/searchers/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "settings.hpp"

namespace hpsearch::searchers {
namespace {

TEST(Registry, KnowsItsKindsByName) {
  std::vector<std::string_view> names;
  for (const engine::SearcherKind& kind : registry()) {
    names.push_back(kind.name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"adaptive_asha", "async_halving", "grid", "random", "single"}));
}

TEST(Registry, EveryKindReadsItsRequiredSettings) {
  for (const engine::SearcherKind& kind : registry()) {
    for (const std::string_view field : kind.required) {
      EXPECT_NE(std::find(kind.fields.begin(), kind.fields.end(), field), kind.fields.end()) << field;
    }
  }
}

TEST(Registry, FieldsAreOrderedAndNamed) {
  for (const engine::SearcherKind& kind : registry()) {
    EXPECT_TRUE(std::is_sorted(kind.fields.begin(), kind.fields.end())) << kind.name;
    EXPECT_EQ(std::count(kind.fields.begin(), kind.fields.end(), std::string_view()), 0) << kind.name;
  }
}

TEST(Registry, AsyncHalvingPreviewsItsOneBracket) {
  test::ExperimentConfig config = test::settings("async_halving", 9000, 12);
  config.searcher.divisor = 3;
  config.searcher.num_rungs = 3;
  const engine::Preview preview = test::kind_of(config).preview(config);
  ASSERT_EQ(preview.brackets.size(), 1U);
  EXPECT_EQ(preview.brackets[0].share, 16U);
  EXPECT_EQ(static_cast<std::uint64_t>(preview.total_length), 8U * 1000 + 3U * 3000 + 9000);
  EXPECT_EQ(static_cast<std::uint64_t>(preview.full_length), 12U * 9000);
}

}  // namespace
}  // namespace hpsearch::searchers
