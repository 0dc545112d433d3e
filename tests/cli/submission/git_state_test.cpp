#include "cli/submission/git_state.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/render/shapes.hpp"
#include "hpsearch/io/net/run_command.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;

class GitStateTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!net::run_command({"git", "--version"}, std::chrono::seconds(60)).succeeded()) {
      GTEST_SKIP() << "git is missing";
    }
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);  // The tests' user may trust every checkout.
    ::setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
    scratch_.write("train.py", "print(1)\n");
    git({"init", "-q", "-b", "trunk"});
  }

  std::string git(const std::vector<std::string>& question) {
    std::vector<std::string> words{
        "git", "-C", place(), "-c", "user.name=Ann", "-c", "user.email=ann@localhost"};
    words.insert(words.end(), question.begin(), question.end());
    const net::CommandAnswer answer = net::run_command(words, std::chrono::seconds(60));
    EXPECT_TRUE(answer.succeeded()) << question.front() << ": " << answer.errors;
    return answer.output.substr(0, answer.output.find('\n'));
  }

  void commit() {
    git({"add", "."});
    git({"commit", "-q", "-m", "work"});
  }

  [[nodiscard]] std::string place() const { return scratch_.path().string(); }

  Scratch scratch_;
};

TEST_F(GitStateTest, CommitAndBranchAreNamed) {
  EXPECT_FALSE(git_state(place())) << "there is no commit yet";
  commit();
  const auto clean = git_state(place());
  ASSERT_TRUE(clean);
  EXPECT_EQ(clean->commit, git({"rev-parse", "HEAD"}));
  EXPECT_EQ(clean->branch, "trunk");
  EXPECT_FALSE(clean->dirty);
  EXPECT_EQ(git_text(*clean), "commit " + clean->commit.substr(0, 7) + " of trunk");
  git({"checkout", "-q", "--detach"});
  const auto detached = git_state(place());
  ASSERT_TRUE(detached);
  EXPECT_EQ(detached->branch, "");
}

TEST_F(GitStateTest, OnlyChangesBelowTheDirectoryCount) {
  fs::create_directory(scratch_.path() / "below");
  scratch_.write("below/data.txt", "1");
  commit();
  scratch_.write("train.py", "print(2)\n");
  const auto changed = git_state(place());
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->dirty);
  EXPECT_EQ(git_text(*changed),
            "commit " + changed->commit.substr(0, 7) + " of trunk, with uncommitted changes");
  const auto below = git_state(place() + "/below");
  ASSERT_TRUE(below);
  EXPECT_EQ(below->commit, changed->commit);
  EXPECT_FALSE(below->dirty);
}

TEST_F(GitStateTest, NewFileIsAChangeUnlessItIsLeftOut) {
  commit();
  fs::create_directory(scratch_.path() / "state");
  scratch_.write("state/run.json", "{}");
  EXPECT_TRUE(git_state(place())->dirty);
  EXPECT_FALSE(git_state(place(), place() + "/state")->dirty);
  EXPECT_TRUE(git_state(place(), "/elsewhere")->dirty);
}

TEST_F(GitStateTest, NothingOfTheCheckoutIsRunOrWritten) {
  commit();
  const std::string monitor = (scratch_.path() / ".git" / "monitor").string();
  scratch_.write(".git/monitor", "#!/bin/sh\ntouch " + place() + "/.git/has-run\n");
  fs::permissions(monitor, fs::perms::owner_all);
  git({"config", "core.fsmonitor", monitor});
  // The index has an older time of the file, which a usual `git status` writes anew.
  fs::last_write_time(scratch_.path() / "train.py", fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto before = fs::last_write_time(scratch_.path() / ".git" / "index");
  const auto state = git_state(place());
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->dirty);
  EXPECT_FALSE(fs::exists(scratch_.path() / ".git" / "has-run"));
  EXPECT_EQ(fs::last_write_time(scratch_.path() / ".git" / "index"), before);
}

TEST_F(GitStateTest, CheckoutOfAnotherUserIsNotRead) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  commit();
  ASSERT_EQ(::chown(place().c_str(), 4'711, 4'711), 0);
  ASSERT_EQ(::chown((place() + "/.git").c_str(), 4'711, 4'711), 0);
  EXPECT_FALSE(git_state(place()));
}

TEST(GitState, DirectoryWithoutACheckoutHasNone) {
  EXPECT_FALSE(git_state("/proc"));
  EXPECT_FALSE(git_state("/no/such/directory"));
}

}  // namespace
}  // namespace hpsearch::cli
