// A shim with a spare, a real program and the agent's client.

#include "hpsearch/workers/shell/shim/waiting_shim.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "hpsearch/workers/shell/shim/shim_client.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;

/// A waiting shim whose program is a script.
class WaitingShims : public ::testing::Test {
 protected:
  void make_spare(const std::string& script) {
    const fs::path program = scratch_.path() / "python3";
    std::ofstream(program) << "#!/bin/sh\n"
                           << "if [ \"$HPSEARCH_SPARE\" != 1 ]; then echo ordinary; until [ -e $HERE/seen ]; "
                              "do sleep 0.01; done; exit 5; fi\n"
                           << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    start_.argv = {program.string(), "-m", "hpsearch.run_function"};
    start_.environment = {
        {"PATH", "/usr/bin:/bin"}, {"HERE", scratch_.path().string()}, {"HPSEARCH_PRELOAD", "torch"}};
    fs::create_directories(place_.root());
    fs::create_directories(attempt_.root());
    LaunchOrder spare;
    spare.program = start_;
    spare.program.directory = "/";
    spare.program.environment["HPSEARCH_SPARE"] = "1";
    spare.program.token = "HPSEARCH_ATTEMPT_MARK=" + place_.root().string();
    spare.program.environment["HPSEARCH_ATTEMPT_MARK"] = place_.root().string();
    ASSERT_TRUE(write_launch_order(place_.launch(), spare));
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    agent_ = Descriptor(ends[0]);
    shim_ = std::make_unique<WaitingShim>(
        loop_, place_, Descriptor(ends[1]), [](const AttemptDirectory&) {}, [this] { is_over_ = true; });
    ASSERT_TRUE(shim_->start());
    pid_ = static_cast<pid_t>(place_.read_process().value().pid);
  }

  /// Makes it run its attempt; returns the program's exit status.
  int run_attempt(const std::string& hash_seed = "") {
    LaunchOrder order;
    order.agent_socket = (scratch_.path() / "agent").string();
    order.report_socket = (scratch_.path() / "report").string();
    order.program = start_;
    order.program.directory = attempt_.root().string();
    order.program.environment["HPSEARCH_TRIAL_NUMBER"] = "3";
    order.program.environment["HPSEARCH_ATTEMPT_MARK"] = order.report_socket;
    if (!hash_seed.empty()) {
      order.program.environment["PYTHONHASHSEED"] = hash_seed;
    }
    order.program.token = "HPSEARCH_ATTEMPT_MARK=" + order.report_socket;
    EXPECT_TRUE(write_launch_order(attempt_.launch(), order));
    std::optional<int> code;
    ShimClient::Handlers handlers;
    handlers.on_started = [this](const JournalStarted&) {
      record_ = attempt_.read_process();
      std::ofstream(scratch_.path() / "seen") << "";
    };
    handlers.on_not_started = [](const std::string& why) { FAIL() << why; };
    handlers.on_message = [](const JournalMessageReceived&, std::uint64_t) {};
    handlers.on_unwritten = [](const std::string& why) { FAIL() << why; };
    handlers.on_stuck = [](const JournalStuck&) {};
    handlers.on_ended = [&](const JournalEnded& how) {
      code = how.by_signal ? -1 : static_cast<int>(how.code);
    };
    handlers.on_lost = [](const std::string& why) { FAIL() << why; };
    ShimClient client(loop_, attempt_, std::move(handlers));
    client.run_in({::getpid(), std::move(agent_)});
    run_until([&] { return code.has_value(); });
    run_until([&] { return is_over_; });
    return code.value_or(-2);
  }

  void run_until(const std::function<bool()>& done) {
    for (int look = 0; look < 3000 && !done(); ++look) {
      const net::Watch soon = loop_.after(std::chrono::milliseconds(10), [this] { loop_.stop(); });
      loop_.run();
    }
    EXPECT_TRUE(done());
  }

  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(scratch_.path() / name); }
  [[nodiscard]] static std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  [[nodiscard]] bool spare_has_ended() const {
    const auto process = process_info(pid_);
    return !process || process->dead();
  }

  Scratch scratch_;
  net::Loop loop_;
  AttemptDirectory place_{scratch_.path() / "spares" / "1-1"};
  AttemptDirectory attempt_{scratch_.path(), key_of(0)};
  ProgramStart start_;
  Descriptor agent_;
  bool is_over_ = false;
  pid_t pid_ = 0;
  std::optional<ProcessRecord> record_;
  std::unique_ptr<WaitingShim> shim_;
};

