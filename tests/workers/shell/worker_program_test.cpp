// The hpsearch-worker binary, as operators use it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::AttemptKey;

class WorkerProgram : public testing::Test {
 protected:
  WorkerProgram() : daemon_(loop_) {}
  ~WorkerProgram() override {
    for (const pid_t pid : running_) {
      ::kill(pid, SIGTERM);  // The second signal ends it at once; a killed worker would leave its programs.
      ::kill(pid, SIGTERM);
      ::waitpid(pid, nullptr, 0);
    }
  }

  pid_t spawn(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{HPSEARCH_WORKER_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn_words(std::move(words));
  }
  pid_t spawn_words(std::vector<std::string> words) {
    std::vector<char*> argv;
    for (std::string& word : words) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    const std::string output = (scratch_.path() / "output").string();
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0644);
    pid_t pid = 0;
    EXPECT_EQ(::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    running_.push_back(pid);
    return pid;
  }
  pid_t spawn_worker() {
    return spawn({"--daemon", daemon_.endpoint(), "--state-dir", (scratch_.path() / "state").string(),
                  "--slots", "2", "--name", "w", "--grace", "30"});
  }
  int wait_for_end(pid_t pid) {
    int status = -1;
    daemon_.until("the worker's end", [&] { return ::waitpid(pid, &status, WNOHANG) == pid; });
    std::erase(running_, pid);
    return status;
  }
  [[nodiscard]] std::string output() const { return text_of(scratch_.path() / "output"); }

  Scratch scratch_;
  net::Loop loop_;
  FakeDaemon daemon_;
  std::vector<pid_t> running_;
};

/// A program that reports, and writes the pid of its child.
jobs::Entrypoint long_running() {
  return shell(R"(sleep 1000 & echo $! > ../output/child; )"
               R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; wait)");
}

TEST_F(WorkerProgram, EndsItsProgramsOnSigtermAndSendsGoodbye) {
  const pid_t pid = spawn_worker();
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  EXPECT_EQ(daemon_.hellos[0].name, "w");
  EXPECT_EQ(daemon_.hellos[0].slots, 2U);
  EXPECT_EQ(daemon_.hellos[0].incarnation, 1U);
  const AttemptKey key = key_of(0);
  daemon_.say(proto::Lease{spec_of(key, long_running())});
  daemon_.until("a report", [&] { return !daemon_.reports(key).empty(); });
  const pid_t child = std::stoi(text_of(scratch_.path() / "state/attempts/1-0-1/output/child"));
  ::kill(pid, SIGTERM);
  const int status = wait_for_end(pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << output();
  daemon_.until("GOODBYE", [this] { return daemon_.goodbye; });
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, engine::ExitReport::Cause::ended_by_agent);
  EXPECT_FALSE(runs(child));
}

/// Reports step 1, waits for a file, reports steps 2 and 3 and asks at 3, and ends with status 7 on "stop".
jobs::Entrypoint waiting() {
  return python(R"(
say(type="report", step=1, metrics={"acc": 0.1})
open("../output/pid", "w").write(str(os.getpid()))
import time
while not os.path.exists("../output/go"):
    time.sleep(0.01)
say(type="report", step=2, metrics={"acc": 0.2})
answer = say(type="report", step=3, metrics={"acc": 0.3})
sys.exit(7 if answer["directive"] == "stop" else 8)
)");
}

class TakenOver : public WorkerProgram {
 protected:
  /// A worker with one running program that has reported once.
  pid_t begin() {
    const pid_t pid = spawn_worker();
    daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
    daemon_.say(proto::Lease{spec_of(key_, waiting())});
    daemon_.until("a report", [&] { return !daemon_.reports(key_).empty() && fs::exists(output_ / "pid"); });
    daemon_.until("its pid", [&] { return !text_of(output_ / "pid").empty(); });
    program_ = std::stoi(text_of(output_ / "pid"));
    daemon_.hellos.clear();
    return pid;
  }
  pid_t begin_again() {
    const pid_t pid = spawn_worker();
    daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
    return pid;
  }
  void expect_the_rest() {
    write_text(output_ / "go", "");
    daemon_.until("the question", [&] { return daemon_.reports(key_).size() >= 3; });
    daemon_.say(proto::Decide{key_, {engine::Lsn{5}, engine::Directive::stop, engine::Units{3}}});
    EXPECT_EQ(daemon_.wait_for_exit(key_).code, 7);
    ASSERT_EQ(daemon_.reports(key_).size(), 4U);
    for (std::size_t step = 1; step <= 3; ++step) {
      EXPECT_EQ(std::get<engine::MetricsReport>(daemon_.reports(key_)[step - 1]).step, engine::Units{step});
    }
  }

