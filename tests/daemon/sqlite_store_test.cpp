#include "daemon/store/sqlite_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "daemon/scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;

engine::Event event(std::uint64_t lsn, const std::string& text) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(3),
                               engine::LeaseId(4)};
  return engine::Event{engine::Lsn(lsn), engine::Instant::from_micros(static_cast<std::int64_t>(lsn)),
                       engine::ReportTaken{key, lsn, engine::InvalidHparamsReport{text}}};
}

engine::Status recover_nothing(SqliteStore& store) {
  return store.recover([](const engine::Event&) -> engine::Status { return engine::Done{}; });
}

class SqliteStoreTest : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return scratch_.path("events.db"); }

  /// A closed store with three events.
  void make_store() const {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(recover_nothing(**store));
    const std::vector<engine::Event> group{event(1, "one"), event(2, "two"), event(3, "three")};
    ASSERT_TRUE((*store)->append(group));
  }

  /// Changes the closed store behind its back.
  void tamper(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }

  std::string body_of(int lsn) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    sqlite3_stmt* read = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, "SELECT body FROM event WHERE lsn = ?", -1, &read, nullptr),
              SQLITE_OK);
    sqlite3_bind_int(read, 1, lsn);
    EXPECT_EQ(sqlite3_step(read), SQLITE_ROW);
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(read, 0));
    std::string body(bytes, static_cast<std::size_t>(sqlite3_column_bytes(read, 0)));
    sqlite3_finalize(read);
    sqlite3_close(database);
    return body;
  }
  void set_body(int lsn, const std::string& body) const {
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (const char c : body) {
      hex += digits[static_cast<unsigned char>(c) >> 4U];
      hex += digits[static_cast<unsigned char>(c) & 15U];
    }
    tamper("UPDATE event SET body = x'" + hex + "' WHERE lsn = " + std::to_string(lsn));
  }

  engine::Status open_and_recover() const {
    auto store = SqliteStore::open(path());
    return store ? recover_nothing(**store) : engine::Status(store.error());
  }

  void expect_refused(Errc code, const std::string& with) const {
    const auto opened = open_and_recover();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, code) << opened.error().message;
    EXPECT_NE(opened.error().message.find(with), std::string::npos) << opened.error().message;
  }

  Scratch scratch_;
};

TEST_F(SqliteStoreTest, AnyFlippedByteOfABodyIsFoundAndNamed) {
  make_store();
  const std::string body = body_of(2);
  ASSERT_GT(body.size(), 20U);
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string changed = body;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    set_body(2, changed);
    SCOPED_TRACE("byte " + std::to_string(i));
    expect_refused(Errc::corrupt, "event 2 of the log does not match its checksum");
  }
  set_body(2, body);
  EXPECT_TRUE(open_and_recover());
}

// More events than are read ahead at once.
class LongLogTest : public SqliteStoreTest {
 protected:
  static constexpr std::uint64_t length = 5000;

  void SetUp() override {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(recover_nothing(**store));
    std::vector<engine::Event> group;
    for (std::uint64_t lsn = 1; lsn <= length; ++lsn) {
      group.push_back(event(lsn, "event " + std::to_string(lsn)));
    }
    ASSERT_TRUE((*store)->append(group));
  }

  /// Recovers until the visitor has seen `enough`; counts what it was told, in order.
  engine::Status recover_up_to(std::uint64_t enough) {
    auto store = SqliteStore::open(path());
    EXPECT_TRUE(store) << store.error().message;
    return (*store)->recover([&](const engine::Event& told) -> engine::Status {
      ++told_;
      EXPECT_EQ(told.lsn, engine::Lsn(told_));
      const auto* taken = std::get_if<engine::ReportTaken>(&told.body);
      const auto* report = taken != nullptr ? std::get_if<engine::InvalidHparamsReport>(&taken->report) : nullptr;
      EXPECT_TRUE(report != nullptr && report->why == "event " + std::to_string(told_));
      return told_ < enough ? engine::Status(engine::Done{}) : engine::Error{Errc::corrupt, "enough"};
    });
  }

  std::uint64_t told_ = 0;
};

TEST_F(LongLogTest, IsToldFromBeginningToEnd) {
  const auto recovered = recover_up_to(length + 1);
  EXPECT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(told_, length);
}

TEST_F(LongLogTest, EverythingBeforeADamagedEventIsTold) {
  tamper("UPDATE event SET at = at + 1 WHERE lsn = 3001");
  const auto recovered = recover_up_to(length + 1);
  ASSERT_FALSE(recovered);
  EXPECT_NE(recovered.error().message.find("event 3001 of the log does not match its checksum"), std::string::npos)
      << recovered.error().message;
  EXPECT_EQ(told_, 3000U);
}

TEST_F(LongLogTest, TheVisitorsErrorComesBeforeALaterDamage) {
  tamper("UPDATE event SET at = at + 1 WHERE lsn = 1001");
  const auto recovered = recover_up_to(1000);
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().message, "enough");
  EXPECT_EQ(told_, 1000U);
}

