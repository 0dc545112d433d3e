#include "daemon/store/sqlite_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "daemon/store/log_writer.hpp"
#include "daemon/store/sqlite_schema.hpp"
#include "daemon/store/tools/store_seal.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "messages.hpp"
#include "scratch.hpp"

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

  /// A closed store with three events, each appended alone.
  void make_store() const { make_store({{event(1, "one")}, {event(2, "two")}, {event(3, "three")}}); }
  /// The same as one group.
  void make_group() const { make_store({{event(1, "one"), event(2, "two"), event(3, "three")}}); }

  void make_store(const std::vector<std::vector<engine::Event>>& groups) const {
    std::filesystem::remove(path());
    std::filesystem::remove_all(StoreSeal::directory_of(path()));
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(recover_nothing(**store));
    for (const std::vector<engine::Event>& group : groups) {
      ASSERT_TRUE((*store)->append(group));
    }
  }

  /// Changes the closed store without its lock.
  void tamper(const std::string& sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }

  [[nodiscard]] std::int64_t number(const std::string& sql) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    sqlite3_stmt* read = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &read, nullptr), SQLITE_OK) << sql;
    EXPECT_EQ(sqlite3_step(read), SQLITE_ROW);
    const std::int64_t found = sqlite3_column_int64(read, 0);
    sqlite3_finalize(read);
    sqlite3_close(database);
    return found;
  }

  /// The row of a group of events, open for reading and writing in place.
  class Row {
   public:
    Row(const std::string& path, std::int64_t first) {
      EXPECT_EQ(sqlite3_open(path.c_str(), &database_), SQLITE_OK);
      EXPECT_EQ(sqlite3_blob_open(database_, "main", "event_group", "events", first, 1, &blob_), SQLITE_OK);
    }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    ~Row() {
      sqlite3_blob_close(blob_);
      sqlite3_close(database_);
    }

    /// Offset in the row where event `index` begins; it ends where the next one begins.
    [[nodiscard]] int begin_of(int index) const {
      int at = 0;
      for (; index > 0; --index) {
        // Size of the body, after eight bytes for the time; four more contain the chain.
        std::uint32_t size = 0;
        for (int i = 3; i >= 0; --i) {
          size = size << 8U | byte(at + 8 + i);
        }
        at += 16 + static_cast<int>(size);
      }
      return at;
    }
    void flip(int at, unsigned bits) const {
      const auto flipped = static_cast<unsigned char>(byte(at) ^ bits);
      EXPECT_EQ(sqlite3_blob_write(blob_, &flipped, 1, at), SQLITE_OK);
    }

   private:
    [[nodiscard]] unsigned char byte(int at) const {
      unsigned char byte = 0;
      EXPECT_EQ(sqlite3_blob_read(blob_, &byte, 1, at), SQLITE_OK);
      return byte;
    }

    sqlite3* database_ = nullptr;
    sqlite3_blob* blob_ = nullptr;
  };

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
  Scratch other_;
};

TEST_F(SqliteStoreTest, LaterStartEndsCommitsOfTheEarlierOne) {
  SqliteFile file;
  ASSERT_TRUE(file.open(path()));
  ASSERT_TRUE(prepare_schema(file));
  ASSERT_TRUE(file.run("UPDATE meta SET value = 4 WHERE name = 'daemon_epoch'", "cannot write"));
  LogWriter writer;
  ASSERT_TRUE(writer.open(file, 4));
  EXPECT_TRUE(writer.finish());
  ASSERT_TRUE(file.run("UPDATE meta SET value = 5 WHERE name = 'daemon_epoch'", "cannot write"));
  const engine::Status refused = writer.finish();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, engine::Errc::wrong_state);
  EXPECT_MESSAGE(refused.error().message);
}

TEST_F(SqliteStoreTest, AnyFlippedByteOfAnEventIsFoundAndNamed) {
  make_group();
  const auto [begin, end] = [this] {
    const Row row(path(), 1);
    return std::pair(row.begin_of(1), row.begin_of(2));
  }();
  ASSERT_GT(end - begin, 40);
  for (int at = begin; at < end; ++at) {
    const unsigned bit = 1U << (at % 8);
    Row(path(), 1).flip(at, bit);
    SCOPED_TRACE("byte " + std::to_string(at - begin));
    expect_refused(Errc::corrupt, "event 2 of the log");
    Row(path(), 1).flip(at, bit);
  }
  EXPECT_TRUE(open_and_recover());
}

