#include "daemon/backup/backup_set.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/backup/sealed_keys.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "scratch.hpp"

// Backups contain everything that a restore needs, and a failed backup leaves nothing.

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Instant;
using engine::Lsn;

const BackupKey passphrase{"correct horse battery staple"};

TEST(SealedKeys, OpenWithTheirKeyOnly) {
  const KeyFiles files{{"curve.key", std::string("\0\1binary", 8)}, {"tokens.json", "{}"}};
  const auto sealed = seal_keys(files, passphrase);
  ASSERT_TRUE(sealed) << sealed.error().message;
  EXPECT_EQ(sealed->find("binary"), std::string::npos);
  const auto opened = open_keys(*sealed, passphrase);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(*opened, files);
  const auto other = open_keys(*sealed, BackupKey{"another passphrase"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::bad_request);
  std::string changed = *sealed;
  changed.back() ^= 1;
  EXPECT_FALSE(open_keys(changed, passphrase));
  EXPECT_EQ(open_keys("hpsearch", passphrase).error().code, Errc::corrupt);
}

TEST(BackupKeyFile, NeedsSixteenBytes) {
  const Scratch scratch;
  EXPECT_EQ(BackupKey::in_file(scratch.write("short", "secret\n")).error().code, Errc::bad_request);
  const auto key = BackupKey::in_file(scratch.write("long", "0123456789abcdef\n"));
  ASSERT_TRUE(key);
  EXPECT_EQ(key->secret, "0123456789abcdef");
  EXPECT_EQ(BackupKey::in_file(scratch.path("none")).error().code, Errc::not_found);
}

class BackupOfAStateDirectory : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : key_file_names) {
      scratch_.write("state/" + std::string(name), "content of " + std::string(name));
    }
    scratch_.write("state/audit.jsonl", "{}\n");
    scratch_.write("state/contexts/" + digest_ + ".tar", context_);
    scratch_.write("state/contexts/half.part", "an upload that is not whole");
    scratch_.write("state/api.sock", "");
  }

  [[nodiscard]] std::string state() const { return scratch_.path("state"); }
  [[nodiscard]] std::string backup() const { return scratch_.path("backup"); }

  engine::Status make(const std::optional<BackupKey>& key) {
    auto begun = NewBackup::begin(backup());
    if (!begun) {
      return begun.error();
    }
    NewBackup made = std::move(begun).value();
    write_text(made.events(), "events");
    return made.finish(state(), key, Lsn(7), Instant::from_micros(9));
  }

  Scratch scratch_;
  std::string context_ = "a context";
  std::string digest_ = files::sha256_of(context_);
};

TEST_F(BackupOfAStateDirectory, HasEverythingForItsOwnerOnly) {
  const auto made = make(passphrase);
  ASSERT_TRUE(made) << made.error().message;
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(backup())) {
    struct stat found {};
    ASSERT_EQ(::stat(entry.path().c_str(), &found), 0);
    if (entry.is_regular_file()) {
      if (entry.path().filename() != "events.db") {  // events.db is written by this test.
        EXPECT_EQ(found.st_mode & 0777, 0600U) << entry.path();
      }
      names.push_back(fs::relative(entry.path(), backup()).string());
      EXPECT_EQ(text_of(entry.path()).find("content of "), std::string::npos) << entry.path();
    }
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"audit.jsonl", "backup.json", "contexts/" + digest_ + ".tar",
                                             "events.db", "keys.sealed"}));
  const auto record = read_backup_record(backup());
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->last_lsn, Lsn(7));
  EXPECT_TRUE(check_backup_files(backup(), **record));

  const std::string restored = scratch_.path("restored");
  fs::create_directory(restored);
  const auto keys = open_sealed_keys(backup(), passphrase);
  ASSERT_TRUE(keys);
  ASSERT_TRUE(put_keys(*keys, restored));
  ASSERT_TRUE(copy_open_files(backup(), restored));
  for (const char* name : key_file_names) {
    EXPECT_EQ(text_of(restored + "/" + name), "content of " + std::string(name));
  }
  EXPECT_EQ(text_of(restored + "/contexts/" + digest_ + ".tar"), context_);
}

TEST_F(BackupOfAStateDirectory, FailureLeavesNothing) {
  scratch_.write("state/contexts/" + digest_ + ".tar", "damaged");
  const auto made = make(passphrase);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::corrupt);
  EXPECT_NE(made.error().message.find(digest_), std::string::npos) << made.error().message;
  EXPECT_FALSE(fs::exists(backup()));
  EXPECT_FALSE(fs::exists(backup() + ".unfinished"));
}

TEST_F(BackupOfAStateDirectory, ReplacesAnUnfinishedOne) {
  scratch_.write("backup.unfinished/events.db", "half");
  scratch_.write("backup.unfinished/contexts/" + digest_ + ".tar", "half");
  ASSERT_TRUE(make(std::nullopt));
  EXPECT_FALSE(fs::exists(backup() + ".unfinished"));
  EXPECT_EQ(make(std::nullopt).error().code, Errc::wrong_state) << "it replaced a backup";
}

TEST_F(BackupOfAStateDirectory, LeavesOtherFilesUnchanged) {
  scratch_.write("backup.unfinished/thesis.tex", "mine");
  EXPECT_EQ(make(std::nullopt).error().code, Errc::wrong_state);
  EXPECT_EQ(scratch_.read("backup.unfinished/thesis.tex"), "mine");
}

TEST_F(BackupOfAStateDirectory, NamesADamagedFile) {
  ASSERT_TRUE(make(passphrase));
  scratch_.write("backup/audit.jsonl", "changed");
  const auto record = read_backup_record(backup());
  ASSERT_TRUE(record && *record);
  const auto checked = check_backup_files(backup(), **record);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("audit.jsonl"), std::string::npos);
}

TEST_F(BackupOfAStateDirectory, WritesOnlyKeyFiles) {
  EXPECT_EQ(put_keys({{"../evil", "x"}}, state()).error().code, Errc::bad_request);
}

}  // namespace
}  // namespace hpsearch::daemon
