#include "hpsearch/workers/shell/slots/slot_table.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "scratch.hpp"

// The slot table as files: what counts is who has locks on them.

namespace hpsearch::workers {
namespace {

namespace fs = std::filesystem;

class SlotTableFiles : public testing::Test {
 protected:
  SlotTable open() {
    auto table = SlotTable::open(place());
    EXPECT_TRUE(table) << table.error().message;
    return *std::move(table);
  }
  [[nodiscard]] fs::path place() const { return scratch.path() / "slots"; }

  Scratch scratch;
};

const SlotClaim mine{"cpu-0", "aaaa", "search lr (process 1)", true};

TEST_F(SlotTableFiles, OthersSeeClaimsAndTickets) {
  SlotTable one = open();
  SlotTable other = open();
  ASSERT_TRUE(one.put(mine));
  ASSERT_TRUE(one.put(SlotTicket{"aaaa", "search lr", 7, 2, {"cpu-0", "cpu-1"}}));
  const SlotsOfMachine seen = other.read();
  ASSERT_EQ(seen.claims.size(), 1U);
  EXPECT_EQ(seen.claims[0].slot, "cpu-0");
  EXPECT_EQ(seen.claims[0].who, "search lr (process 1)");
  EXPECT_TRUE(seen.claims[0].busy);
  ASSERT_EQ(seen.tickets.size(), 1U);
  EXPECT_EQ(seen.tickets[0].number, 7U);
  EXPECT_EQ(seen.tickets[0].slots.size(), 2U);
  one.remove(mine);
  one.remove_ticket("aaaa");
  EXPECT_TRUE(other.read().claims.empty());
  EXPECT_TRUE(other.read().tickets.empty());
}

TEST_F(SlotTableFiles, TheSlotOfADeadProcessIsFree) {
  SlotTable table = open();
  const pid_t child = ::fork();
  if (child == 0) {
    auto its = SlotTable::open(place());
    const bool done = its && its->put(mine);
    ::kill(::getpid(), done ? SIGKILL : SIGTERM);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  ASSERT_TRUE(fs::exists(table.claim_file("cpu-0", "aaaa")));
  EXPECT_TRUE(table.read().claims.empty());
  EXPECT_FALSE(fs::exists(table.claim_file("cpu-0", "aaaa")));
}

TEST_F(SlotTableFiles, AShimKeepsTheSlotOfADeadWorker) {
  SlotTable watcher = open();
  std::vector<Descriptor> shim;
  {
    SlotTable worker = open();
    ASSERT_TRUE(worker.put(mine));
    auto held = hold_claims({worker.claim_file("cpu-0", "aaaa").string()});
    ASSERT_TRUE(held) << held.error().message;
    shim = *std::move(held);
  }
  EXPECT_EQ(watcher.read().claims.size(), 1U);
  shim.clear();
  EXPECT_TRUE(watcher.read().claims.empty());
}

TEST_F(SlotTableFiles, AShimWithoutItsSlotDoesNotStart) {
  SlotTable table = open();
  const auto held = hold_claims({table.claim_file("cpu-0", "aaaa").string()});
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message.find("the slot is not this search's any more"), std::string::npos);
}

TEST_F(SlotTableFiles, OneTurnAtATime) {
  const SlotTable one = open();
  const SlotTable other = open();
  {
    const auto turn = one.turn();
    ASSERT_TRUE(turn);
    EXPECT_FALSE(other.turn());
  }
  EXPECT_TRUE(other.turn());
}

TEST_F(SlotTableFiles, FilesOfAnotherReleaseCountAsBusySlots) {
  SlotTable one = open();
  ASSERT_TRUE(one.put(mine));
  std::filesystem::resize_file(one.claim_file("cpu-0", "aaaa"), 3);
  const SlotsOfMachine seen = open().read();
  ASSERT_EQ(seen.claims.size(), 1U);
  EXPECT_EQ(seen.claims[0].slot, "cpu-0");
  EXPECT_EQ(seen.claims[0].worker, "aaaa");
  EXPECT_TRUE(seen.claims[0].busy);
}

TEST_F(SlotTableFiles, ADirectoryThatOthersMayEnterIsRefused) {
  fs::create_directory(place());
  ::chmod(place().c_str(), 0755);
  const auto table = SlotTable::open(place());
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("is not a private directory"), std::string::npos);
  EXPECT_NE(table.error().message.find("HPSEARCH_SLOT_TABLE"), std::string::npos);
}

TEST_F(SlotTableFiles, ALinkIsNotFollowed) {
  fs::create_directory(scratch.path() / "elsewhere");
  ::chmod((scratch.path() / "elsewhere").c_str(), 0700);
  fs::create_symlink(scratch.path() / "elsewhere", place());
  EXPECT_FALSE(SlotTable::open(place()));
}

}  // namespace
}  // namespace hpsearch::workers