TEST_F(SqliteStoreTest, ChangedColumnsAreFoundAndNamed) {
  for (const char* change :
       {"UPDATE event SET at = at + 1 WHERE lsn = 2", "UPDATE event SET epoch = 9 WHERE lsn = 2",
        "UPDATE event SET type = 'trial_ended' WHERE lsn = 2",
        "UPDATE event SET chain = chain + 1 WHERE lsn = 2"}) {
    std::filesystem::remove(path());
    make_store();
    tamper(change);
    expect_refused(Errc::corrupt, "event 2 of the log");
  }
}

TEST_F(SqliteStoreTest, MissingEventIsFoundAndNamed) {
  make_store();
  tamper("DELETE FROM event WHERE lsn = 2");
  expect_refused(Errc::corrupt, "event 2 of the log");
}

TEST_F(SqliteStoreTest, SwappedEventsAreFound) {
  make_store();
  tamper(
      "UPDATE event SET lsn = -1 WHERE lsn = 2; UPDATE event SET lsn = 2 WHERE lsn = 3;"
      "UPDATE event SET lsn = 3 WHERE lsn = -1");
  expect_refused(Errc::corrupt, "event 2 of the log");
}

TEST_F(SqliteStoreTest, MissingEndIsFound) {
  make_store();
  tamper("DELETE FROM event WHERE lsn = 3");
  expect_refused(Errc::corrupt, "the log ends with event 2, but event 3 was stored");
}

TEST_F(SqliteStoreTest, EventsOfAnotherStoreDoNotFit) {
  make_store();
  tamper("UPDATE meta SET value = value + 1 WHERE name = 'cluster'");
  expect_refused(Errc::corrupt, "event 1 of the log");
}

TEST_F(SqliteStoreTest, NewerSchemaIsRefused) {
  make_store();
  tamper("PRAGMA user_version = 99");
  expect_refused(Errc::version_mismatch, "newer");
}

TEST_F(SqliteStoreTest, DatabaseOfAnotherProgramIsRefused) {
  tamper("CREATE TABLE theirs (x)");
  expect_refused(Errc::corrupt, "another program");
}

TEST_F(SqliteStoreTest, FileThatIsNoDatabaseIsRefused) {
  std::ofstream(path()) << std::string(4096, 'x');
  expect_refused(Errc::corrupt, path());
}

TEST_F(SqliteStoreTest, DirectoryThatIsNotThereIsUnavailable) {
  const auto store = SqliteStore::open(scratch_.path("absent/events.db"));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Errc::unavailable);
}

TEST_F(SqliteStoreTest, SecondOpenerIsRefused) {
  make_store();
  const auto first = SqliteStore::open(path());
  ASSERT_TRUE(first);
  expect_refused(Errc::wrong_state, "another process has it open");
}

TEST_F(SqliteStoreTest, WhatWasAppendedSurvivesWithoutAGoodEnd) {
  {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(recover_nothing(**store));
    ASSERT_TRUE((*store)->append(std::vector{event(1, "one")}));
    // As a killed process leaves it: the database and its write-ahead log, never closed.
    std::filesystem::copy_file(path(), scratch_.path("crashed.db"));
    std::filesystem::copy_file(path() + "-wal", scratch_.path("crashed.db-wal"));
  }
  auto store = SqliteStore::open(scratch_.path("crashed.db"));
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(recover_nothing(**store));
  EXPECT_EQ((*store)->last_lsn(), engine::Lsn(1));
}

TEST_F(SqliteStoreTest, FullDiskLosesNothingThatWasAppended) {
  std::uint64_t stored = 0;
  {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(recover_nothing(**store));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 256 * 1024;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    engine::Status appended = engine::Done{};
    while (appended) {
      ASSERT_LT(stored, 1'000U);
      appended = (*store)->append(std::vector{event(stored + 1, std::string(10'000, 'x'))});
      stored += appended ? 1U : 0U;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, handler);
    EXPECT_EQ(appended.error().code, Errc::unavailable) << appended.error().message;
    EXPECT_NE(appended.error().message.find(path()), std::string::npos) << appended.error().message;
    // There is room again, but what the failed write left behind is unknown: only a new start may go on.
    EXPECT_FALSE((*store)->append(std::vector{event(stored + 1, "x")}));
  }
  EXPECT_GT(stored, 0U);
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(recover_nothing(**store));
  EXPECT_EQ((*store)->last_lsn(), engine::Lsn(stored));
}

TEST_F(SqliteStoreTest, DamagedMetricsAreSaid) {
  {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(recover_nothing(**store));
  }
  tamper("INSERT INTO metric VALUES (1, 2, 1, 1, 10, 'not json')");
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store);
  ASSERT_TRUE(recover_nothing(**store));
  const auto points = (*store)->metrics(engine::ExperimentId(1), engine::TrialNumber(2));
  ASSERT_FALSE(points);
  EXPECT_EQ(points.error().code, Errc::corrupt);
}

}  // namespace
}  // namespace hpsearch::daemon
