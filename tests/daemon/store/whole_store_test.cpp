#include "daemon/store/tools/whole_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/files/placed_files.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "daemon/store/tools/closed_store.hpp"
#include "daemon/store/tools/salvage.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Lsn;

engine::Event event(std::uint64_t lsn) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(3),
                               engine::LeaseId(4)};
  return engine::Event{engine::Lsn(lsn), engine::Instant::from_micros(static_cast<std::int64_t>(lsn)),
                       engine::ReportTaken{key, lsn, engine::InvalidHparamsReport{"why"}}};
}

engine::Status recover(SqliteStore& store) {
  return store.recover([](const engine::Event&) -> engine::Status { return engine::Done{}; });
}

void append(SqliteStore& store, std::uint64_t upto) {
  while (store.last_lsn() < Lsn(upto)) {
    ASSERT_TRUE(store.append(std::vector{event(store.last_lsn().number() + 1)}));
  }
}

/// Does in a test what a message recommends.
std::string command_in(const std::string& message) {
  const std::size_t at = message.find("ln -f ");
  return at == std::string::npos ? "" : message.substr(at);
}

/// A directory with a store of nine events, whose daemon was killed: everything after event 3 is in the
/// write-ahead log.
class KilledDaemon : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(live());
    {
      auto store = SqliteStore::open(live("events.db"));
      ASSERT_TRUE(store) << store.error().message;
      ASSERT_TRUE(recover(**store));
      append(**store, 3);
    }
    auto store = SqliteStore::open(live("events.db"));
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(recover(**store));
    append(**store, 6);
    copy(live(), scratch_.path("older"));
    append(**store, 9);
    copy(live(), scratch_.path("killed"));
    copy(live(), scratch_.path("state"));
  }

  /// With the second names of its files, as cp -a does.
  static void copy(const std::string& from, const std::string& to) {
    fs::copy(from, to, fs::copy_options::recursive);
    for (const char* name : {"events.db", "events.db-wal"}) {
      fs::remove(to + "/sealed/" + name);
      fs::create_hard_link(to + "/" + name, to + "/sealed/" + name);
    }
  }

  [[nodiscard]] std::string live(const std::string& name = "") const { return scratch_.path("live/" + name); }
  [[nodiscard]] std::string older(const std::string& name) const { return scratch_.path("older/" + name); }
  [[nodiscard]] std::string state(const std::string& name = "") const {
    return scratch_.path("state/" + name);
  }
  [[nodiscard]] std::string database() const { return state("events.db"); }

  void put_older(const std::string& name) const {
    fs::copy(older(name), state("copy"));
    fs::rename(state("copy"), state(name));
  }

  [[nodiscard]] std::map<std::string, std::pair<std::uint64_t, std::size_t>> files() const {
    std::map<std::string, std::pair<std::uint64_t, std::size_t>> found;
    for (const auto& entry : fs::recursive_directory_iterator(state())) {
      if (entry.is_regular_file()) {
        found[entry.path()] = {kernel_files().identity(entry.path())->file,
                               std::hash<std::string>{}(text_of(entry.path()))};
      }
    }
    return found;
  }

  /// Refused, without a change, and with a message that contains `what`.
  std::string expect_refused(const std::string& what) const {
    const auto before = files();
    const auto store = SqliteStore::open(database());
    EXPECT_FALSE(store) << "started as if nothing had happened";
    if (store) {
      return "";
    }
    EXPECT_EQ(store.error().code, Errc::not_found) << store.error().message;
    EXPECT_NE(store.error().message.find(what), std::string::npos) << store.error().message;
    EXPECT_EQ(files(), before);
    return store.error().message;
  }

  void expect_whole() const {
    auto store = SqliteStore::open(database());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(recover(**store));
    EXPECT_EQ((*store)->last_lsn(), Lsn(9));
  }

  Scratch scratch_;
};

TEST_F(KilledDaemon, CleanEndNeedsNoLogAndNoSecondNames) {
  expect_whole();
  EXPECT_FALSE(fs::exists(database() + "-wal"));
  EXPECT_EQ(fs::file_size(state("sealed/events.db-wal")), 0U);
  fs::remove(state("sealed/events.db"));
  fs::remove(state("sealed/events.db-wal"));
  expect_whole();
}

TEST_F(KilledDaemon, CopiedStoreIsWhole) {
  expect_whole();
}

