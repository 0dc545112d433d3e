#include "daemon/state_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hpsearch/proto/json.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

TEST(StateDirectory, IsMadeForItsOwnerOnly) {
  const Scratch scratch;
  const auto directory = StateDirectory::open(scratch.path("a/b/c/"));
  ASSERT_TRUE(directory) << directory.error().message;
  EXPECT_EQ((*directory)->path(), scratch.path("a/b/c"));
  struct stat found {};
  ASSERT_EQ(::stat((*directory)->path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  EXPECT_TRUE(std::filesystem::is_directory((*directory)->checkpoints()));
  EXPECT_EQ(text_of(scratch.path("a/b/c/lock")), std::to_string(::getpid()) + "\n");
}

TEST(StateDirectory, SecondHolderIsRefusedWithThePidOfTheFirst) {
  const Scratch scratch;
  const auto first = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(first);
  const auto second = StateDirectory::open(scratch.path("state"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::wrong_state);
  EXPECT_NE(second.error().message.find(scratch.path("state")), std::string::npos);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
}

TEST(StateDirectory, IsFreeAgainWhenItsHolderHasGone) {
  const Scratch scratch;
  { ASSERT_TRUE(StateDirectory::open(scratch.path("state"))); }
  EXPECT_TRUE(StateDirectory::open(scratch.path("state")));
}

TEST(StateDirectory, SaysWhereTheDaemonListensAndTakesItBack) {
  const Scratch scratch;
  auto directory = StateDirectory::open(scratch.path("state"));
  ASSERT_TRUE(directory);
  ASSERT_TRUE((*directory)->announce({"127.0.0.1:1", "tcp://127.0.0.1:2", "0.1.0", 3}));
  const auto value = proto::parse_json(text_of(scratch.path("state/daemon.json")));
  ASSERT_TRUE(value);
  EXPECT_EQ(*value->at_path("http")->as_text(), "127.0.0.1:1");
  EXPECT_EQ(*value->at_path("workers")->as_text(), "tcp://127.0.0.1:2");
  EXPECT_EQ(*value->at_path("version")->as_text(), "0.1.0");
  EXPECT_EQ(*value->at_path("daemon_epoch")->as_integer(), 3);
  EXPECT_EQ(*value->at_path("pid")->as_integer(), ::getpid());
  (*directory)->retract();
  EXPECT_FALSE(std::filesystem::exists(scratch.path("state/daemon.json")));
}

TEST(StateDirectory, StaleAnnouncementIsRemoved) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.path("state"));
  std::ofstream(scratch.path("state/daemon.json")) << "{}";
  ASSERT_TRUE(StateDirectory::open(scratch.path("state")));
  EXPECT_FALSE(std::filesystem::exists(scratch.path("state/daemon.json")));
}

TEST(StateDirectory, PathThroughAFileIsUnavailable) {
  const Scratch scratch;
  std::ofstream(scratch.path("file")) << "x";
  for (const char* path : {"file", "file/state"}) {
    const auto directory = StateDirectory::open(scratch.path(path));
    ASSERT_FALSE(directory);
    EXPECT_EQ(directory.error().code, Errc::unavailable);
    EXPECT_NE(directory.error().message.find("Not a directory"), std::string::npos)
        << directory.error().message;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
