#include "daemon/backup/stored_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "daemon/keys/worker_keys.hpp"
#include "daemon/store/postgresql/postgresql_store.hpp"
#include "daemon/store/postgresql/server.hpp"
#include "scratch.hpp"

// Keys in the database of a store: a daemon that takes the store has those of the one before.

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const BackupKey key_of_store{"correct horse battery staple"};

class StoredKeysTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string& why = PostgresqlServer::missing(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    url_.emplace(PostgresqlServer::of_process()->new_schema());
    fs::create_directory(directory("first"));
    fs::create_directory(directory("second"));
  }

  /// A daemon that has the store, and its keys.
  struct Daemon {
    std::unique_ptr<PostgresqlStore> store;
    std::unique_ptr<StoredKeys> keys;
  };

  [[nodiscard]] std::string directory(const std::string& name) const { return scratch_.path(name); }
  void write(const std::string& file, const std::string& content) const {
    std::ofstream(scratch_.path(file)) << content;
  }
  [[nodiscard]] std::string content(const std::string& file) const {
    std::ifstream in(scratch_.path(file));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  [[nodiscard]] std::unique_ptr<StoredKeys> keys_of(const std::string& name,
                                                    const BackupKey& key = key_of_store) const {
    return std::make_unique<StoredKeys>(*url_, key, directory(name), [](const std::string&) {});
  }
  [[nodiscard]] std::unique_ptr<PostgresqlStore> take(const std::string& name) const {
    auto store = PostgresqlStore::open(*url_, {.name = name, .place = name, .take_over = true});
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
  [[nodiscard]] Daemon start(const std::string& name) const {
    Daemon daemon{take(name), keys_of(name)};
    const auto fetched = daemon.keys->fetch();
    EXPECT_TRUE(fetched) << fetched.error().message;
    const Status begun = daemon.keys->begin(daemon.store->daemon_epoch());
    EXPECT_TRUE(begun) << begun.error().message;
    return daemon;
  }

  Scratch scratch_;
  std::optional<DatabaseUrl> url_;
};

TEST_F(StoredKeysTest, AnotherMachineGetsThemAll) {
  for (const char* name : stored_key_names) {
    write("first/" + std::string(name), "content of " + std::string(name));
  }
  write("second/curve.key", "a key of its own");
  static_cast<void>(start("first"));
  static_cast<void>(start("second"));
  for (const char* name : stored_key_names) {
    const std::string file = "second/" + std::string(name);
    EXPECT_EQ(content(file), "content of " + std::string(name));
    struct stat found {};
    ASSERT_EQ(::stat(scratch_.path(file).c_str(), &found), 0) << file;
  }
}

TEST_F(StoredKeysTest, DatabaseHasNoneThatCanBeRead) {
  write("first/secrets.key", "the-secret-of-the-first");
  static_cast<void>(start("first"));
  EXPECT_TRUE(*has_stored_keys(*url_));
  const auto rows = Connection(*url_).read("SELECT sealed FROM hpsearch_keys");
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->text(0, 0).find("the-secret-of-the-first"), std::string::npos);
}

TEST_F(StoredKeysTest, DatabaseWithoutStoreHasNone) {
  EXPECT_FALSE(*has_stored_keys(*url_));
  EXPECT_TRUE(keys_of("first")->check());
}

TEST_F(StoredKeysTest, AnotherKeyFileIsRefusedAndChangesNothing) {
  write("first/curve.key", "the first");
  write("second/curve.key", "the second");
  static_cast<void>(start("first"));
  const auto others = keys_of("second", BackupKey{"another key of a store"});
  const Status refused = others->check();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_request);
  EXPECT_THAT(refused.error().message, HasSubstr("No key was changed"));
  EXPECT_FALSE(others->fetch());
  EXPECT_EQ(content("second/curve.key"), "the second");
}