TEST_F(KilledDaemon, IncompleteStoreIsRefusedWithACommandThatRestoresIt) {
  const std::string log = database() + "-wal";
  const std::vector<std::pair<std::function<void()>, std::string>> ways{
      {[&] { fs::remove(log); }, "the write-ahead log " + log + " is missing"},
      {[&] { fs::remove(database()); }, "the database " + database() + " is missing"},
      {[&] { fs::remove(log), fs::remove(database()); }, "the database " + database() + " is missing"},
      {[&] { fs::rename(database(), state("events.db.bak")); }, "the database " + database() + " is missing"},
      {[&] { fs::remove(database()), write_text(database(), ""); },
       "the database " + database() + " is empty"},
      {[&] { put_older("events.db-wal"); }, "event 6 of start 2"},
      {[&] { put_older("events.db"), put_older("events.db-wal"); }, "event 6 of start 2"},
      {[&] { put_older("events.db"), fs::remove(log); }, "the write-ahead log " + log + " is missing"},
  };
  for (const auto& [take_away, what] : ways) {
    fs::remove_all(state());
    copy(scratch_.path("killed"), scratch_.path("state"));
    take_away();
    const std::string message = expect_refused(what);
    SCOPED_TRACE(message);
    EXPECT_MESSAGE(message);
    ASSERT_EQ(std::system(command_in(message).c_str()), 0);
    expect_whole();
  }
}

// Everything may have been moved out of the log, or only a part of neighbouring pages: it is unknown which.
TEST_F(KilledDaemon, StoreWithoutItsLogIsRefusedEvenIfItSeemsComplete) {
  {
    SqliteFile file;
    ASSERT_TRUE(file.open(database()));
    ASSERT_TRUE(file.run("PRAGMA locking_mode=EXCLUSIVE; SELECT count(*) FROM meta", "cannot read"));
    ASSERT_TRUE(file.empty_log());
  }
  ASSERT_FALSE(fs::exists(database() + "-wal"));
  expect_refused("the write-ahead log " + database() + "-wal is missing");
}

TEST_F(KilledDaemon, OlderLogWithANewerDatabaseIsRefused) {
  {
    auto store = SqliteStore::open(database());
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(recover(**store));
    append(**store, 400);
  }
  const auto store = SqliteStore::open(database());
  ASSERT_TRUE(store) << store.error().message;
  fs::copy(state(), scratch_.path("torn"), fs::copy_options::recursive);
  const std::string torn = scratch_.path("torn/events.db");
  for (const char* name : {"", "-wal"}) {
    fs::remove(second_name_of(torn) + name);
    fs::create_hard_link(torn + name, second_name_of(torn) + name);
  }
  fs::copy(older("events.db-wal"), scratch_.path("torn/copy"));
  fs::rename(scratch_.path("torn/copy"), torn + "-wal");
  const auto refused = SqliteStore::open(torn);
  ASSERT_FALSE(refused);
  ASSERT_EQ(std::system(command_in(refused.error().message).c_str()), 0) << refused.error().message;
  auto again = SqliteStore::open(torn);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(recover(**again));
  EXPECT_EQ((*again)->last_lsn(), Lsn(400));
}

TEST_F(KilledDaemon, StoreOfAnotherDaemonIsRefused) {
  fs::create_directory(scratch_.path("other"));
  {
    auto store = SqliteStore::open(scratch_.path("other/events.db"));
    ASSERT_TRUE(store);
    ASSERT_TRUE(recover(**store));
    append(**store, 20);
  }
  fs::remove(database() + "-wal");
  write_text(database() + "-wal", "");
  fs::rename(scratch_.path("other/events.db"), database());
  const std::string message = expect_refused("another store");
  ASSERT_EQ(std::system(command_in(message).c_str()), 0) << message;
  expect_whole();
}

TEST_F(KilledDaemon, LossIsReportedAndTheRestCanBeSalvaged) {
  fs::remove(database() + "-wal");
  fs::remove(state("sealed/events.db-wal"));
  const std::string message = expect_refused("events.db-wal is missing");
  EXPECT_EQ(command_in(message), "");
  EXPECT_MESSAGE(message);
  auto closed = ClosedStore::open(database());
  ASSERT_TRUE(closed) << closed.error().message;
  const auto saved = salvage(**closed, scratch_.path("new.db"), engine::Instant{});
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(saved->kept, Lsn(3));
  EXPECT_EQ(saved->stored, Lsn(9));
  EXPECT_MESSAGE(saved->damage);
  EXPECT_TRUE(SqliteStore::open(scratch_.path("new.db"))) << "a salvaged store has a seal of its own";
}

TEST_F(KilledDaemon, StoreWithoutASealIsRefused) {
  const std::string seal = StoreSeal::path_of(database());
  fs::remove(seal);
  EXPECT_NE(expect_refused(seal + " is missing").find("hpsearch store restore " + database() + " --to"),
            std::string::npos);
  write_text(seal, "no seal");
  expect_refused(seal + " is damaged");
  // Not even the database of its first start, without its log and other files.
  fs::remove_all(state());
  fs::create_directory(state());
  fs::copy(live("events.db"), database());
  expect_refused(seal + " is missing");
}

TEST_F(KilledDaemon, LogWithoutDatabaseAndSealIsNotOverwritten) {
  fs::remove(database());
  fs::remove_all(state("sealed"));
  expect_refused("there is " + database() + "-wal");
}

TEST(NewStore, IsBegunInAnEmptyDirectory) {
  const Scratch scratch;
  EXPECT_TRUE(check_whole(kernel_files(), scratch.path("events.db")));
  // As a daemon leaves it that was killed during its first start.
  scratch.write("events.db", "");
  EXPECT_TRUE(check_whole(kernel_files(), scratch.path("events.db")));
  EXPECT_TRUE(SqliteStore::open(scratch.path("events.db")));
}