// More events than are read ahead at once.
class LongLogTest : public SqliteStoreTest {
 protected:
  static constexpr std::uint64_t length = 5000;

  void SetUp() override {
    std::vector<engine::Event> group;
    for (std::uint64_t lsn = 1; lsn <= length; ++lsn) {
      group.push_back(event(lsn, "event " + std::to_string(lsn)));
    }
    make_store({group});
  }

  /// Changes the event's time.
  void damage(std::uint64_t lsn) const {
    const std::int64_t first =
        number("SELECT max(first) FROM event_group WHERE first <= " + std::to_string(lsn));
    const Row row(path(), first);
    row.flip(row.begin_of(static_cast<int>(lsn) - static_cast<int>(first)), 1);
  }

  /// Recovers until the visitor has seen `enough`; counts its events, in order.
  engine::Status recover_up_to(std::uint64_t enough) {
    auto store = SqliteStore::open(path());
    EXPECT_TRUE(store) << store.error().message;
    return (*store)->recover([&](const engine::Event& event) -> engine::Status {
      ++visited_;
      EXPECT_EQ(event.lsn, engine::Lsn(visited_));
      const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
      const auto* report =
          taken != nullptr ? std::get_if<engine::InvalidHparamsReport>(&taken->report) : nullptr;
      EXPECT_TRUE(report != nullptr && report->why == "event " + std::to_string(visited_));
      return visited_ < enough ? engine::Status(engine::Done{}) : engine::Error{Errc::corrupt, "enough"};
    });
  }

  std::uint64_t visited_ = 0;
};

TEST_F(LongLogTest, IsReadFromBeginningToEnd) {
  const auto recovered = recover_up_to(length + 1);
  EXPECT_TRUE(recovered) << recovered.error().message;
  EXPECT_EQ(visited_, length);
}

TEST_F(LongLogTest, EventsBeforeADamagedOneAreRead) {
  damage(3001);
  const auto recovered = recover_up_to(length + 1);
  ASSERT_FALSE(recovered);
  EXPECT_MESSAGE(recovered.error().message);
  EXPECT_EQ(visited_, 3000U);
}

TEST_F(LongLogTest, ErrorOfTheVisitorComesBeforeALaterDamage) {
  damage(1001);
  const auto recovered = recover_up_to(1000);
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().message, "enough");
  EXPECT_EQ(visited_, 1000U);
}

TEST_F(LongLogTest, GroupBecomesRowsOfBoundedSize) {
  EXPECT_GT(number("SELECT count(*) FROM event_group"), 2);
  EXPECT_LE(number("SELECT max(length(events)) FROM event_group"), 64 * 1024);
  EXPECT_EQ(number("SELECT sum(count) FROM event_group"), static_cast<std::int64_t>(length));
}

TEST_F(LongLogTest, IsReadFromAnywhere) {
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(recover_nothing(**store));
  for (std::uint64_t after = 0; after <= length; after += 49) {
    const auto read = (*store)->read(engine::Lsn(after), 3);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), std::min<std::uint64_t>(3, length - after));
    for (std::size_t i = 0; i < read->size(); ++i) {
      EXPECT_EQ((*read)[i].lsn, engine::Lsn(after + 1 + i));
    }
  }
}

