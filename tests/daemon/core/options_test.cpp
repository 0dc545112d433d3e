#include "daemon/core/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace hpsearch::daemon {
namespace {

std::variant<Options, Exit> read(std::vector<const char*> words) {
  words.insert(words.begin(), "hpsearchd");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto options = read_options(static_cast<int>(words.size()), words.data());
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
  return options;
}

TEST(Options, ByDefaultNoPortIsOpened) {
  const auto read_back = read({"--state-dir", "/x"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->state_dir, "/x");
  EXPECT_EQ(options->http, "");
  EXPECT_EQ(options->workers, "");
  EXPECT_FALSE(options->http_open);
  EXPECT_FALSE(options->workers_open);
  EXPECT_EQ(options->lost_after_seconds, 300);
  EXPECT_EQ(options->kept_quota, std::uint64_t{40} << 30U);
  EXPECT_EQ(options->log_level, "info");
}

TEST(Options, EachCanBeGiven) {
  const auto read_back = read({"--state-dir=/x", "--http=127.0.0.1:0", "--workers=tcp://127.0.0.1:0",
                               "--lost-after=2.5", "--kept-quota=1536MiB", "--log-level=debug"});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->http, "127.0.0.1:0");
  EXPECT_EQ(options->workers, "tcp://127.0.0.1:0");
  EXPECT_EQ(options->lost_after_seconds, 2.5);
  EXPECT_EQ(options->kept_quota, std::uint64_t{3} << 29U);
  EXPECT_EQ(options->log_level, "debug");
}

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Options, DefaultStateDirectoryIsInTheStateHome) {
  const Variable home("HPSEARCH_STATE_HOME", "/scratch/me");
  const auto read_back = read({});
  const auto* options = std::get_if<Options>(&read_back);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->state_dir, "/scratch/me/hpsearchd");
  const auto given = read({"--state-dir=/x"});
  ASSERT_NE(std::get_if<Options>(&given), nullptr);
  EXPECT_EQ(std::get_if<Options>(&given)->state_dir, "/x");
}

TEST(Options, RelativeStateHomeExitsWithTwo) {
  const Variable home("HPSEARCH_STATE_HOME", "runs");
  const auto read_back = read({});
  ASSERT_TRUE(std::holds_alternative<Exit>(read_back));
  EXPECT_EQ(std::get<Exit>(read_back), Exit::usage);
}

TEST(Options, WrongUseExitsWithTwo) {
  for (const std::vector<const char*>& words : {std::vector<const char*>{"--state-dir"},
                                                {"--state-dir=/x", "--bogus"},
                                                {"--state-dir=/x", "word"},
                                                {"--state-dir=/x", "--lost-after=0"},
                                                {"--state-dir=/x", "--lost-after=soon"},
                                                {"--state-dir=/x", "--kept-quota=much"},
                                                {"--state-dir=/x", "--log-level=loud"}}) {
    const auto read_back = read(words);
    ASSERT_TRUE(std::holds_alternative<Exit>(read_back));
    EXPECT_EQ(std::get<Exit>(read_back), Exit::usage);
  }
}

TEST(Options, HelpAndVersionExitWithZero) {
  for (const char* word : {"--help", "--version"}) {
    const auto read_back = read({word});
    ASSERT_TRUE(std::holds_alternative<Exit>(read_back)) << word;
    EXPECT_EQ(std::get<Exit>(read_back), Exit::ok) << word;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
