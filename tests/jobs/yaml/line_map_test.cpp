#include "hpsearch/jobs/yaml/line_map.hpp"

#include <gtest/gtest.h>

namespace hpsearch::yaml {
namespace {

LineMap at(std::size_t line) {
  LineMap map;
  map.set_line(line);
  return map;
}

TEST(LineMap, FindsKeysThatContainDots) {
  LineMap inner = at(3);
  inner.add_member("c", at(4));
  LineMap map = at(1);
  map.add_member("a", at(2));
  map.add_member("a.b", std::move(inner));
  EXPECT_EQ(map.line_of("a.b.c"), 4U);
  EXPECT_EQ(map.line_of("a.b"), 3U);
  EXPECT_EQ(map.line_of("a"), 2U);
  EXPECT_EQ(map.line_of("a.x"), 2U);
}

TEST(LineMap, EmptyTreeHasNoLines) {
  EXPECT_EQ(LineMap().line_of("a.b[0]"), 0U);
}

}  // namespace
}  // namespace hpsearch::yaml
