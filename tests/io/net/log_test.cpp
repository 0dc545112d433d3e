#include "hpsearch/io/net/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::net {
namespace {

std::string written(Level level, std::string_view message) {
  testing::internal::CaptureStderr();
  log(level, message);
  return testing::internal::GetCapturedStderr();
}

TEST(Log, LineSaysTimeLevelProgramAndMessage) {
  const std::string line = written(Level::warning, "the disk is nearly full");
  EXPECT_EQ(line.find('T'), 10U) << line;
  EXPECT_NE(line.find("Z warning net_test: the disk is nearly full\n"), std::string::npos) << line;
}

TEST(Log, HidesWhatIsBelowTheLevel) {
  ASSERT_TRUE(set_log_level("error"));
  EXPECT_EQ(written(Level::warning, "hidden"), "");
  ASSERT_TRUE(set_log_level("debug"));
  EXPECT_NE(written(Level::debug, "shown"), "");
  ASSERT_TRUE(set_log_level("info"));
}

TEST(Log, RefusesALevelItDoesNotKnow) {
  EXPECT_FALSE(set_log_level("loud"));
}

TEST(Log, TextFromOutsideCannotForgeASecondLine) {
  const std::string line = written(Level::error, "name\n2026 info: all is well\x1b[2J");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::net