TEST_F(SqliteStoreTest, EventLargerThanARowIsKept) {
  make_store({{event(1, "one"), event(2, std::string(300'000, 'x')), event(3, "three")}});
  EXPECT_EQ(number("SELECT count(*) FROM event_group"), 3);
  EXPECT_TRUE(open_and_recover());
}

TEST_F(SqliteStoreTest, ChangedColumnsAreFoundAndNamed) {
  for (const char* change : {"UPDATE event_group SET first = 4 WHERE first = 2",
                             "UPDATE event_group SET epoch = 9 WHERE first = 2",
                             "UPDATE event_group SET count = 0 WHERE first = 2",
                             "UPDATE event_group SET events = x'' WHERE first = 2",
                             "UPDATE event_group SET events = x'0011' WHERE first = 2"}) {
    make_store();
    tamper(change);
    SCOPED_TRACE(change);
    expect_refused(Errc::corrupt, "event 2 of the log");
  }
  // Events that the row has beyond its count, or lacks, are found after its last event.
  for (const char* change :
       {"UPDATE event_group SET count = 2 WHERE first = 2",
        "UPDATE event_group SET events = CAST(events || x'00' AS BLOB) WHERE first = 2"}) {
    make_store();
    tamper(change);
    SCOPED_TRACE(change);
    expect_refused(Errc::corrupt, "event 3 of the log");
  }
}

TEST_F(SqliteStoreTest, MissingEventIsFoundAndNamed) {
  make_store();
  tamper("DELETE FROM event_group WHERE first = 2");
  expect_refused(Errc::corrupt, "event 2 of the log is missing; the next one is 3");
}

TEST_F(SqliteStoreTest, SwappedEventsAreFound) {
  make_store();
  tamper(
      "UPDATE event_group SET first = -1 WHERE first = 2; UPDATE event_group SET first = 2 WHERE first = 3;"
      "UPDATE event_group SET first = 3 WHERE first = -1");
  expect_refused(Errc::corrupt, "event 2 of the log");
}

TEST_F(SqliteStoreTest, MissingEndIsFound) {
  make_store();
  tamper("DELETE FROM event_group WHERE first = 3");
  expect_refused(Errc::corrupt, "the log ends with event 2, but event 3 was stored");
}

TEST_F(SqliteStoreTest, EventsOfAnotherStoreDoNotFit) {
  make_store();
  tamper("UPDATE meta SET value = 7 WHERE name = 'cluster'");
  ASSERT_TRUE(StoreSeal::begin(kernel_files(), path(), {7, 1, engine::Lsn(3), true}));
  expect_refused(Errc::corrupt, "event 1 of the log");
}

TEST_F(SqliteStoreTest, AnotherFormatIsRefused) {
  for (const std::string version : {"2", "99"}) {
    make_store();
    tamper("PRAGMA user_version = " + version);
    expect_refused(Errc::version_mismatch, "has store format " + version + "; this release reads format 4");
  }
}

TEST_F(SqliteStoreTest, DatabaseOfAnotherProgramIsRefused) {
  tamper("CREATE TABLE theirs (x)");
  expect_refused(Errc::corrupt, "another program");
}

TEST_F(SqliteStoreTest, FileThatIsNotADatabaseIsRefused) {
  std::ofstream(path()) << std::string(4096, 'x');
  expect_refused(Errc::corrupt, path());
}

TEST_F(SqliteStoreTest, MissingDirectoryIsUnavailable) {
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

TEST_F(SqliteStoreTest, AppendedEventsSurviveAKill) {
  {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(recover_nothing(**store));
    ASSERT_TRUE((*store)->append(std::vector{event(1, "one")}));
    // As a killed process leaves it: the database and its write-ahead log, never closed.
    std::filesystem::copy(scratch_.path(), other_.path("crashed"), std::filesystem::copy_options::recursive);
  }
  auto store = SqliteStore::open(other_.path("crashed/events.db"));
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(recover_nothing(**store));
  EXPECT_EQ((*store)->last_lsn(), engine::Lsn(1));
}

TEST_F(SqliteStoreTest, FullDiskLosesNoAppendedEvent) {
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
    EXPECT_GT(stored, 0U);
    // There is room again, and nothing of the group was committed: it may be given again.
    const auto again = (*store)->append(std::vector{event(stored + 1, std::string(10'000, 'x'))});
    ASSERT_TRUE(again) << again.error().message;
    ++stored;
  }
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store) << store.error().message;
  ASSERT_TRUE(recover_nothing(**store));
  EXPECT_EQ((*store)->last_lsn(), engine::Lsn(stored));
}

TEST_F(SqliteStoreTest, DamagedMetricsAreReported) {
  {
    auto store = SqliteStore::open(path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(recover_nothing(**store));
  }
  tamper("INSERT INTO metric VALUES (1, 2, 1, 1, 10, 0, 'not json')");
  auto store = SqliteStore::open(path());
  ASSERT_TRUE(store);
  ASSERT_TRUE(recover_nothing(**store));
  const auto points = (*store)->metrics(engine::ExperimentId(1), engine::TrialNumber(2), {}, 1'000);
  ASSERT_FALSE(points);
  EXPECT_EQ(points.error().code, Errc::corrupt);
}

}  // namespace
}  // namespace hpsearch::daemon
