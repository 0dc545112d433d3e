#include "daemon/store/tools/copy_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/postgresql/connection.hpp"
#include "daemon/store/postgresql/postgresql_log.hpp"
#include "daemon/store/postgresql/postgresql_store.hpp"
#include "daemon/store/postgresql/server.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

constexpr std::uint64_t events_in_all = 4'500;  // More than one statement of a copy.

/// Events of the tables beside the log, and others.
engine::Event event(std::uint64_t lsn) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(lsn % 7),
                               engine::AttemptNumber(1), engine::LeaseId(4)};
  const engine::Instant at = engine::Instant::from_micros(static_cast<std::int64_t>(lsn));
  if (lsn % 5 == 0) {
    return {engine::Lsn(lsn), at, engine::TrialQueued{key.experiment, key.trial}};
  }
  return {engine::Lsn(lsn), at,
          engine::ReportTaken{key, lsn, engine::MetricsReport{engine::Units(lsn), {{"loss", 0.5}}}}};
}

class CopyLogTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = PostgresqlServer::missing(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    url_.emplace(PostgresqlServer::of_process()->new_schema());
  }

  static void fill(EventStore& store) {
    const auto recovered =
        store.recover([](const engine::Event&) -> engine::Status { return engine::Done{}; });
    ASSERT_TRUE(recovered) << recovered.error().message;
    std::vector<engine::Event> group;
    for (std::uint64_t lsn = 1; lsn <= events_in_all; ++lsn) {
      group.push_back(event(lsn));
      if (lsn % 900 == 0) {
        const auto appended = store.append(group);
        ASSERT_TRUE(appended) << appended.error().message;
        group.clear();
      }
    }
  }

  /// A store in a file with two starts.
  [[nodiscard]] std::unique_ptr<ClosedStore> filled_file() const {
    const std::string path = scratch_.path("events.db");
    {
      auto store = SqliteStore::open(path);
      EXPECT_TRUE(store) << store.error().message;
    }
    {
      auto store = SqliteStore::open(path);
      EXPECT_TRUE(store) << store.error().message;
      fill(**store);
    }
    auto closed = ClosedStore::open(path);
    EXPECT_TRUE(closed) << closed.error().message;
    return std::move(closed).value();
  }

  [[nodiscard]] std::unique_ptr<PostgresqlLog> log() const {
    auto log = PostgresqlLog::open(*url_);
    EXPECT_TRUE(log) << log.error().message;
    return std::move(log).value();
  }

  /// Checks the log and the tables beside it.
  static void expect_tables(StoredLog& log) {
    std::uint64_t metrics = 0;
    std::uint64_t histories = 0;
    const auto read = log.read([&](const RecordView&, const engine::Event& event) {
      metrics += metrics_in(event) != nullptr ? 1U : 0U;
      histories += history_of(event) ? 1U : 0U;
      return log.check_tables(event);
    });
    EXPECT_TRUE(read) << read.error().message;
    const auto sizes = log.check_table_sizes(metrics, histories);
    EXPECT_TRUE(sizes) << sizes.error().message;
    EXPECT_EQ(metrics + histories, events_in_all);
  }

  Scratch scratch_;
  std::optional<DatabaseUrl> url_;
};

TEST_F(CopyLogTest, StoreMovesIntoADatabaseAndBack) {
  const auto file = filled_file();
  const auto copied = copy_log_to_database(*file, *url_);
  ASSERT_TRUE(copied) << copied.error().message;
  const auto in_database = log();
  EXPECT_TRUE(check_same_log(*file, *in_database));
  EXPECT_EQ(in_database->cluster(), file->cluster());
  EXPECT_EQ(in_database->daemon_epoch(), 2U);
  expect_tables(*in_database);

  const std::string back = scratch_.path("back.db");
  const auto returned = copy_log_to_file(*in_database, back, WithSeal::yes);
  ASSERT_TRUE(returned) << returned.error().message;
  {
    const auto closed = ClosedStore::open(back);
    ASSERT_TRUE(closed) << closed.error().message;
    EXPECT_TRUE(check_same_log(*in_database, **closed));
    expect_tables(**closed);
  }
  // Daemons go on in either.
  const auto store = SqliteStore::open(back);
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->daemon_epoch(), 3U);
  const auto there = PostgresqlStore::open(*url_, {"the test", "here"});
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ((*there)->daemon_epoch(), 3U);
  std::uint64_t events = 0;
  const auto recovered = (*there)->recover([&](const engine::Event&) -> engine::Status {
    ++events;
    return engine::Done{};
  });
  EXPECT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(events, events_in_all);
}