  const AttemptKey key_ = key_of(0);
  const fs::path directory_ = scratch_.path() / "state/attempts/1-0-1";
  const fs::path output_ = directory_ / "output";
  pid_t program_ = 0;
};

TEST_F(TakenOver, NextWorkerContinuesAfterADeath) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  EXPECT_TRUE(runs(program_));
  begin_again();
  EXPECT_EQ(daemon_.hellos[0].incarnation, 2U);
  ASSERT_EQ(daemon_.hellos[0].held.size(), 1U);
  EXPECT_EQ(daemon_.hellos[0].held[0].key, key_);
  EXPECT_EQ(daemon_.hellos[0].held[0].last_seq, 1U);
  EXPECT_TRUE(runs(program_));
  expect_the_rest();
}

TEST_F(TakenOver, ReportsWhileNoAgentRanAreSent) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  write_text(output_ / "go", "");
  begin_again();
  expect_the_rest();
}

TEST_F(TakenOver, NextWorkerAnswersQuestionsOfTheDeadOne) {
  const pid_t pid = begin();
  write_text(output_ / "go", "");
  daemon_.until("the question", [&] { return daemon_.reports(key_).size() >= 3; });
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  begin_again();
  expect_the_rest();
}

TEST_F(TakenOver, UnseenEndIsReported) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  ::kill(program_, SIGSEGV);
  daemon_.until("its end", [this] { return !fs::exists(directory_ / "process.json"); });
  begin_again();
  const engine::ExitReport exit = daemon_.wait_for_exit(key_);
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::signaled);
  EXPECT_EQ(exit.code, SIGSEGV);
}

TEST_F(TakenOver, WorkerThatIsAskedToLeaveKeepsPrograms) {
  const pid_t pid = begin();
  ::kill(pid, SIGUSR1);
  EXPECT_EQ(wait_for_end(pid), 0) << output();
  EXPECT_FALSE(daemon_.goodbye) << "a goodbye says that its programs are gone";
  EXPECT_TRUE(runs(program_));
  begin_again();
  expect_the_rest();
}

TEST_F(TakenOver, DeadShimEndsItsProgramWithoutAFailure) {
  begin();
  pid_t shim = process_info(program_)->parent;
  ::kill(shim, SIGKILL);
  const engine::ExitReport exit = daemon_.wait_for_exit(key_);
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::lost);
  EXPECT_NE(exit.message.find("hpsearch-shim"), std::string::npos) << exit.message;
  EXPECT_FALSE(runs(program_));
}

TEST_F(TakenOver, ProgramOfADeadShimIsReportedLostByTheNextWorker) {
  const pid_t pid = begin();
  pid_t shim = process_info(program_)->parent;
  ::kill(pid, SIGKILL);
  ::kill(shim, SIGKILL);
  wait_for_end(pid);
  begin_again();
  EXPECT_EQ(daemon_.wait_for_exit(key_).cause, engine::ExitReport::Cause::lost);
  EXPECT_FALSE(runs(program_));
}

TEST_F(TakenOver, AnotherBootOfTheMachineIsReported) {
  const pid_t pid = begin();
  pid_t shim = process_info(program_)->parent;
  ::kill(pid, SIGKILL);
  ::kill(shim, SIGKILL);
  wait_for_end(pid);
  const AttemptDirectory directory(directory_);
  auto record = directory.read_process();
  ASSERT_TRUE(record.has_value());
  record->boot_id = "another";
  ASSERT_TRUE(directory.write_process(*record).has_value());
  begin_again();
  const engine::ExitReport exit = daemon_.wait_for_exit(key_);
  EXPECT_EQ(exit.cause, engine::ExitReport::Cause::lost);
  EXPECT_NE(exit.message.find("restarted"), std::string::npos) << exit.message;
}

TEST_F(TakenOver, UnreadableSpoolLosesNothing) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  fs::rename(directory_ / "spool", scratch_.path() / "spool");
  fs::create_directory(directory_ / "spool");  // Reading it fails even for root.
  const int status = wait_for_end(spawn_worker());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 74);
  EXPECT_NE(output().find((directory_ / "spool").string()), std::string::npos) << output();
  EXPECT_TRUE(daemon_.hellos.empty());
  EXPECT_TRUE(runs(program_));
  fs::remove(directory_ / "spool");
  fs::rename(scratch_.path() / "spool", directory_ / "spool");
  begin_again();
  expect_the_rest();
}

TEST_F(TakenOver, ShimWithoutASocketIsReadAndItsProgramCanBeEnded) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  fs::remove(directory_ / "agent.socket");
  begin_again();
  write_text(output_ / "go", "");
  daemon_.until("the question", [&] { return daemon_.reports(key_).size() >= 3; });
  EXPECT_TRUE(runs(program_));
  daemon_.say(proto::Decide{key_, {engine::Lsn{5}, engine::Directive::kill, engine::Units{3}}});
  EXPECT_EQ(daemon_.wait_for_exit(key_).cause, engine::ExitReport::Cause::ended_by_agent);
  EXPECT_FALSE(runs(program_));
}

