#include "hpsearch/io/files/socket_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "scratch.hpp"

namespace hpsearch::files {
namespace {

namespace fs = std::filesystem;
using engine::Errc;

class SocketDirectoryTest : public testing::Test {
 protected:
  SocketDirectoryTest() {
    fs::create_directory(scratch_.path("run"));
    fs::create_directory(scratch_.path("tmp"));
    ::chmod(scratch_.path("run").c_str(), 0700);
    ::chmod(scratch_.path("tmp").c_str(), 01777);
  }

  [[nodiscard]] SocketDirectory of(const std::string& state, const char* runtime) const {
    return SocketDirectory::of(state, runtime, scratch_.path("tmp"));
  }
  [[nodiscard]] std::string fallback() const {
    return scratch_.path("tmp/hpsearch-" + std::to_string(::geteuid()));
  }

  Scratch scratch_;
};

unsigned mode_of(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 ? found.st_mode & 07777U : 0;
}

TEST_F(SocketDirectoryTest, IsInTheRuntimeDirectoryForItsUserAlone) {
  const std::string runtime = scratch_.path("run");
  const SocketDirectory directory = of("/home/me/state", runtime.c_str());
  EXPECT_TRUE(directory.path().starts_with(runtime + "/hpsearch/")) << directory.path();
  EXPECT_FALSE(fs::exists(runtime + "/hpsearch"));
  ASSERT_TRUE(directory.make());
  ASSERT_TRUE(directory.make()) << "it may be there already";
  EXPECT_EQ(mode_of(directory.path()), 0700U);
  EXPECT_EQ(mode_of(runtime + "/hpsearch"), 0700U);
  directory.remove_if_empty();
  EXPECT_FALSE(fs::exists(directory.path()));
}

TEST_F(SocketDirectoryTest, EachStateDirectoryHasItsOwn) {
  const std::string runtime = scratch_.path("run");
  EXPECT_EQ(of("/a", runtime.c_str()).path(), of("/a", runtime.c_str()).path());
  EXPECT_NE(of("/a", runtime.c_str()).path(), of("/b", runtime.c_str()).path());
}

TEST_F(SocketDirectoryTest, IsBelowTmpIfTheRuntimeDirectoryIsUnusable) {
  fs::create_directory(scratch_.path("open"));
  ::chmod(scratch_.path("open").c_str(), 0755);
  fs::create_symlink(scratch_.path("run"), scratch_.path("link"));
  const std::string open = scratch_.path("open");
  const std::string link = scratch_.path("link");
  const std::string missing = scratch_.path("missing");
  const std::string long_one = scratch_.path(std::string(60, 'x'));
  fs::create_directory(long_one);
  ::chmod(long_one.c_str(), 0700);
  for (const char* runtime : {static_cast<const char*>(nullptr), "", "run", open.c_str(), link.c_str(),
                              missing.c_str(), long_one.c_str()}) {
    EXPECT_TRUE(of("/a", runtime).path().starts_with(fallback() + "/"))
        << (runtime != nullptr ? runtime : "");
  }
}

TEST_F(SocketDirectoryTest, LeavesRoomForNames) {
  EXPECT_LE(SocketDirectory::of("/a", nullptr, "/tmp").path().size(), SocketDirectory::longest);
  EXPECT_LE(SocketDirectory::longest + 1 + 40, 107U);
}

TEST_F(SocketDirectoryTest, ForeignOrOpenDirectoryIsRefused) {
  fs::create_directory(fallback());
  ::chmod(fallback().c_str(), 0755);
  const auto open = of("/a", nullptr).make();
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, Errc::unavailable);
  EXPECT_NE(open.error().message.find(fallback() + " is not a private directory"), std::string::npos)
      << open.error().message;
  EXPECT_NE(open.error().message.find("XDG_RUNTIME_DIR"), std::string::npos);
  fs::remove(fallback());
  fs::create_symlink(scratch_.path("run"), fallback());
  EXPECT_FALSE(of("/a", nullptr).make()) << "a link";
  fs::remove(fallback());
  scratch_.write("tmp/hpsearch-" + std::to_string(::geteuid()), "");
  EXPECT_FALSE(of("/a", nullptr).make()) << "a file";
}

TEST_F(SocketDirectoryTest, DirectoryOfAnotherUserIsRefused) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a directory away";
  }
  fs::create_directory(fallback());
  ASSERT_EQ(::chmod(fallback().c_str(), 0700), 0);
  ASSERT_EQ(::chown(fallback().c_str(), 65534, 65534), 0);
  EXPECT_FALSE(of("/a", nullptr).make());
}

TEST_F(SocketDirectoryTest, IsKeptUnlessEmpty) {
  const SocketDirectory directory = of("/a", nullptr);
  ASSERT_TRUE(directory.make());
  write_text(directory.path() + "/api.sock", "");
  directory.remove_if_empty();
  EXPECT_TRUE(fs::exists(directory.path()));
}

}  // namespace
}  // namespace hpsearch::files
