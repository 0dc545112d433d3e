#include "hpsearch/io/net/log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "hpsearch/engine/experiment/attempt.hpp"

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

/// Sets a format until the end of a test.
class Format {
 public:
  explicit Format(const char* name) { EXPECT_TRUE(set_log_format(name)); }
  Format(const Format&) = delete;
  Format& operator=(const Format&) = delete;
  ~Format() { set_log_format("text"); }
};

TEST(Log, JsonLineIsAnObject) {
  const Format json("json");
  const std::string line = written(Level::warning, "a \"b\" \xff\nc");
  EXPECT_TRUE(
      line.starts_with("{\"level\":\"warning\",\"msg\":\"a \\\"b\\\" \xef\xbf\xbd c\",\"program\":"
                       "\"net_test\",\"ts\":\"2"))
      << line;
  EXPECT_TRUE(line.ends_with("Z\"}\n")) << line;
}

TEST(Log, JsonLineHasFieldsForWhatItIsAbout) {
  const Format json("json");
  testing::internal::CaptureStderr();
  log(Level::error, "it cannot be started",
      about(engine::AttemptKey{engine::ExperimentId(3), engine::TrialNumber(0), engine::AttemptNumber(2),
                               engine::LeaseId(7)}));
  log(Level::info, "it is connected", about_worker("a\nb"));
  log(Level::info, "its checkpoints are removed", about(engine::ExperimentId(4)));
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(lines.starts_with("{\"attempt\":2,\"experiment\":3,\"level\":\"error\",")) << lines;
  EXPECT_NE(lines.find("\"trial\":0,"), std::string::npos) << "the first trial has the number 0: " << lines;
  EXPECT_NE(lines.find("\"worker\":\"a b\"}\n{\"experiment\":4,\"level\":\"info\","), std::string::npos)
      << lines;
}

TEST(Log, TextLineIsItsMessageAlone) {
  const Format journald("journald");
  testing::internal::CaptureStderr();
  log(Level::info, "worker \"w\" is connected", about_worker("w"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "<6>worker \"w\" is connected\n");
}

TEST(Log, EqualMessagesAboutOthersAreNotFolded) {
  const Format json("json");
  testing::internal::CaptureStderr();
  for (std::uint64_t i = 1; i <= 6; ++i) {
    log(Level::info, "the same words", about(engine::ExperimentId(i)));
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("\"experiment\":6"), std::string::npos);
}

TEST(Log, JournalGetsPriorities) {
  const Format journald("journald");
  EXPECT_EQ(written(Level::info, "it starts"), "<6>it starts\n");
  EXPECT_EQ(written(Level::error, "it\nfails"), "<3>it fails\n");
}

TEST(Log, JournalIsRecognizedByItsStream) {
  struct stat own {};
  testing::internal::CaptureStderr();
  ASSERT_EQ(::fstat(STDERR_FILENO, &own), 0);
  ::setenv("JOURNAL_STREAM", (std::to_string(own.st_dev) + ":" + std::to_string(own.st_ino)).c_str(), 1);
  EXPECT_TRUE(set_log_format(""));
  log(Level::info, "to the journal");
  ::setenv("JOURNAL_STREAM", "1:1", 1);
  EXPECT_TRUE(set_log_format(""));
  log(Level::info, "to a file");
  ::unsetenv("JOURNAL_STREAM");
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(lines.starts_with("<6>to the journal\n2")) << lines;
  EXPECT_TRUE(lines.ends_with(" info net_test: to a file\n")) << lines;
  EXPECT_FALSE(set_log_format("xml"));
  EXPECT_TRUE(set_log_format("text"));
}

TEST(Log, EqualLinesAreFolded) {
  const Format journald("journald");
  const auto before = logged_lines();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 219; ++i) {
    log(Level::warning, "the disk is slow");
    log(Level::warning, i % 2 == 0 ? "one" : "two");
  }
  log(Level::info, "the disk is slow");
  const std::string lines = testing::internal::GetCapturedStderr();
  std::size_t found = 0;
  for (std::size_t at = lines.find("<4>the disk is slow\n"); at != std::string::npos;
       at = lines.find("<4>the disk is slow\n", at + 1)) {
    ++found;
  }
  EXPECT_EQ(found, 5U) << lines;
  EXPECT_NE(lines.find("<6>the disk is slow\n"), std::string::npos) << "another level is another line";
  testing::internal::CaptureStderr();
  write_repeats(/*all=*/true);
  const std::string counts = testing::internal::GetCapturedStderr();
  EXPECT_NE(counts.find("<4>the disk is slow (214 more times in "), std::string::npos) << counts;
  EXPECT_NE(counts.find("<4>one (105 more times in "), std::string::npos) << counts;
  EXPECT_NE(counts.find("<4>two (104 more times in "), std::string::npos) << counts;
  testing::internal::CaptureStderr();
  write_repeats(/*all=*/true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(logged_lines().at(2).second - before.at(2).second, 438U);
}

TEST(Log, TextFromOutsideCannotForgeASecondLine) {
  const std::string line = written(Level::error, "name\n2026 info: all is well\x1b[2J");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::net