TEST_F(TakenOver, UnreadableJournalKillsNoProcess) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  fs::rename(directory_ / "journal", scratch_.path() / "journal");
  fs::create_directory(directory_ / "journal");  // Reading it fails even for root.
  begin_again();
  daemon_.until("it to be told",
                [this] { return output().find("its hpsearch-shim is not reached") != std::string::npos; });
  EXPECT_TRUE(runs(program_));
  fs::remove(directory_ / "journal");
  fs::rename(scratch_.path() / "journal", directory_ / "journal");
  expect_the_rest();
}

TEST_F(TakenOver, KnownDaemonIsKnownToTheNextAgent) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  const std::string identity = text_of(scratch_.path() / "state/worker.json");
  EXPECT_NE(identity.find(R"("store":"0000000000000063")"), std::string::npos) << identity;
  begin_again();
  EXPECT_EQ(daemon_.hello_envelopes.back().cluster, 99U);
  EXPECT_GE(daemon_.hello_envelopes.back().daemon_epoch, 1U);
}

TEST_F(TakenOver, DamagedSpoolIsNamedAndKeptAndItsProgramEnded) {
  const pid_t pid = begin();
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  std::string spool = text_of(directory_ / "spool");
  spool[20] = static_cast<char>(spool[20] ^ 1);
  write_text(directory_ / "spool", spool);
  begin_again();
  EXPECT_TRUE(daemon_.hellos[0].held.empty());
  EXPECT_FALSE(runs(program_));
  EXPECT_EQ(text_of(directory_ / "spool.broken"), spool);
  EXPECT_NE(output().find("1-0-1 is given up"), std::string::npos) << output();
}

TEST_F(WorkerProgram, ChildrenOfTheScriptThatBecameItAreNotAwaited) {
  const fs::path sidecars = scratch_.path() / "sidecars";
  const pid_t pid = spawn_words({"/bin/sh", "-c",
                                 "sleep 1000 & echo $! > " + sidecars.string() +
                                     "; setsid sleep 1000 & echo $! >> " + sidecars.string() + "; exec " +
                                     HPSEARCH_WORKER_BINARY + " --daemon " + daemon_.endpoint() +
                                     " --slots 1 --state-dir " + (scratch_.path() / "state").string()});
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  daemon_.say(proto::Lease{spec_of(key_of(0), shell("true"))});
  EXPECT_EQ(daemon_.wait_for_exit(key_of(0)).code, 0);
  ::kill(pid, SIGTERM);
  EXPECT_EQ(wait_for_end(pid), 0) << output();
  std::istringstream lines(text_of(sidecars));
  int found = 0;
  for (pid_t sidecar = 0; lines >> sidecar; ++found) {
    EXPECT_TRUE(process_info(sidecar).has_value());
    ::kill(sidecar, SIGKILL);
  }
  EXPECT_EQ(found, 2);
}

TEST_F(WorkerProgram, SecondOnAStateDirectoryIsRefused) {
  spawn_worker();
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  const int status = wait_for_end(spawn_worker());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_NE(output().find("in use by another hpsearch-worker"), std::string::npos) << output();
}

TEST_F(WorkerProgram, WrongUseIsReportedInOneSentence) {
  const std::string state = (scratch_.path() / "state").string();
  struct Case {
    std::vector<std::string> arguments;
    const char* words;
  };
  for (const Case& wrong :
       {Case{{"--state-dir", state}, "--daemon"},
        Case{{"--daemon", "nonsense", "--state-dir", state}, "nonsense"},
        Case{{"--daemon", "tcp://127.0.0.1:1", "--state-dir", state, "--slots", "0"}, "--slots"},
        Case{{"--daemon", "tcp://127.0.0.1:1", "--state-dir", state, "--log-level", "loud"}, "loud"}}) {
    fs::remove(scratch_.path() / "output");
    const int status = wait_for_end(spawn(wrong.arguments));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 2) << wrong.words;
    EXPECT_NE(output().find(wrong.words), std::string::npos) << output();
  }
}

TEST_F(WorkerProgram, UnwritableStateDirectoryIsAStorageFailure) {
  write_text(scratch_.path() / "file", "");
  const int status = wait_for_end(
      spawn({"--daemon", daemon_.endpoint(), "--state-dir", (scratch_.path() / "file/state").string()}));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 74) << output();
}

TEST_F(WorkerProgram, RefusalEndsIt) {
  const pid_t pid = spawn_worker();
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  daemon_.say(proto::Refused{"this cluster speaks version 9"});
  const int status = wait_for_end(pid);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_NE(output().find("this cluster speaks version 9"), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::workers::test