TEST_F(StoredKeysTest, AChangeIsInTheDatabaseBeforeItIsInTheFile) {
  const Daemon first = start("first");
  write("second/tokens.json", "old");
  const Status kept = first.keys->keep("tokens.json", "new", [&]() -> Status {
    EXPECT_TRUE(keys_of("second")->fetch());
    EXPECT_EQ(content("second/tokens.json"), "new");
    EXPECT_EQ(content("first/tokens.json"), "");
    return Done{};
  });
  EXPECT_TRUE(kept) << kept.error().message;
}

TEST_F(StoredKeysTest, WorkerKeysAreKeptAsWell) {
  const Daemon first = start("first");
  WorkerKeys workers(directory("first"));
  workers.keep_as_well([&](std::string_view text, const std::function<Status()>& write_file) {
    return first.keys->keep("worker_keys", text, write_file);
  });
  ASSERT_TRUE(workers.allow({"node1", std::string(64, 'a')}));
  ASSERT_TRUE(keys_of("second")->fetch());
  EXPECT_EQ(WorkerKeys(directory("second")).name_of(std::string(64, 'a')), "node1");
  ASSERT_TRUE(workers.deny("node1"));
  ASSERT_TRUE(keys_of("second")->fetch());
  EXPECT_EQ(WorkerKeys(directory("second")).name_of(std::string(64, 'a')), std::nullopt);
}

TEST_F(StoredKeysTest, ADaemonWithoutTheStoreChangesNothing) {
  write("first/curve.key", "the first");
  const Daemon first = start("first");
  const auto second = take("second");
  const Status kept = first.keys->keep("tokens.json", "new", [&]() -> Status {
    ADD_FAILURE() << "the file is written";
    return Done{};
  });
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, Errc::wrong_state);
  const auto fetched = keys_of("second")->fetch();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_THAT(*fetched, ElementsAre("curve.key"));
}

TEST_F(StoredKeysTest, ChangesByCommandsReachTheDatabase) {
  write("first/worker_keys", "old");
  const Daemon first = start("first");
  write("first/worker_keys", "new");
  while (content("second/worker_keys") != "new") {
    ASSERT_TRUE(keys_of("second")->fetch());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

TEST_F(StoredKeysTest, AChangeWithoutADaemonIsNotOverwritten) {
  write("first/worker_keys", "old");
  write("first/tls.crt", "old");
  static_cast<void>(start("first"));
  write("first/worker_keys", "new");
  fs::remove(scratch_.path("first/tls.crt"));
  const auto fetched = keys_of("first")->fetch();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_THAT(*fetched, IsEmpty());
  EXPECT_EQ(content("first/worker_keys"), "new");
  EXPECT_FALSE(fs::exists(scratch_.path("first/tls.crt")));
}

TEST_F(StoredKeysTest, AnOldFileOfAFormerHolderIsOverwritten) {
  write("first/tokens.json", "old");
  static_cast<void>(start("first"));
  {
    const Daemon second = start("second");
    ASSERT_TRUE(second.keys->keep("tokens.json", "new", [&]() -> Status {
      write("second/tokens.json", "new");
      return Done{};
    }));
  }
  const auto fetched = keys_of("first")->fetch();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_THAT(*fetched, ElementsAre("tokens.json"));
  EXPECT_EQ(content("first/tokens.json"), "new");
}

TEST_F(StoredKeysTest, AMissingKeyOfSecretsComesBack) {
  write("first/secrets.key", "the key");
  static_cast<void>(start("first"));
  fs::remove(scratch_.path("first/secrets.key"));
  ASSERT_TRUE(keys_of("first")->fetch());
  EXPECT_EQ(content("first/secrets.key"), "the key");
}

TEST_F(StoredKeysTest, AFileThatCannotBeWrittenLeavesTheOldContentInTheDatabase) {
  write("first/tokens.json", "old");
  {
    const Daemon first = start("first");
    const Status kept = first.keys->keep("tokens.json", "new", [&]() -> Status {
      return Error{Errc::unavailable, "no room"};
    });
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().message, "no room");
    while (content("second/tokens.json") != "old") {
      ASSERT_TRUE(keys_of("second")->fetch());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
}

}  // namespace
}  // namespace hpsearch::daemon