TEST_F(CopyLogTest, DatabaseWithEventsIsLeftAsItIs) {
  const auto file = filled_file();
  ASSERT_TRUE(copy_log_to_database(*file, *url_));
  const auto again = copy_log_to_database(*file, *url_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::wrong_state);
  EXPECT_NE(again.error().message.find("has a store with 4500 events already"), std::string::npos);
  EXPECT_TRUE(check_same_log(*file, *log()));
}

TEST_F(CopyLogTest, DatabaseThatADaemonHasIsLeftAsItIs) {
  const auto file = filled_file();
  const auto store = PostgresqlStore::open(*url_, {"a daemon", "here"});
  ASSERT_TRUE(store) << store.error().message;
  const auto refused = copy_log_to_database(*file, *url_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::wrong_state);
  EXPECT_NE(refused.error().message.find("is in use by a daemon"), std::string::npos);
  EXPECT_EQ(log()->holder(), "a daemon");
  EXPECT_NE(log()->cluster(), file->cluster());
}

TEST_F(CopyLogTest, DamagedLogIsNotCopied) {
  {
    const auto file = filled_file();
    ASSERT_TRUE(copy_log_to_database(*file, *url_));
  }
  ASSERT_TRUE(
      Connection(*url_).run_all("UPDATE hpsearch_event_group SET events = set_byte(events, 16, 255 - "
                                "get_byte(events, 16)) WHERE first = "
                                "(SELECT max(first) FROM hpsearch_event_group)"));
  const auto damaged = log();
  const auto copied = copy_log_to_file(*damaged, scratch_.path("new.db"), WithSeal::no);
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code, Errc::corrupt);
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("new.db")));
  // Into an empty database: nothing is there afterwards.
  const DatabaseUrl other = PostgresqlServer::of_process()->new_schema();
  ASSERT_FALSE(copy_log_to_database(*damaged, other));
  const auto empty = PostgresqlLog::open(other);
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ((*empty)->last_lsn(), engine::Lsn(0));
}

TEST_F(CopyLogTest, ChangedTableBesideTheLogIsFound) {
  {
    const auto file = filled_file();
    ASSERT_TRUE(copy_log_to_database(*file, *url_));
  }
  ASSERT_TRUE(Connection(*url_).run_all("UPDATE hpsearch_metric SET step = 0 WHERE seq = 1"));
  EXPECT_FALSE(log()->check_tables(event(1)));
  EXPECT_TRUE(log()->check_tables(event(2)));
  ASSERT_TRUE(Connection(*url_).run_all("DELETE FROM hpsearch_trial_event WHERE lsn = 5"));
  EXPECT_FALSE(log()->check_tables(event(5)));
  EXPECT_TRUE(log()->check_tables(event(10)));
}

TEST_F(CopyLogTest, DatabaseWithoutAStoreIsNamed) {
  const auto log = PostgresqlLog::open(*url_);
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, Errc::not_found);
}

TEST_F(CopyLogTest, LogIsReadAsItWasWhenItWasOpened) {
  const auto store = PostgresqlStore::open(*url_, {"a daemon", "here"});
  ASSERT_TRUE(store) << store.error().message;
  fill(**store);
  const auto before = log();
  ASSERT_TRUE((*store)->append(std::vector<engine::Event>{event(events_in_all + 1)}));
  EXPECT_EQ(before->last_lsn(), engine::Lsn(events_in_all));
  expect_tables(*before);
}

}  // namespace
}  // namespace hpsearch::daemon
