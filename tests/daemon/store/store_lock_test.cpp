#include "daemon/store/files/store_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/store/sqlite_store.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using Missing = StoreLock::Missing;

engine::Event event(std::uint64_t lsn) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(3),
                               engine::LeaseId(4)};
  return engine::Event{engine::Lsn(lsn), engine::Instant::from_micros(static_cast<std::int64_t>(lsn)),
                       engine::ReportTaken{key, lsn, engine::InvalidHparamsReport{"why"}}};
}

class StoreLockTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return scratch_.path("events.db"); }

  [[nodiscard]] Errc refusal(Missing missing = Missing::refused) const {
    const auto taken = StoreLock::take(path(), missing);
    return taken ? Errc::bad_request : taken.error().code;
  }

  /// Tested in another process: SQLite's locks don't exclude the process that has them.
  [[nodiscard]] bool refused_to_another_process() const {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(refusal() == Errc::wrong_state ? 0 : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  Scratch scratch_;
};

TEST_F(StoreLockTest, IsHeldByOneProcess) {
  EXPECT_EQ(refusal(), Errc::not_found);
  EXPECT_FALSE(std::filesystem::exists(path())) << "looking made it";
  {
    const auto first = StoreLock::take(path(), Missing::made);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(refusal(), Errc::wrong_state);
    EXPECT_TRUE(refused_to_another_process());
  }
  EXPECT_FALSE(refused_to_another_process());
}

// SQLite's own lock is released then: it belongs to the process.
TEST_F(StoreLockTest, SurvivesTheCloseOfAnotherDescriptor) {
  const auto store = SqliteStore::open(path());
  ASSERT_TRUE(store);
  ::close(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(refused_to_another_process());
}

TEST_F(StoreLockTest, IsRefusedWhileAnotherProgramHasTheFileOpenThroughSqlite) {
  { ASSERT_TRUE(SqliteStore::open(path())); }
  SqliteFile shell;
  ASSERT_TRUE(shell.open(path()));
  ASSERT_TRUE(shell.run("SELECT count(*) FROM meta", "cannot read"));
  EXPECT_TRUE(refused_to_another_process());
}

TEST_F(StoreLockTest, RefusedOpenerDoesNotTouchTheWriteAheadLog) {
  const auto store = SqliteStore::open(path());
  ASSERT_TRUE(store);
  ASSERT_TRUE((*store)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; }));
  ASSERT_TRUE((*store)->append(std::vector{event(1)}));
  const int log = ::open((path() + "-wal").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(SqliteStore::open(path()).error().code, Errc::wrong_state);
  EXPECT_EQ(ClosedStore::open(path()).error().code, Errc::wrong_state);
  struct stat ours {};
  struct stat now {};
  ASSERT_EQ(::fstat(log, &ours), 0);
  ASSERT_EQ(::stat((path() + "-wal").c_str(), &now), 0);
  EXPECT_EQ(ours.st_ino, now.st_ino);
  ::close(log);
}

TEST_F(StoreLockTest, StoreThatIsBeingReadIsNotOpened) {
  { ASSERT_TRUE(SqliteStore::open(path())); }
  const auto reader = ClosedStore::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(SqliteStore::open(path()).error().code, Errc::wrong_state);
}

}  // namespace
}  // namespace hpsearch::daemon