TEST(NewStore, DoesNotReplaceTheSecondNameOfAnOlderOne) {
  const Scratch scratch;
  { ASSERT_TRUE(SqliteStore::open(scratch.path("events.db"))); }
  {
    auto closed = ClosedStore::open(scratch.path("events.db"));
    ASSERT_TRUE(closed);
    ASSERT_TRUE((*closed)->copy_to(scratch.path("backup")));
  }
  fs::remove(scratch.path("events.db"));
  auto backup = ClosedStore::open(scratch.path("backup"));
  ASSERT_TRUE(backup);
  const auto restored = salvage(**backup, scratch.path("events.db"), engine::Instant{});
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find(scratch.path("sealed/events.db")), std::string::npos)
      << restored.error().message;
}

/// A store that is being written to.
class RunningStore : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = SqliteStore::open(path());
    ASSERT_TRUE(opened) << opened.error().message;
    store_ = std::move(opened).value();
    ASSERT_TRUE(recover(*store_));
    append(*store_, 3);
  }

  [[nodiscard]] std::string path() const { return scratch_.path("state/events.db"); }

  Scratch scratch_;
  const std::string made_ = scratch_.write("state/note", "");
  std::unique_ptr<SqliteStore> store_;
};

TEST_F(RunningStore, DetectsReplacedFilesBeforeItAcknowledges) {
  const std::vector<std::pair<std::function<void()>, std::string>> ways{
      {[&] { fs::remove(path()); }, "events.db was removed or renamed"},
      {[&] { fs::remove(path() + "-wal"); }, "events.db-wal was removed or renamed"},
      {[&] { fs::rename(path(), path() + ".bak"); }, "events.db was removed or renamed"},
      {[&] { fs::copy(path(), path() + ".copy"), fs::rename(path() + ".copy", path()); },
       "events.db was replaced"},
      {[&] { fs::copy(path() + "-wal", path() + ".copy"), fs::rename(path() + ".copy", path() + "-wal"); },
       "events.db-wal was replaced"},
      {[&] { fs::rename(scratch_.path("state"), scratch_.path("moved")); },
       "events.db was removed or renamed"},
  };
  for (const auto& [take_away, what] : ways) {
    store_.reset();
    fs::remove_all(scratch_.path("state"));
    fs::create_directory(scratch_.path("state"));
    ASSERT_NO_FATAL_FAILURE(SetUp());
    ASSERT_TRUE(store_->check_ours());
    take_away();
    const engine::Status placed = store_->check_ours();
    ASSERT_FALSE(placed) << what;
    EXPECT_NE(placed.error().message.find(what), std::string::npos) << placed.error().message;
    const engine::Status appended = store_->append(std::vector{event(4)});
    ASSERT_FALSE(appended) << what;
    EXPECT_EQ(appended.error().code, Errc::corrupt);
    EXPECT_NE(appended.error().message.find(what), std::string::npos) << appended.error().message;
    EXPECT_FALSE(store_->append(std::vector{event(4)}))
        << "the files may be back, but not what happened meanwhile";
  }
}

TEST_F(RunningStore, CloseLeavesReplacementsOfItsFilesUnchanged) {
  fs::rename(path(), path() + ".bak");
  fs::rename(path() + "-wal", path() + ".bak-wal");
  write_text(path(), "somebody's database");
  write_text(path() + "-wal", "somebody's log");
  store_.reset();
  EXPECT_EQ(text_of(path()), "somebody's database");
  EXPECT_EQ(text_of(path() + "-wal"), "somebody's log");
  EXPECT_GT(fs::file_size(path() + ".bak-wal"), 0U);
}

TEST_F(RunningStore, CloseLeavesAForeignLogUnchanged) {
  fs::rename(path() + "-wal", path() + ".bak-wal");
  write_text(path() + "-wal", "somebody's log");
  store_.reset();
  EXPECT_EQ(text_of(path() + "-wal"), "somebody's log");
  EXPECT_GT(fs::file_size(path() + ".bak-wal"), 0U);
}

TEST_F(RunningStore, DatabaseOfTheFirstStartIsNotANewStore) {
  fs::create_directory(scratch_.path("alone"));
  fs::copy(path(), scratch_.path("alone/events.db"));
  const auto alone = SqliteStore::open(scratch_.path("alone/events.db"));
  ASSERT_FALSE(alone);
  EXPECT_EQ(alone.error().code, Errc::not_found) << alone.error().message;
}

TEST_F(RunningStore, WorksWithoutSecondNames) {
  store_.reset();
  fs::remove_all(scratch_.path("state/sealed/events.db"));
  fs::create_directories(scratch_.path("state/sealed/events.db/in the way"));
  ASSERT_NO_FATAL_FAILURE(SetUp());
}

}  // namespace
}  // namespace hpsearch::daemon
