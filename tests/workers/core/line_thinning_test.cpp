#include "hpsearch/workers/core/line_thinning.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::workers {
namespace {

using engine::Units;

bool spares(LineThinning& thinning, const std::string& payload) {
  return thinning.spares(understood(parse_stdout_payload(payload)));
}

TEST(LineThinning, DropsLinesBelowTheLength) {
  LineThinning thinning;
  thinning.decides_from(Units{3});
  EXPECT_TRUE(spares(thinning, R"({"step":1,"acc":0.5})"));
  EXPECT_TRUE(spares(thinning, R"({"step":2,"acc":0.5})"));
  EXPECT_FALSE(spares(thinning, R"({"step":3,"acc":0.5})"));
}

TEST(LineThinning, DropsLinesAfterTheQuestion) {
  LineThinning thinning;
  thinning.decides_from(Units{3});
  EXPECT_FALSE(spares(thinning, R"({"step":3,"acc":0.5})"));
  EXPECT_TRUE(spares(thinning, R"({"step":3,"acc":0.5})"));
  EXPECT_TRUE(spares(thinning, R"({"step":900,"acc":0.5})"));
  thinning.decides_from(Units{901});
  EXPECT_FALSE(spares(thinning, R"({"step":901,"acc":0.5})")) << "the next length";
}

TEST(LineThinning, KeepsTheFirstLineOfEachMetric) {
  LineThinning thinning;
  thinning.decides_from(Units{3});
  EXPECT_FALSE(spares(thinning, R"({"step":3,"loss":0.5})"));
  EXPECT_FALSE(spares(thinning, R"({"step":4,"loss":0.5,"acc":0.5})"));
  EXPECT_TRUE(spares(thinning, R"({"step":5,"loss":0.5,"acc":0.5})"));
}

TEST(LineThinning, DropsNothingBeforeTheLengthIsKnown) {
  LineThinning thinning;
  EXPECT_FALSE(spares(thinning, R"({"step":1,"acc":0.5})"));
  EXPECT_FALSE(spares(thinning, R"({"step":2,"acc":0.5})"));
}

TEST(LineThinning, KeepsIncorrectLines) {
  LineThinning thinning;
  thinning.decides_from(Units{3});
  EXPECT_FALSE(spares(thinning, "nonsense")) << "its author is told";
}

TEST(LineThinning, RemembersALimitedNumberOfNames) {
  LineThinning thinning;
  thinning.decides_from(Units{1});
  std::size_t kept = 0;
  for (int i = 0; i < 5000; ++i) {
    kept += spares(thinning, R"({"step":1,"m)" + std::to_string(i) + R"(":0.5})") ? 0U : 1U;
  }
  EXPECT_EQ(kept, 1024U);
}

}  // namespace
}  // namespace hpsearch::workers