// A correct spare.
constexpr const char* good_spare =
    "echo imported; echo ready >&0; : > $HERE/ready; cat | tr '\\0' '\\n' > $HERE/given; echo begun >&0; "
    "until [ -e $HERE/seen ]; do sleep 0.01; done; exit 7";

TEST_F(WaitingShims, RunTheAttemptInAReadySpare) {
  make_spare(good_spare);
  run_until([this] { return exists("ready"); });
  EXPECT_EQ(run_attempt(), 7);
  const std::string given = text_of(scratch_.path() / "given");
  EXPECT_TRUE(given.starts_with(attempt_.root().string() + "\n")) << given;
  EXPECT_NE(given.find("\nHPSEARCH_TRIAL_NUMBER=3\n"), std::string::npos) << given;
  EXPECT_EQ(text_of(attempt_.log("stdout")), "imported\n");
  EXPECT_FALSE(fs::exists(place_.root())) << "the spare's directory is left";
  ASSERT_TRUE(record_);
  EXPECT_EQ(record_->pid, pid_);
  EXPECT_EQ(record_->mark, "HPSEARCH_ATTEMPT_MARK=" + place_.root().string());
  EXPECT_EQ(record_->socket, (scratch_.path() / "report").string());
}

TEST_F(WaitingShims, KillAnUnreadySpareAndStartTheProgram) {
  make_spare(": > $HERE/begun; sleep 1000");
  run_until([this] { return exists("begun"); });
  EXPECT_EQ(run_attempt(), 5);
  EXPECT_EQ(text_of(attempt_.log("stdout")), "ordinary\n");
  run_until([this] { return spare_has_ended(); });
  ASSERT_TRUE(record_);
  EXPECT_NE(record_->pid, pid_);
  EXPECT_EQ(record_->mark, "");
}

TEST_F(WaitingShims, KillASpareThatDoesNotFitAndStartTheProgram) {
  make_spare(good_spare);
  run_until([this] { return exists("ready"); });
  EXPECT_EQ(run_attempt("4"), 5);
  run_until([this] { return spare_has_ended(); });
  EXPECT_EQ(text_of(scratch_.path() / "given"), "") << "it was told";
}

TEST_F(WaitingShims, StartTheProgramIfTheSpareWasJustKilled) {
  make_spare(good_spare);
  run_until([this] { return exists("ready"); });
  ASSERT_EQ(::kill(pid_, SIGKILL), 0);
  while (!spare_has_ended()) {  // It isn't reaped meanwhile.
    ::usleep(1000);
  }
  EXPECT_EQ(run_attempt(), 5);
}

// Once, the trial was given to a process that never ran again.
TEST_F(WaitingShims, KillAStoppedSpareAndStartTheProgram) {
  make_spare(good_spare);
  run_until([this] { return exists("ready"); });
  ASSERT_EQ(::kill(pid_, SIGSTOP), 0);
  EXPECT_EQ(run_attempt(), 5);
  EXPECT_EQ(text_of(attempt_.log("stdout")), "ordinary\n");
  run_until([this] { return spare_has_ended(); });
}

TEST_F(WaitingShims, EndWithTheirAgentAndAllProcessesOfTheirSpare) {
  make_spare("sleep 1000 & setsid sleep 1000 & echo $! > $HERE/child.new; mv $HERE/child.new $HERE/child; " +
             std::string(good_spare));
  run_until([this] { return exists("ready") && exists("child"); });
  const auto child = process_info(std::stoi(text_of(scratch_.path() / "child")));
  ASSERT_TRUE(child && !child->dead());
  agent_.reset();
  run_until([this] { return is_over_; });
  EXPECT_TRUE(spare_has_ended());
  const auto after = process_info(child->pid);
  EXPECT_TRUE(!after || after->dead() || after->start_time != child->start_time);
  EXPECT_FALSE(fs::exists(place_.root()));
}

TEST_F(WaitingShims, ReportTheEndOfTheirSpareAndEnd) {
  make_spare("echo first >&2; echo no module named torch >&2; exit 3");
  run_until([this] { return is_over_; });
  std::array<char, 256> said{};
  const auto got = ::recv(agent_.get(), said.data(), said.size(), MSG_DONTWAIT);
  ASSERT_GT(got, 0);
  const auto messages = MessageReader<ToAgent>().feed({said.data(), static_cast<std::size_t>(got)});
  ASSERT_TRUE(messages && messages->size() == 1);
  EXPECT_EQ(std::get<SpareEnded>(messages->front()).why, "exit status 3: no module named torch");
  EXPECT_FALSE(fs::exists(place_.root()));
}

}  // namespace
}  // namespace hpsearch::workers::test
