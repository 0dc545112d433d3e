#include "cli/client/state_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::HasSubstr;

TEST(FileLock, IsHeldByOneAndNamesTheHolder) {
  const Scratch scratch;
  const auto file = scratch.path() / "run.lock";
  EXPECT_FALSE(lock_holder(file));
  {
    const auto first = FileLock::take(file, "the thing");
    ASSERT_TRUE(first);
    EXPECT_EQ(lock_holder(file), ::getpid());
    const auto second = FileLock::take(file, "the thing");  // OFD locks exclude even within one process.
    ASSERT_FALSE(second);
    EXPECT_EQ(second.failure().exit, Exit::conflict);
    EXPECT_THAT(second.failure().message, HasSubstr("the thing is in use by another run"));
    EXPECT_THAT(second.failure().message, HasSubstr(std::to_string(::getpid())));
  }
  EXPECT_FALSE(lock_holder(file));
  EXPECT_TRUE(FileLock::take(file, "the thing"));
}

TEST(PrivateDirectory, FailureIsNotReportedAsMissing) {
  const auto made = make_private_directory("/sys/cannot-be-made/search");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.failure().message, HasSubstr("cannot make the directory /sys/cannot-be-made: "));
  EXPECT_THAT(made.failure().message, Not(HasSubstr("No such file")));
}

TEST(RunRecord, ReadsWhatItWrote) {
  const Scratch scratch;
  const StateDirectory state(scratch.path());
  const auto none = load_run_record(state);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);

  RunRecord record;
  record.file = "/a/b.yaml";
  record.context_directory = "/a";
  record.config = Value::Map{{"x", Value::List{1, 0.5, "y"}}};
  record.idempotency_key = "k";
  record.seed = 7;
  record.wall_seconds = 1.5;
  record.slots = 4;
  ASSERT_TRUE(save_run_record(state, record));
  record.experiment = 3;
  ASSERT_TRUE(save_run_record(state, record));

  const auto back = load_run_record(state);
  ASSERT_TRUE(back);
  ASSERT_TRUE(*back);
  EXPECT_EQ(**back, record);
}

TEST(RunRecord, DamagedRecordIsNotTreatedAsMissing) {
  const Scratch scratch;
  scratch.write("run.json", "{\"file\": ");
  const auto broken = load_run_record(StateDirectory(scratch.path()));
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.failure().message, HasSubstr("run.json"));
  EXPECT_THAT(broken.failure().message, HasSubstr("--fresh"));
}

TEST(DaemonFile, IsReadWhenWhole) {
  const Scratch scratch;
  EXPECT_FALSE(read_daemon_file(scratch.path()));
  scratch.write("daemon.json",
                R"({"pid":12,"socket":"unix:///s/api.sock","workers":"tcp://127.0.0.1:8078"})");
  const auto addresses = read_daemon_file(scratch.path());
  ASSERT_TRUE(addresses);
  EXPECT_EQ(addresses->pid, 12);
  EXPECT_EQ(addresses->socket, "unix:///s/api.sock");
  EXPECT_EQ(addresses->workers, "tcp://127.0.0.1:8078");
}

TEST(MoveAside, KeepsEverySearch) {
  const Scratch scratch;
  std::filesystem::path places[2];
  for (auto& place : places) {
    const StateDirectory state(scratch.path() / "digits");
    std::filesystem::create_directory(state.path());
    const auto moved = move_aside(state);
    ASSERT_TRUE(moved);
    place = *moved;
    EXPECT_FALSE(std::filesystem::exists(state.path()));
  }
  EXPECT_NE(places[0], places[1]);
  EXPECT_TRUE(std::filesystem::exists(places[0]));
}

}  // namespace
}  // namespace hpsearch::cli
