// How programs end, and which processes remain.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "workers/shell/programs.hpp"

namespace hpsearch::workers::test {
namespace {

using engine::AttemptKey;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using jobs::LaunchSpec;
using Cause = engine::ExitReport::Cause;

TEST_F(Programs, FailureShowsTheLastOutput) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("echo fine; echo 'Traceback: no such layer' >&2; exit 3")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::exited);
  EXPECT_EQ(exit.code, 3);
  EXPECT_EQ(exit.log_tail, "Traceback: no such layer\n");
  EXPECT_EQ(exit.message, "exit status 3");
}

TEST_F(Programs, KilledByASignalReportIt) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("kill -SEGV $$")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::signaled);
  EXPECT_EQ(exit.code, SIGSEGV);
}

TEST_F(Programs, AreKilledIfTheyIgnoreSigterm) {
  begin(Duration::millis(300));
  const AttemptKey key = key_of(0);
  lease(spec_of(
      key, shell(R"(trap '' TERM; echo 'HPSEARCH {{"step":1,"acc":0}}'; while :; do sleep 0.05; done)")));
  wait_for_reports(key, 1);
  decide(key, 50, Directive::stop);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::ended_by_agent);
  EXPECT_EQ(exit.code, SIGKILL);
}

TEST_F(Programs, InsideAShellGetTheirWholeGrace) {
  begin();
  const AttemptKey key = key_of(0);
  // The shell dies of SIGTERM at once; its child still cleans up.
  lease(spec_of(key, shell(R"(/usr/bin/python3 -c '
import os, signal, sys, time
def tidy(*_):
    time.sleep(0.3)
    open("../output/tidied", "w").write("yes")
    sys.exit(0)
signal.signal(signal.SIGTERM, tidy)
print("HPSEARCH {{\"step\":1,\"acc\":0}}", flush=True)
time.sleep(1000)'; echo never)")));
  wait_for_reports(key, 1);
  decide(key, 50, Directive::stop);
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::ended_by_agent);
  EXPECT_EQ(text_of(directory_of(key) / "output/tidied"), "yes");
}

TEST_F(Programs, LeaveNoProcesses) {
  begin();
  const AttemptKey key = key_of(0);
  // One in the background, one in its own session, one forked twice without its environment.
  lease(spec_of(key, shell(R"(sleep 1000 & echo $! > ../output/a
setsid sleep 1000 & echo $! > ../output/b
/usr/bin/python3 -c '
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open("../output/c", "w").write(str(os.getpid()))
        os.close(0); os.close(1); os.close(2)
        os.execve("/bin/sleep", ["sleep", "1000"], {{}})
    os._exit(0)
os.wait()'
until [ -s ../output/b ] && [ -s ../output/c ]; do sleep 0.01; done)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  for (const char* name : {"a", "b", "c"}) {
    const pid_t pid = std::stoi(text_of(directory_of(key) / "output" / name));
    EXPECT_FALSE(runs(pid)) << name;
  }
}

TEST_F(Programs, EndDoesNotAffectDaemonsOfAnotherProgram) {
  begin();
  const AttemptKey stays = key_of(0);
  LaunchSpec first = spec_of(stays, shell(R"(setsid sleep 1000 & sleep 0.01; echo $! > ../output/b; )"
                                          R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; exec sleep 1000)"));
  lease(first);
  wait_for_reports(stays, 1);
  const AttemptKey goes = key_of(1);
  LaunchSpec second = spec_of(goes, shell("true"));
  second.slots = {engine::SlotIndex{1}};
  lease(second);
  EXPECT_EQ(daemon_.wait_for_exit(goes).code, 0);
  const pid_t pid = std::stoi(text_of(directory_of(stays) / "output/b"));
  EXPECT_TRUE(runs(pid));
  decide(stays, 60, Directive::kill);
  EXPECT_EQ(daemon_.wait_for_exit(stays).cause, Cause::ended_by_agent);
  EXPECT_FALSE(runs(pid));
}

TEST_F(Programs, EndWithTheWorker) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell(R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; exec sleep 1000)")));
  wait_for_reports(key, 1);
  worker_->stop();
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::ended_by_agent);
  daemon_.until("the worker's end", [this] { return ended_.has_value(); });
  EXPECT_TRUE(*ended_);
  EXPECT_TRUE(daemon_.goodbye);
}

// Like `docker run`: a daemon starts the program's processes, which aren't descendants of the shim.
TEST_F(Programs, EndWithProcessesThatOthersStartedForThem) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell(R"(echo "$HPSEARCH_ATTEMPT_MARK" > ../output/mark; )"
                           R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; exec sleep 1000)")));
  wait_for_reports(key, 1);
  std::string mark = text_of(directory_of(key) / "output/mark");
  mark = "HPSEARCH_ATTEMPT_MARK=" + mark.substr(0, mark.find('\n'));
  const pid_t elsewhere = ::fork();
  if (elsewhere == 0) {
    ::setsid();
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    ::execl("/usr/bin/env", "env", mark.c_str(), "sleep", "1000", nullptr);
    ::_exit(127);
  }
  while (!started_with(elsewhere, mark)) {
    ::usleep(1000);
  }
  decide(key, 50, Directive::kill);
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::ended_by_agent);
  int status = 0;
  const bool gone = ::waitpid(elsewhere, &status, WNOHANG) == elsewhere;
  ::kill(elsewhere, SIGKILL);
  ASSERT_TRUE(gone) << "it outlives the exit that was reported";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

}  // namespace
}  // namespace hpsearch::workers::test
