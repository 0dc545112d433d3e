#include "daemon/store/postgresql/postgresql_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "contract/event_store_contract.hpp"
#include "daemon/store/postgresql/connection.hpp"
#include "daemon/store/postgresql/libpq.hpp"
#include "daemon/store/postgresql/log_batch.hpp"
#include "daemon/store/postgresql/server.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using testing::HasSubstr;

struct PostgresqlFixture {
  std::optional<DatabaseUrl> url = PostgresqlServer::of_process() != nullptr
                                       ? std::optional(PostgresqlServer::of_process()->new_schema())
                                       : std::nullopt;

  [[nodiscard]] static std::string skipped() { return PostgresqlServer::missing(); }
  [[nodiscard]] std::unique_ptr<EventStore> open() const {
    auto store = PostgresqlStore::open(*url, {"the test", "here"});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Postgresql, EventStoreContract, PostgresqlFixture);

engine::Event event(std::uint64_t lsn) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(3),
                               engine::LeaseId(4)};
  return engine::Event{
      engine::Lsn(lsn), engine::Instant::from_micros(static_cast<std::int64_t>(lsn)),
      engine::ReportTaken{key, lsn, engine::MetricsReport{engine::Units(lsn), {{"loss", 0.5}}}}};
}

class PostgresqlStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = PostgresqlServer::missing(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    url_.emplace(server().new_schema());
  }

  static PostgresqlServer& server() { return *PostgresqlServer::of_process(); }

  [[nodiscard]] engine::Result<std::unique_ptr<PostgresqlStore>> try_to_open(
      const std::string& place, bool take_over = false, const PostgresqlStore::Waiting& waiting = {}) const {
    return PostgresqlStore::open(*url_, {"the daemon of " + place, place, take_over}, waiting);
  }

  /// Opens the store, and reads its log.
  [[nodiscard]] std::unique_ptr<PostgresqlStore> open(const std::string& place,
                                                      bool take_over = false) const {
    auto store = try_to_open(place, take_over);
    EXPECT_TRUE(store) << store.error().message;
    const auto recovered =
        (*store)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; });
    EXPECT_TRUE(recovered) << recovered.error().message;
    return std::move(store).value();
  }

  static void append(PostgresqlStore& store, std::uint64_t first, std::uint64_t last) {
    const auto appended = try_to_append(store, first, last);
    ASSERT_TRUE(appended) << appended.error().message;
  }
  [[nodiscard]] static engine::Status try_to_append(PostgresqlStore& store, std::uint64_t first,
                                                    std::uint64_t last) {
    std::vector<engine::Event> group;
    for (std::uint64_t lsn = first; lsn <= last; ++lsn) {
      group.push_back(event(lsn));
    }
    return store.append(group);
  }

  void change(const std::string& statements) const {
    const auto changed = Connection(*url_).run_all(statements);
    ASSERT_TRUE(changed) << changed.error().message;
  }

  [[nodiscard]] engine::Error error_of_recovery() const {
    auto store = try_to_open("here");
    EXPECT_TRUE(store) << store.error().message;
    const auto recovered =
        (*store)->recover([](const engine::Event&) -> engine::Status { return engine::Done{}; });
    EXPECT_FALSE(recovered);
    return recovered ? engine::Error{} : recovered.error();
  }

  std::optional<DatabaseUrl> url_;
};

TEST_F(PostgresqlStoreTest, DaemonWhoseStoreWasTakenNeverAppendsAgain) {
  auto first = open("first");
  append(*first, 1, 3);
  {
    auto second = open("second", /*take_over=*/true);
    EXPECT_EQ(second->last_lsn(), engine::Lsn(3));
    EXPECT_EQ(second->daemon_epoch(), first->daemon_epoch() + 1);
    const auto refused = try_to_append(*first, 4, 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::wrong_state);
    EXPECT_THAT(refused.error().message, HasSubstr("another daemon (the daemon of second) has taken over"));
    append(*second, 4, 5);
  }
  const auto refused = try_to_append(*first, 4, 4);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_state);
  first.reset();
  EXPECT_EQ(open("third")->last_lsn(), engine::Lsn(5));
}

TEST_F(PostgresqlStoreTest, IdleDaemonNoticesThatItsStoreWasTaken) {
  const auto first = open("first");
  EXPECT_TRUE(first->check_ours());
  const auto second = open("second", /*take_over=*/true);
  engine::Status ours = first->check_ours();
  while (ours) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ours = first->check_ours();
  }
  EXPECT_EQ(ours.error().code, Errc::wrong_state);
  EXPECT_THAT(ours.error().message, HasSubstr("the daemon of second"));
  EXPECT_TRUE(second->check_ours());
}

