// Data that counts as durable was synced. No other test would notice a missing sync, because a killed process
// loses nothing.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/journal.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace {

std::atomic<int> syncs = 0;
std::atomic<bool> disk_fails = false;

int sync_by(long call, int file) {
  ++syncs;
  if (disk_fails) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(call, file));
}

}  // namespace

// Replaces the C library's function in this program.
extern "C" int fsync(int file) {
  return sync_by(SYS_fsync, file);
}
extern "C" int fdatasync(int file) {
  return sync_by(SYS_fdatasync, file);
}

namespace hpsearch::workers::test {
namespace {

class Durability : public testing::Test {
 protected:
  Durability() : directory_(scratch_.path(), key_of(0)) {
    std::filesystem::create_directories(directory_.root());
  }
  ~Durability() override { disk_fails = false; }

  /// The number of syncs.
  template <class Work>
  int syncs_of(Work work) {
    syncs = 0;
    work();
    return syncs;
  }

  Scratch scratch_;
  AttemptDirectory directory_;
};

TEST_F(Durability, SpoolAndItsNameAreSynced) {
  EXPECT_GE(syncs_of([&] { EXPECT_TRUE(directory_.write_spool("anew", true)); }), 2);
  EXPECT_GE(syncs_of([&] { EXPECT_TRUE(directory_.write_spool(" and more", false)); }), 1);
  disk_fails = true;
  EXPECT_FALSE(directory_.write_spool(" and more", false));
  EXPECT_FALSE(directory_.write_spool("anew", true));
}

TEST_F(Durability, JournalIsSyncedAsConfigured) {
  auto journal = JournalWriter::open(directory_.journal());
  ASSERT_TRUE(journal);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(journal->append(JournalStarted{"process table"}, true)); }), 1);
  EXPECT_EQ(syncs_of([&] {
              EXPECT_TRUE(journal->append(JournalMessageReceived{0, false, RemarkMessage{"a line"}}, false));
            }),
            0);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(journal->append(JournalEnded{}, true)); }), 1);
}

TEST_F(Durability, FailedSyncDoesNotDuplicateARecord) {
  auto journal = JournalWriter::open(directory_.journal());
  ASSERT_TRUE(journal);
  disk_fails = true;
  EXPECT_TRUE(journal->append(JournalEnded{}, true)) << "it would be written again";
  EXPECT_EQ(journal->size(), std::filesystem::file_size(directory_.journal()));
}

}  // namespace
}  // namespace hpsearch::workers::test
