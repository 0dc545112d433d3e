// An agent's client of a shim that it can't reach; the shim is this test.

#include "hpsearch/workers/shell/shim/shim_client.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "hpsearch/workers/shell/files.hpp"
#include "hpsearch/workers/shell/journal.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/scarcity.hpp"

namespace hpsearch::workers::test {
namespace {

class UnreachableShim : public testing::Test {
 protected:
  UnreachableShim() : directory_(scratch_.path(), key_of(0)) {
    std::filesystem::create_directories(directory_.root());
    LaunchOrder order;
    order.agent_socket = (scratch_.path() / "gone").string();
    EXPECT_TRUE(write_launch_order(directory_.launch(), order));
    auto journal = JournalWriter::open(directory_.journal());
    EXPECT_TRUE(journal);
    journal_ = *std::move(journal);
    program_ = ::fork();
    if (program_ == 0) {
      ::setsid();
      ::pause();
      ::_exit(0);
    }
    EXPECT_TRUE(directory_.write_process({.pid = program_,
                                          .start_time = process_info(program_)->start_time,
                                          .boot_id = boot_id(),
                                          .socket = "/shim/link/test"}));
    EXPECT_TRUE(journal_->append(JournalStarted{"process table"}, false));
    ShimClient::Handlers handlers;
    handlers.on_started = [this](const JournalStarted&) { note("started"); };
    handlers.on_not_started = [this](const std::string& why) { note("not started: " + why); };
    handlers.on_message = [this](const JournalMessageReceived& said, std::uint64_t) {
      note(std::get<RemarkMessage>(said.message).log);
    };
    handlers.on_unwritten = [this](const std::string& why) { note("unwritten: " + why); };
    handlers.on_stuck = [this](const JournalStuck&) { note("stuck"); };
    handlers.on_ended = [this](const JournalEnded&) { note("ended"); };
    handlers.on_lost = [this](const std::string& why) { note("lost: " + why); };
    link_ = std::make_unique<ShimClient>(loop_, directory_, std::move(handlers));
  }
  ~UnreachableShim() override {
    ::kill(program_, SIGKILL);
    ::waitpid(program_, nullptr, 0);
  }

  void note(const std::string& what) {
    heard_.push_back(what);
    loop_.stop();
  }
  void wait_for(std::size_t notes) {
    while (heard_.size() < notes) {
      loop_.run();
    }
  }

  Scratch scratch_;
  net::Loop loop_;
  AttemptDirectory directory_;
  std::optional<JournalWriter> journal_;
  pid_t program_ = 0;
  std::vector<std::string> heard_;
  std::unique_ptr<ShimClient> link_;
};

TEST(ShimClientStart, ShortageOfFilesIsTheMachinesFault) {
  const Scratch scratch;
  net::Loop loop;
  ShimClient link(loop, AttemptDirectory(scratch.path(), key_of(0)), {});
  const NoMoreFiles none;
  const auto started = link.start("/bin/true");
  ASSERT_FALSE(started.has_value());
  EXPECT_TRUE(reports_scarcity(started.error().message)) << started.error().message;
}

TEST_F(UnreachableShim, IsReadThroughItsJournal) {
  link_->attach(0);
  wait_for(1);
  ASSERT_TRUE(journal_->append(JournalMessageReceived{0, false, RemarkMessage{"a line"}}, false));
  wait_for(2);
  ASSERT_TRUE(journal_->append(JournalEnded{}, false));
  wait_for(3);
  EXPECT_EQ(heard_, (std::vector<std::string>{"started", "a line", "ended"}));
}

TEST_F(UnreachableShim, DoesNotPreventTheKillOfItsProgram) {
  link_->attach(0);
  wait_for(1);
  link_->signal(ShimClient::Signal::kill);
  int status = 0;
  const net::Watch look = loop_.every(std::chrono::milliseconds(2), [&] {
    if (::waitpid(program_, &status, WNOHANG) == program_) {
      loop_.stop();
    }
  });
  while (!WIFSIGNALED(status)) {
    loop_.run();
  }
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(heard_.size(), 1U) << "the shim tells how it ended";
}

/// An agent's own shim that ends before it has a journal.
class MissingJournal : public testing::Test {
 protected:
  MissingJournal() : directory_(scratch_.path(), key_of(0)) {
    std::filesystem::create_directories(directory_.root());
    ShimClient::Handlers handlers;
    handlers.on_started = [](const JournalStarted&) { ADD_FAILURE(); };
    handlers.on_not_started = [this](const std::string& why) { note("not started: " + why); };
    handlers.on_message = [](const JournalMessageReceived&, std::uint64_t) { ADD_FAILURE(); };
    handlers.on_unwritten = [this](const std::string& why) { note("unwritten: " + why); };
    handlers.on_stuck = [](const JournalStuck&) { ADD_FAILURE(); };
    handlers.on_ended = [](const JournalEnded&) { ADD_FAILURE(); };
    handlers.on_lost = [this](const std::string& why) { note("lost: " + why); };
    link_ = std::make_unique<ShimClient>(loop_, directory_, std::move(handlers));
  }
  void note(const std::string& what) {
    heard_.push_back(what);
    loop_.stop();
  }

  Scratch scratch_;
  net::Loop loop_;
  AttemptDirectory directory_;
  std::vector<std::string> heard_;
  std::unique_ptr<ShimClient> link_;
};

TEST_F(MissingJournal, EndsTheAttemptOfOurOwnShim) {
  ASSERT_TRUE(link_->start("/bin/false"));
  std::filesystem::remove_all(directory_.root());
  std::filesystem::create_symlink("/sys", directory_.root());  // No files can be made there.
  loop_.run();
  ASSERT_EQ(heard_.size(), 1U);
  EXPECT_TRUE(heard_[0].starts_with("lost: cannot write")) << heard_[0];
}

TEST_F(MissingJournal, WithoutItsDirectoryEndsTheAttempt) {
  std::filesystem::remove_all(directory_.root());
  link_->attach(0);
  loop_.run();
  ASSERT_EQ(heard_.size(), 1U);
  EXPECT_TRUE(heard_[0].starts_with("lost: ")) << heard_[0];
}

}  // namespace
}  // namespace hpsearch::workers::test