TEST_F(PostgresqlStoreTest, StoreOfALivingDaemonIsRefused) {
  const auto first = open("first");
  const auto refused = try_to_open("second");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_state);
  EXPECT_THAT(refused.error().message, HasSubstr("is in use by the daemon of first; stop that daemon"));
  EXPECT_TRUE(first->check_ours());
}

TEST_F(PostgresqlStoreTest, StoreOfADeadDaemonIsTakenWhenItsHeartbeatIsOld) {
  static_cast<void>(open("first"));
  change(
      "UPDATE hpsearch_store SET holder = 'a dead daemon', holder_place = 'elsewhere', heartbeat = "
      "clock_timestamp() - interval '10 seconds'");
  std::string why;
  const auto taken = try_to_open("second", false, [&](const std::string& given) { why = given; });
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_THAT(why, testing::AnyOf("", HasSubstr("a dead daemon has the store")));
}

TEST_F(PostgresqlStoreTest, StandbyWaitsForALivingDaemonAndTakesItsStoreWhenItEnds) {
  auto first = open("first");
  append(*first, 1, 2);
  std::atomic<int> waited = 0;
  auto standby = std::async(std::launch::async, [&] {
    return PostgresqlStore::open(*url_, {.name = "the standby", .place = "second", .standby = true},
                                 [&](const std::string&) { ++waited; });
  });
  while (waited < 4) {  // At least as long as between two signs of life.
    ASSERT_EQ(standby.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  }
  append(*first, 3, 3);
  first.reset();
  const auto taken = standby.get();
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ((*taken)->stored_lsn(), engine::Lsn(3));
  EXPECT_EQ((*taken)->daemon_epoch(), 2U);
}

TEST_F(PostgresqlStoreTest, StandbyOutlivesTheAbsenceOfTheDatabase) {
  const auto first = open("first");
  std::atomic<int> waited = 0;
  std::atomic<bool> away = false;
  auto standby = std::async(std::launch::async, [&] {
    return PostgresqlStore::open(*url_, {.name = "the standby", .place = "second", .standby = true},
                                 [&](const std::string& why) {
                                   ++waited;
                                   away = away || why.find("has the store") == std::string::npos;
                                 });
  });
  while (waited == 0) {
    ASSERT_EQ(standby.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  }
  server().stop();
  while (!away) {
    ASSERT_EQ(standby.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  }
  server().start();
  change("UPDATE hpsearch_store SET holder = ''");
  const auto taken = standby.get();
  ASSERT_TRUE(taken) << taken.error().message;
}

TEST_F(PostgresqlStoreTest, KilledDaemonOfTheSamePlaceIsNotWaitedFor) {
  static_cast<void>(open("first"));
  change(
      "UPDATE hpsearch_store SET holder = 'a killed daemon', holder_place = 'first', heartbeat = "
      "clock_timestamp()");
  int waited = 0;
  const auto taken = try_to_open("first", false, [&](const std::string&) { ++waited; });
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(waited, 0);
}

TEST_F(PostgresqlStoreTest, CommitWhoseAnswerWasLostIsNotMadeTwice) {
  auto store = open("first");
  append(*store, 1, 2);
  const std::vector<engine::Event> group{event(3), event(4)};
  {  // The same commit, whose answer the store does not get.
    Connection connection(*url_);
    const auto chain = connection.read("SELECT last_chain FROM hpsearch_store");
    ASSERT_TRUE(chain) << chain.error().message;
    LogBatch batch;
    auto before = static_cast<std::uint32_t>(chain->number(0, 0));
    for (const engine::Event& one : group) {
      const StoredRecord record = make_record(one, store->daemon_epoch(), before);
      before = record.chain;
      batch.add(record.view(), one);
    }
    const auto made = batch.store(connection, store->daemon_epoch(), engine::Lsn(2));
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(*made);
  }
  const auto again = store->append(group);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(store->last_lsn(), engine::Lsn(4));
  append(*store, 5, 5);
  store.reset();
  EXPECT_EQ(open("first")->last_lsn(), engine::Lsn(5));
}

TEST_F(PostgresqlStoreTest, WhileTheDatabaseIsAwayTheSameGroupWaits) {
  auto store = open("first");
  append(*store, 1, 2);
  server().stop();
  const auto away = try_to_append(*store, 3, 5);
  server().start();
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, Errc::unavailable);
  engine::Status stored = try_to_append(*store, 3, 5);
  while (!stored && stored.error().code == Errc::unavailable) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stored = try_to_append(*store, 3, 5);
  }
  ASSERT_TRUE(stored) << stored.error().message;
  store.reset();
  EXPECT_EQ(open("first")->last_lsn(), engine::Lsn(5));
}

TEST_F(PostgresqlStoreTest, ReadsGoOnAfterTheDatabaseWasStartedAgain) {
  const auto store = open("first");
  append(*store, 1, 2);
  server().stop();
  server().start();
  const auto events = store->read(engine::Lsn(0), 10);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->size(), 2U);
}

