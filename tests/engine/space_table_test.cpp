#include "conformance/space_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {
namespace {

using conformance::SpaceCase;

std::vector<SpaceCase> all_cases() {
  std::vector<SpaceCase> cases;
  for (const char* table : {"int_axes", "real_axes", "products"}) {
    for (SpaceCase& one : conformance::read_space_table(HPSEARCH_TEST_DATA "/conformance/spaces/" +
                                                        std::string(table) + ".txt")) {
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

class SpaceTable : public testing::TestWithParam<SpaceCase> {
 protected:
  void SetUp() override {
    Problems problems;
    Problems notes;
    space_ = Space::parse(GetParam().hyperparameters, "hyperparameters", problems, notes);
    for (const Problem& problem : problems) {
      ADD_FAILURE() << describe(problem);
    }
  }
  Space space_;
};

TEST_P(SpaceTable, HasTheSizeItShould) {
  const SpaceCase& expected = GetParam();
  const Result<Cardinality> size = space_.grid_size();
  if (expected.grid.rfind("lacks ", 0) == 0) {
    ASSERT_FALSE(size);
    EXPECT_NE(size.error().message.find("hyperparameters." + expected.grid.substr(6) + " has no count"),
              std::string::npos)
        << size.error().message;
  } else if (expected.grid == "overflows") {
    ASSERT_FALSE(size);
    EXPECT_NE(size.error().message.find("2^127"), std::string::npos) << size.error().message;
  } else {
    ASSERT_TRUE(size) << size.error().message;
    if (!expected.grid.empty()) {
      EXPECT_EQ(to_text(*size), expected.grid);
    }
  }
  if (!expected.values.empty()) {
    const std::optional<Cardinality> values = space_.cardinality();
    EXPECT_EQ(values ? to_text(*values) : "endless", expected.values);
  }
}

TEST_P(SpaceTable, HasThePointsItShould) {
  for (const auto& [index, expected] : GetParam().points) {
    const Value point = space_.grid_point(index);
    EXPECT_TRUE(conformance::about_equal(point, expected))
        << "point " << to_text(index) << " is " << compact_json(point) << ", not " << compact_json(expected);
    Problems problems;
    space_.check(point, "", problems);
    for (const Problem& problem : problems) {
      ADD_FAILURE() << describe(problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, SpaceTable, testing::ValuesIn(all_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(Cardinality, IsWrittenInFull) {
  EXPECT_EQ(to_text(0), "0");
  EXPECT_EQ(to_text(18446744073709551615U), "18446744073709551615");
  EXPECT_EQ(to_text((Cardinality{1} << 127U) - 1), "170141183460469231731687303715884105727");
}

}  // namespace
}  // namespace hpsearch::engine
