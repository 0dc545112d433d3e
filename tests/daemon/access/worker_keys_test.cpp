#include "daemon/keys/worker_keys.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "daemon/daemon_fixture.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

const std::string one = "54fcba24e93249969316fb617c872bb0c1d1ff14800427c594cbfacf1bc2d652";
const std::string two = "bb88471d65e2659b30c55a5321cebb5aab2b70a398645c26dca2b2fcb43fc518";

TEST(WorkerKeys, NoWorkerIsAllowedByDefault) {
  const Scratch scratch;
  WorkerKeys keys(scratch.path(""));
  EXPECT_EQ(keys.name_of(one), std::nullopt);
  const auto all = keys.list();
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->empty());
}

TEST(WorkerKeys, ChangesOfTheFileAreNoticed) {
  const Scratch scratch;
  WorkerKeys reading(scratch.path(""));
  WorkerKeys writing(scratch.path(""));
  EXPECT_EQ(reading.name_of(one), std::nullopt);
  ASSERT_TRUE(writing.allow({"node-1", one}));
  EXPECT_EQ(reading.name_of(one), "node-1");
  EXPECT_EQ(reading.name_of(two), std::nullopt);
  ASSERT_TRUE(writing.allow({"node-1", two})) << "a second key, to change over";
  EXPECT_EQ(reading.name_of(two), "node-1");
  const auto denied = writing.deny(one);
  ASSERT_TRUE(denied);
  EXPECT_EQ(*denied, 1U);
  EXPECT_EQ(reading.name_of(one), std::nullopt);
  EXPECT_EQ(reading.name_of(two), "node-1");
}

TEST(WorkerKeys, VersionChangesWithTheFile) {
  const Scratch scratch;
  WorkerKeys reading(scratch.path(""));
  WorkerKeys writing(scratch.path(""));
  ASSERT_TRUE(writing.allow({"node-1", one}));
  const std::uint64_t first = reading.version();
  EXPECT_EQ(reading.version(), first);
  EXPECT_EQ(reading.name_of(one), "node-1");
  EXPECT_EQ(reading.version(), first);
  ASSERT_TRUE(writing.deny(one));
  EXPECT_NE(reading.version(), first);
}

TEST(WorkerKeys, KeyBelongsToOneWorker) {
  const Scratch scratch;
  WorkerKeys keys(scratch.path(""));
  ASSERT_TRUE(keys.allow({"node-1", one}));
  EXPECT_TRUE(keys.allow({"node-1", one})) << "said twice";
  const auto again = keys.allow({"node-2", one});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::wrong_state);
  EXPECT_EQ(keys.list()->size(), 1U);
}

TEST(WorkerKeys, AnUnreadableFileIsLoggedOnce) {
  const Scratch scratch;
  WorkerKeys keys(scratch.path(""));
  ASSERT_TRUE(keys.allow({"node-1", one}));
  std::filesystem::permissions(scratch.path("worker_keys"), std::filesystem::perms(0666));
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(keys.name_of(one), std::nullopt);
  }
  const std::string log = testing::internal::GetCapturedStderr();
  const std::size_t first = log.find("no worker is allowed");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("no worker is allowed", first + 1), std::string::npos) << log;
}

// Files that others may write were trusted.
TEST(WorkerKeys, FileWritableByOthersAllowsNoWorker) {
  const Scratch scratch;
  WorkerKeys keys(scratch.path(""));
  ASSERT_TRUE(keys.allow({"node-1", one}));
  std::filesystem::permissions(scratch.path("worker_keys"), std::filesystem::perms(0666));
  WorkerKeys again(scratch.path(""));
  EXPECT_EQ(again.name_of(one), std::nullopt);
  const auto listed = again.list();
  ASSERT_FALSE(listed);
  EXPECT_MESSAGE(listed.error().message);
  EXPECT_FALSE(again.allow({"node-2", two})) << "nothing of it is taken over";
  std::filesystem::permissions(scratch.path("worker_keys"), std::filesystem::perms(0600));
  EXPECT_EQ(again.name_of(one), "node-1");
}

TEST(WorkerKeys, UnreadableLineIsNamedAndAllowsNoWorker) {
  const Scratch scratch;
  WorkerKeys keys(scratch.path(""));
  write_text(scratch.path("worker_keys"),
             "# by hand\n\nnode-1 " + one + "\r\nnode-2 " + two + " more\n  node-3\t" + two + "\n");
  EXPECT_EQ(keys.name_of(one), "node-1");
  EXPECT_EQ(keys.name_of(two), "node-3");
  const auto all = keys.list();
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, Errc::corrupt);
  EXPECT_NE(all.error().message.find("worker_keys:4"), std::string::npos) << all.error().message;
  EXPECT_FALSE(keys.allow({"node-4", two}));
  EXPECT_NE(text_of(scratch.path("worker_keys")).find("more"), std::string::npos) << "it is left as it is";
}

/// A port that requires keys; the test decides which keys it accepts.
class GuardedGate : public testing::Test {
 protected:
  GuardedGate() {
    WorkerSessions::Settings settings;
    settings.worker_of_key = [this](const std::string&) { return name; };
    fixture.reopen_gate(std::move(settings));
  }

  DaemonFixture fixture;
  std::optional<std::string> name = "node-1";
};

TEST_F(GuardedGate, WorkerHasTheNameOfItsKey) {
  ScriptedWorker worker(fixture);
  const auto welcome = worker.join();
  EXPECT_EQ(fixture.runtime->engine().workers().at(welcome.worker).name, "node-1");
}

TEST_F(GuardedGate, WorkerCannotActAsAnother) {
  {
    ScriptedWorker worker(fixture);
    worker.join();
  }
  name = "node-2";
  ScriptedWorker worker(fixture);
  worker.send_hello();
  EXPECT_NE(worker.wait_for<proto::Refused>().why.find("node-1"), std::string::npos);
}

TEST_F(GuardedGate, WorkerWithARemovedKeyIsIgnored) {
  ScriptedWorker worker(fixture);
  const auto welcome = worker.join();
  name.reset();
  EXPECT_MESSAGE(worker.wait_for<proto::Refused>().why);
  EXPECT_FALSE(fixture.sessions->connected(welcome.worker));
  worker.send_hello();
  EXPECT_MESSAGE(worker.wait_for<proto::Refused>().why);
}

}  // namespace
}  // namespace hpsearch::daemon