TEST_F(PostgresqlStoreTest, DatabaseThatLostAcknowledgedEventsEndsTheDaemon) {
  const auto store = open("first");
  append(*store, 1, 2);
  append(*store, 3, 3);
  change(
      "DELETE FROM hpsearch_event_group WHERE first = 3; UPDATE hpsearch_store SET last_lsn = 2, last_chain "
      "= "
      "(SELECT chain FROM hpsearch_event_group WHERE last = 2)");
  for (int i = 0; i < 2; ++i) {
    const auto refused = try_to_append(*store, 4, 4);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::corrupt);
    EXPECT_THAT(refused.error().message, HasSubstr("ends with event 2, but event 3 was acknowledged"));
  }
}

TEST_F(PostgresqlStoreTest, FlippedByteOfAnEventIsFoundAndNamed) {
  {
    const auto store = open("here");
    append(*store, 1, 1);
    append(*store, 2, 2);
  }
  change(
      "UPDATE hpsearch_event_group SET events = set_byte(events, 16, 255 - get_byte(events, 16)) WHERE "
      "first = 2");
  const engine::Error error = error_of_recovery();
  EXPECT_EQ(error.code, Errc::corrupt);
  EXPECT_THAT(error.message, HasSubstr("event 2 of the log does not match its checksum"));
}

TEST_F(PostgresqlStoreTest, MissingEventsAreFound) {
  {
    const auto store = open("here");
    append(*store, 1, 1);
    append(*store, 2, 2);
    append(*store, 3, 3);
  }
  change("DELETE FROM hpsearch_event_group WHERE first = 3");
  EXPECT_THAT(error_of_recovery().message, HasSubstr("ends with event 2, but event 3 was stored"));
  change("DELETE FROM hpsearch_event_group WHERE first = 1");
  EXPECT_THAT(error_of_recovery().message, HasSubstr("event 1 of the log is missing"));
}

TEST_F(PostgresqlStoreTest, OtherFormatIsRefusedAndStaysAsItIs) {
  static_cast<void>(open("here"));
  change("UPDATE hpsearch_store SET format = 99");
  const auto refused = try_to_open("here");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::version_mismatch);
  EXPECT_THAT(refused.error().message, HasSubstr("has store format 99; this release reads format 2"));
}

TEST_F(PostgresqlStoreTest, MissingDatabaseAndServerAreNamed) {
  std::string text = url_->text();
  text.replace(text.find("/postgres?"), 10, "/nowhere?");
  const auto no_database = PostgresqlStore::open(*DatabaseUrl::read(text), {"the test", "here"});
  ASSERT_FALSE(no_database);
  EXPECT_EQ(no_database.error().code, Errc::not_found);
  const auto no_server =
      PostgresqlStore::open(*DatabaseUrl::read("postgresql:///postgres?host=/nowhere"), {"the test", "here"});
  ASSERT_FALSE(no_server);
  EXPECT_EQ(no_server.error().code, Errc::unavailable);
  EXPECT_THAT(no_server.error().message,
              HasSubstr("cannot connect to postgresql:///postgres?host=/nowhere: "));
}

TEST_F(PostgresqlStoreTest, LargeGroupsAreReadInPages) {
  const auto store = open("here");
  for (std::uint64_t first = 1; first <= 200; first += 2) {
    append(*store, first, first + 1);
  }
  const auto all = store->read(engine::Lsn(0), 1'000);
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 200U);
  EXPECT_EQ(all->back().lsn, engine::Lsn(200));
}

TEST(LibPq, MissingLibraryIsNamedWithItsPackage) {
  const auto loaded = LibPq::load("libpq-that-is-missing.so.5");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, Errc::unavailable);
  EXPECT_THAT(loaded.error().message, HasSubstr("Debian's package libpq5"));
}

}  // namespace
}  // namespace hpsearch::daemon
