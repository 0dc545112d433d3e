#include "cli/doctor/observe.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

TEST(Observed, OptionIsFoundByItsKey) {
  const api::Configuration configuration{
      {{"http.open", {"true"}, "--http-open"}, {"http.socket", {"/a"}, "x"}}};
  ASSERT_NE(option_in(configuration, "http.socket"), nullptr);
  EXPECT_EQ(option_in(configuration, "http.socket")->from, "x");
  EXPECT_EQ(option_in(configuration, "http"), nullptr);
}

TEST(Observed, PercentInTheKeyOfAUnit) {
  EXPECT_TRUE(has_percent_in_key("ExecStart=/usr/bin/hpsearch-worker --server-key ab%cd --slots 1"));
  EXPECT_TRUE(has_percent_in_key("ExecStart=/usr/bin/hpsearch-worker --server-key=ab%%c%"));
  EXPECT_FALSE(has_percent_in_key("ExecStart=/usr/bin/hpsearch-worker --server-key ab%%cd --state-dir %S/x"));
  EXPECT_FALSE(has_percent_in_key("ExecStart=/usr/bin/hpsearch-worker --server-key-file %d/key"));
  EXPECT_FALSE(has_percent_in_key("# --server-key ab%cd"));
}

TEST(Observed, ProxyLeavesOutThisMachine) {
  EXPECT_TRUE(leaves_out_this_machine("*"));
  EXPECT_TRUE(leaves_out_this_machine("example.org, localhost, 127.0.0.1"));
  EXPECT_FALSE(leaves_out_this_machine("localhost"));
  EXPECT_FALSE(leaves_out_this_machine(""));
}

class ObservedState : public testing::Test {
 protected:
  Scratch scratch_;
};

TEST_F(ObservedState, HasFilesAndTimesAndChangesNothing) {
  const std::filesystem::path directory = scratch_.path() / "state";
  ASSERT_TRUE(std::filesystem::create_directories(directory / "contexts"));
  ::chmod(directory.c_str(), 0750);
  scratch_.write("state/curve.key", "secret");
  ::chmod((directory / "curve.key").c_str(), 0640);
  scratch_.write("state/contexts/a.tar", "12345");
  std::string head = std::string("SQLite format 3") + '\0';
  head.resize(100, '\0');
  head[63] = 7;
  scratch_.write("state/events.db", head);

  const auto seen = observe_state(directory, std::nullopt);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->directory.mode, 0750U);
  EXPECT_EQ(seen->directory.uid, ::geteuid());
  ASSERT_EQ(seen->secrets.size(), 1U);
  EXPECT_EQ(seen->secrets.front().mode, 0640U);
  EXPECT_EQ(seen->store_format, 7U);
  EXPECT_EQ(seen->store_bytes, 100U);
  EXPECT_EQ(seen->context_bytes, 5U);
  EXPECT_FALSE(seen->is_locked);
  EXPECT_TRUE(std::is_sorted(seen->sync_millis.begin(), seen->sync_millis.end()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 3) << "it left a file";
}

TEST_F(ObservedState, IsThatOfTheDaemonOfARun) {
  ASSERT_TRUE(std::filesystem::create_directories(scratch_.path() / "run" / "daemon"));
  const auto seen = observe_state(scratch_.path() / "run", std::nullopt);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->directory.path, (scratch_.path() / "run" / "daemon").string());
  EXPECT_EQ(seen->store_format, std::nullopt);
  EXPECT_EQ(observe_state(scratch_.path() / "absent", std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::cli
