#include "hpsearch/workers/shell/processes/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/scarcity.hpp"

namespace hpsearch::workers::test {
namespace {

// Unique for this process: processes with this mark are killed, and other tests run at the same time.
const std::string mark = "HPSEARCH_ATTEMPT_MARK=process test " + std::to_string(::getpid());

/// A process of ours with the program's mark, as a container's daemon would start it.
pid_t started_elsewhere() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    ::close(STDOUT_FILENO);  // A reader of this test's output needn't wait for it.
    ::close(STDERR_FILENO);
    ::execl("/usr/bin/env", "env", mark.c_str(), "sleep", "1000", nullptr);
    ::_exit(127);
  }
  while (!started_with(pid, mark)) {
    ::usleep(1000);
  }
  return pid;
}

class ProgramShims : public testing::Test {
 protected:
  ~ProgramShims() override { ::kill(before_, SIGKILL); }

  RunningProgram start(const std::string& line) {
    auto running = shim_.start(
        {.argv = {"/bin/sh", "-c", line},
         .environment = {{"PATH", "/usr/bin:/bin"}},
         .directory = "/",
         .token = mark},
        [](const RunningProgram&) { return engine::Done{}; },
        [this](const ProgramEnd& end) {
          end_ = end;
          loop_.stop();
        });
    EXPECT_TRUE(running);
    return *std::move(running);
  }

  net::Loop loop_;
  const pid_t before_ = started_elsewhere();  // An earlier child, which belongs to no program.
  ProgramShim shim_{loop_};
  std::optional<ProgramEnd> end_;
};

TEST_F(ProgramShims, ProgramOfAnotherUserCannotChangeBack) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root starts programs as other users";
  }
  // Any ids work: the kernel has no names.
  const UnixAccount account{
      .name = "stranger", .uid = 54'321, .gid = 54'322, .groups = {54'322, 54'323}, .home = "/"};
  const mode_t before = ::umask(0077);  // The mask of a worker; its programs don't inherit it.
  const auto running = shim_.start(
      {.argv = {"/bin/sh", "-c",
                "grep -E '^(Uid|Gid|Groups|Umask)' /proc/self/status > /dev/stdout; kill -0 $PPID || echo no "
                "signal"},
       .environment = {{"PATH", "/usr/bin:/bin"}},
       .directory = "/",
       .token = mark,
       .account = account},
      [](const RunningProgram&) { return engine::Done{}; },
      [this](const ProgramEnd& end) {
        end_ = end;
        loop_.stop();
      });
  ASSERT_TRUE(running) << running.error().message;
  ::umask(before);
  loop_.run();
  std::array<char, 4096> said{};
  const ssize_t size = ::read(running->out.get(), said.data(), said.size());
  ASSERT_GT(size, 0);
  const std::string text(said.data(), static_cast<std::size_t>(size));
  EXPECT_NE(text.find("Uid:\t54321\t54321\t54321\t54321\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Gid:\t54322\t54322\t54322\t54322\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Groups:\t54322 54323"), std::string::npos) << text;
  EXPECT_NE(text.find("Umask:\t0022"), std::string::npos) << text;
  EXPECT_NE(text.find("no signal"), std::string::npos) << text;
}

TEST_F(ProgramShims, TerminalDoesNotChangeLines) {
  auto running = shim_.start(
      {.argv = {"/bin/sh", "-c", "test -t 1 && test ! -t 2 && stty size <&1; printf 'a\\tb\\n'; exit 3"},
       .environment = {{"PATH", "/usr/bin:/bin"}},
       .directory = "/",
       .token = mark,
       .terminal = true},
      [](const RunningProgram&) { return engine::Done{}; },
      [this](const ProgramEnd& end) {
        end_ = end;
        loop_.stop();
      });
  ASSERT_TRUE(running) << running.error().message;
  loop_.run();
  EXPECT_EQ(end_->code, 3);
  std::string text;
  std::array<char, 256> piece{};
  for (ssize_t got = 0; (got = ::read(running->out.get(), piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  EXPECT_EQ(text, "50 240\na\tb\n");
}

TEST_F(ProgramShims, KillProcessesThatOthersStartedForAProgramBeforeItsEnd) {
  const RunningProgram running = start("exec sleep 1000");
  EXPECT_TRUE(runs(before_));
  shim_.kill(running.pid);
  loop_.run();
  EXPECT_TRUE(end_->by_signal);
  EXPECT_FALSE(runs(before_));
}

TEST_F(ProgramShims, ProcessesOfOthersRunDuringTheGrace) {
  const RunningProgram running = start("trap 'sleep 0.3; exit 3' TERM; while :; do sleep 0.01; done");
  const net::Watch soon = loop_.after(std::chrono::milliseconds(100),
                                      [&] { shim_.terminate(running.pid, std::chrono::seconds(30)); });
  bool waited = false;
  const net::Watch later = loop_.after(std::chrono::milliseconds(1500), [&] {
    waited = runs(before_);
    shim_.kill(running.pid);
  });
  loop_.run();
  EXPECT_TRUE(waited) << "it has the program's grace";
  EXPECT_EQ(end_->code, 3);
  EXPECT_FALSE(runs(before_));
}

// The agent that asked for its end was killed before it could record that.
TEST_F(ProgramShims, KillProcessesThatOutliveATerminatedProgram) {
  const RunningProgram running =
      start("(trap '' TERM; exec sleep 1000) & trap 'exit 3' TERM; while :; do sleep 0.01; done");
  const net::Watch soon = loop_.after(std::chrono::milliseconds(100),
                                      [&] { shim_.terminate(running.pid, std::chrono::milliseconds(500)); });
  const net::Watch timeout = loop_.after(std::chrono::seconds(30), [this] { loop_.stop(); });
  const auto began = std::chrono::steady_clock::now();
  loop_.run();
  ASSERT_TRUE(end_) << "it is left running";
  EXPECT_EQ(end_->code, 3);
  EXPECT_GE(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(600)) << "it has its grace";
  EXPECT_FALSE(runs(before_));
}

TEST_F(ProgramShims, DoNotAssumeAnExitTheyCannotSee) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer looks at objects through a pipe, which is a file too";
#endif
  start("(trap '' TERM; exec sleep 1000) & exit 0");
  std::optional<NoMoreFiles> blind;
  const net::Watch soon = loop_.after(std::chrono::milliseconds(1), [&] { blind.emplace(); });
  const net::Watch later = loop_.after(std::chrono::milliseconds(400), [&] { blind.reset(); });
  loop_.run();
  EXPECT_FALSE(blind) << "what it left behind ran";
  EXPECT_EQ(end_->code, 0);
}

TEST_F(ProgramShims, DetectAnEndWhoseSignalIsLost) {
  sigset_t children;
  sigset_t before;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, &before);
  start("exit 3");
  const net::Watch timeout = loop_.after(std::chrono::seconds(30), [this] { loop_.stop(); });
  loop_.run();
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ASSERT_TRUE(end_) << "waited for the signal";
  EXPECT_EQ(end_->code, 3);
}

TEST(ProcessTables, UnreadableOneIsNotEmpty) {
  ASSERT_TRUE(all_processes());
  const NoMoreFiles blind;
  EXPECT_FALSE(all_processes());
}

}  // namespace
}  // namespace hpsearch::workers::test
