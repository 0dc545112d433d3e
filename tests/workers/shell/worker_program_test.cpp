// The hpsearch-worker binary as operators meet it.

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

#include "hpsearch/workers/shell/process_table.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/scratch.hpp"

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
      ::kill(pid, SIGKILL);
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

/// A program that reports, and writes down which process its child is.
engine::Entrypoint long_running() {
  return shell(R"(sleep 1000 & echo $! > ../output/child; )"
               R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; wait)");
}

TEST_F(WorkerProgram, EndsItsProgramsOnSigtermAndSaysGoodbye) {
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

TEST_F(WorkerProgram, AfterItsDeathTheNextOneEndsWhatItLeft) {
  const pid_t pid = spawn_worker();
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  const AttemptKey key = key_of(0);
  daemon_.say(proto::Lease{spec_of(key, long_running())});
  daemon_.until("a report", [&] { return !daemon_.reports(key).empty(); });
  const fs::path directory = scratch_.path() / "state/attempts/1-0-1";
  const pid_t child = std::stoi(text_of(directory / "output/child"));
  ::kill(pid, SIGKILL);
  wait_for_end(pid);
  EXPECT_TRUE(process_info(child).has_value());

  daemon_.hellos.clear();
  const pid_t next = spawn_worker();
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  EXPECT_EQ(daemon_.hellos[0].incarnation, 2U);
  EXPECT_TRUE(daemon_.hellos[0].held.empty());
  EXPECT_FALSE(runs(child));
  EXPECT_FALSE(fs::exists(directory / "work"));
  EXPECT_TRUE(fs::exists(directory / "stdout.log"));
  ::kill(next, SIGTERM);
  EXPECT_EQ(wait_for_end(next), 0);
}

TEST_F(WorkerProgram, ChildrenOfTheScriptThatBecameItAreNotItsBusiness) {
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

TEST_F(WorkerProgram, TwoOnOneStateDirectoryIsAConflict) {
  spawn_worker();
  daemon_.until("HELLO", [this] { return !daemon_.hellos.empty(); });
  const int status = wait_for_end(spawn_worker());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 4);
  EXPECT_NE(output().find("in use by another hpsearch-worker"), std::string::npos) << output();
}

TEST_F(WorkerProgram, WrongUseIsSaidInOneSentence) {
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

TEST_F(WorkerProgram, AStateDirectoryThatCannotBeWrittenIsAStorageFailure) {
  write_text(scratch_.path() / "file", "");
  const int status = wait_for_end(
      spawn({"--daemon", daemon_.endpoint(), "--state-dir", (scratch_.path() / "file/state").string()}));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 74) << output();
}

TEST_F(WorkerProgram, ARefusalEndsIt) {
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
