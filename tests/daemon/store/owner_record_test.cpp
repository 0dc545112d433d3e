#include "daemon/store/files/owner_record.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "daemon/core/state_directory.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Duration;
using engine::Errc;

const OwnerRecord here{"login1", "m1", "b1", 17, 1};

OwnerRecord with(const std::string& host, const std::string& machine, const std::string& boot) {
  return {host, machine, boot, 18, 2};
}

TEST(OwnerRecord, AnotherHostKeepsOutForFiveMinutes) {
  const OwnerRecord there = with("login2", "m2", "b2");
  EXPECT_TRUE(keeps_out(there, Duration::seconds(0), here));
  EXPECT_TRUE(keeps_out(there, Duration::seconds(299), here));
  EXPECT_FALSE(keeps_out(there, Duration::seconds(300), here));
  EXPECT_TRUE(keeps_out(there, Duration::seconds(-3600), here)) << "its clock is ahead of ours";
}

TEST(OwnerRecord, SameHostIsKeptOutByLocksOnly) {
  EXPECT_FALSE(keeps_out(with("login1", "m1", "b1"), Duration::seconds(0), here)) << "another process";
  EXPECT_FALSE(keeps_out(with("login1", "m1", "b0"), Duration::seconds(0), here)) << "before it was booted";
  EXPECT_FALSE(keeps_out(with("container", "", "b1"), Duration::seconds(0), here)) << "of the same kernel";
  EXPECT_TRUE(keeps_out(with("login1", "m2", "b2"), Duration::seconds(0), here)) << "another one of its name";
}

TEST(OwnerRecord, NamesThisProcessAndIsUnique) {
  const OwnerRecord ours = this_owner();
  EXPECT_EQ(ours.pid, ::getpid());
  EXPECT_FALSE(ours.host.empty());
  EXPECT_FALSE(ours.boot.empty());
  EXPECT_NE(ours, this_owner());
}

class OwnerFileTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return scratch_.path("state/owner.json"); }

  void write(const OwnerRecord& record) const {
    scratch_.write("state/owner.json", engine::compact_json(proto::encode_value(record)));
  }
  void age(std::chrono::seconds by) const { fs::last_write_time(path(), fs::last_write_time(path()) - by); }
  [[nodiscard]] engine::Result<std::unique_ptr<StateDirectory>> open(
      StateDirectory::OtherHosts others = StateDirectory::OtherHosts::respected) const {
    return StateDirectory::open(scratch_.path("state"), StateDirectory::NetworkFileSystems::refused,
                                files::file_system_at, others);
  }

  Scratch scratch_;
};

TEST_F(OwnerFileTest, AnotherHostIsRefusedWithoutChanges) {
  write(with("login2", "m2", "b2"));
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_state);
  for (const char* said : {"process 18 on login2", "--take-over", "in use"}) {
    EXPECT_NE(refused.error().message.find(said), std::string::npos) << refused.error().message;
  }
  EXPECT_FALSE(fs::exists(scratch_.path("state/events.db")));
  EXPECT_FALSE(fs::exists(scratch_.path("state/lock")));
  EXPECT_TRUE(open(StateDirectory::OtherHosts::ignored));
}

TEST_F(OwnerFileTest, AnotherHostIsNamedToReaders) {
  const std::string state = scratch_.path("state");
  const auto none = owner_elsewhere(state, here);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  write(with("login2", "m2", "b2"));
  const auto elsewhere = owner_elsewhere(state, here);
  ASSERT_TRUE(elsewhere);
  ASSERT_TRUE(*elsewhere);
  EXPECT_EQ((*elsewhere)->owner.host, "login2");
  EXPECT_EQ((*elsewhere)->owner.pid, 18);
  write(with("login1", "m1", "b1"));
  const auto ours = owner_elsewhere(state, here);
  ASSERT_TRUE(ours);
  EXPECT_FALSE(*ours) << "its locks tell";
}

TEST_F(OwnerFileTest, ExpiredRecordIsTakenOver) {
  write(with("login2", "m2", "b2"));
  age(std::chrono::minutes(5));
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(scratch_.read("state/owner.json").find("login2"), std::string::npos);
}

// On a full disk there is no room for another file beside it, and a daemon that was killed must be able to
// restart.
TEST_F(OwnerFileTest, IsOverwrittenInPlaceOnAFullDisk) {
  write(with("login2", "m2", "b2"));
  age(std::chrono::minutes(5));
  fs::create_directories(path() + ".new");  // Blocks the draft.
  const auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(scratch_.read("state/owner.json").find("login2"), std::string::npos);
  EXPECT_TRUE((*opened)->check_ours());
}

TEST_F(OwnerFileTest, UnreadableRecordCountsAsAnotherOwner) {
  scratch_.write("state/owner.json", "no record");
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_state);
  age(std::chrono::minutes(5));
  EXPECT_TRUE(open());
}

TEST_F(OwnerFileTest, IsRenewedWhenDue) {
  const auto directory = open();
  ASSERT_TRUE(directory);
  age(std::chrono::seconds(20));
  const auto before = fs::last_write_time(path());
  EXPECT_TRUE((*directory)->check_ours());
  EXPECT_EQ(fs::last_write_time(path()), before);
  age(std::chrono::seconds(10));
  EXPECT_TRUE((*directory)->check_ours());
  EXPECT_GT(fs::last_write_time(path()), before);
}

TEST_F(OwnerFileTest, RemovedRecordIsWrittenAgain) {
  const auto directory = open();
  ASSERT_TRUE(directory);
  const std::string record = text_of(path());
  fs::remove(path());
  EXPECT_TRUE((*directory)->check_ours());
  EXPECT_EQ(text_of(path()), record);
}

TEST_F(OwnerFileTest, RecordOfAnotherDaemonEndsThisOne) {
  auto directory = open();
  ASSERT_TRUE(directory);
  ASSERT_TRUE((*directory)->announce({"unix:///x/api.sock", "127.0.0.1:1", "tcp://127.0.0.1:2", "0.1.0", 3}));
  write(with("login2", "m2", "b2"));
  const engine::Status ours = (*directory)->check_ours();
  ASSERT_FALSE(ours);
  EXPECT_MESSAGE(ours.error().message);
  (*directory)->retract();
  directory = engine::Error{Errc::unavailable, "ended"};
  EXPECT_TRUE(fs::exists(path())) << "it is the other daemon's";
  EXPECT_TRUE(fs::exists(scratch_.path("state/daemon.json"))) << "it is the other daemon's";
}

TEST_F(OwnerFileTest, IsRemovedAtACleanEnd) {
  { ASSERT_TRUE(open()); }
  EXPECT_FALSE(fs::exists(path()));
}

}  // namespace
}  // namespace hpsearch::daemon
