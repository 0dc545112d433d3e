#include "cli/run/child_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using std::chrono::seconds;

TEST(ChildProcess, AppendsItsOutputToTheLogAndReportsItsEnd) {
  const Scratch scratch;
  const std::string log = scratch.write("log", "before\n");
  auto child =
      ChildProcess::start({"/bin/sh", "-c", "echo out; echo err >&2; read x || echo no input; exit 3"}, log);
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_TRUE(child->wait(seconds(30)));
  EXPECT_EQ(child->ended()->describe(), "exit status 3");
  EXPECT_EQ(scratch.read("log"), "before\nout\nerr\nno input\n");
}

TEST(ChildProcess, HasItsOwnSession) {
  const Scratch scratch;
  auto child = ChildProcess::start({"/bin/sh", "-c", "exec sleep 60"}, (scratch.path() / "log").string());
  ASSERT_TRUE(child);
  EXPECT_EQ(::getsid(child->pid()), child->pid());
  child->signal(SIGKILL);
  ASSERT_TRUE(child->wait(seconds(30)));
  EXPECT_MESSAGE(child->ended()->describe());
  child->signal(SIGTERM);  // No process gets it: the number may belong to another process by now.
}

TEST(ChildProcess, ReportsWhyItCannotBeStarted) {
  const Scratch scratch;
  const auto missing = ChildProcess::start({"/nowhere/program"}, (scratch.path() / "log").string());
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("/nowhere/program"));
  const auto no_log = ChildProcess::start({"/bin/true"}, "/nowhere/log");
  ASSERT_FALSE(no_log);
  EXPECT_THAT(no_log.error().message, testing::HasSubstr("/nowhere/log"));
}

TEST(ChildProcess, EndsWithItsOwner) {
  const Scratch scratch;
  pid_t pid = 0;
  {
    auto child = ChildProcess::start({"/bin/sleep", "60"}, (scratch.path() / "log").string());
    ASSERT_TRUE(child);
    pid = child->pid();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace hpsearch::cli
