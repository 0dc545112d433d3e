#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "daemon/backup/backup_address.hpp"
#include "daemon/backup/backup_place.hpp"
#include "scratch.hpp"

// Backups in an object store: one without its record doesn't count, and only this store's are removed.

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Instant;
using engine::Lsn;

TEST(BackupAddress, IsARemoteWithKeysOfTheEnvironment) {
  const auto address = BackupAddress::read("s3://backups/hpsearch/", "http://minio:9000");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->root, "s3://backups/hpsearch");
  EXPECT_EQ(address->place_of(""), "hpsearch:backups/hpsearch");
  EXPECT_EQ(address->place_of("a/b"), "hpsearch:backups/hpsearch/a/b");
  EXPECT_EQ(address->environment.at("RCLONE_CONFIG_HPSEARCH_ENDPOINT"), "http://minio:9000");
  EXPECT_EQ(address->environment.at("RCLONE_CONFIG_HPSEARCH_ENV_AUTH"), "true");
  EXPECT_FALSE(address->environment.contains("RCLONE_CONFIG_HPSEARCH_SECRET_ACCESS_KEY"));
  EXPECT_TRUE(BackupAddress::read("gs://b", ""));
  EXPECT_TRUE(BackupAddress::read("azure://c/p", "https://me.blob.core.windows.net"));
}

TEST(BackupAddress, NamesWhatIsAllowed) {
  for (const char* place : {"s3:///x", "s3://b//x", "s3://b/../x", "ftp://b", "http://b/x"}) {
    const auto address = BackupAddress::read(place, "");
    ASSERT_FALSE(address) << place;
    EXPECT_EQ(address.error().code, Errc::bad_request);
    EXPECT_NE(address.error().message.find("s3://BUCKET/PREFIX"), std::string::npos)
        << address.error().message;
  }
  EXPECT_FALSE(BackupAddress::read("gs://b", "http://m"));
  EXPECT_FALSE(BackupAddress::read("s3://b", "minio:9000"));
  EXPECT_FALSE(BackupAddress::is_meant("/backups"));
}

TEST(BackupName, IsInTheOrderOfTime) {
  const std::string prefix = backup_prefix(0xabc);
  EXPECT_EQ(prefix, "hpsearch-0000000000000abc-");
  const std::string name = backup_name(prefix, Instant::from_micros(1'000'000));
  EXPECT_EQ(name, prefix + "19700101T000001Z");
  EXPECT_TRUE(is_backup_name(prefix, name));
  EXPECT_FALSE(is_backup_name(prefix, name + ".unfinished"));
  EXPECT_FALSE(is_backup_name(backup_prefix(0xabd), name));
}

/// A script is the rclone that is found; its object store is the directory `remote`. The file `fails` has the
/// words at which it fails.
class StoredBackupsTest : public testing::Test {
 protected:
  StoredBackupsTest() : path_(std::getenv("PATH")) {
    const fs::path script = scratch_.write("bin/rclone", R"sh(#!/bin/sh
here=${0%/bin/rclone}
shift 2
all="$*"
words=
for word; do
  case "$word" in -*) ;; *) words="$words $word" ;; esac
done
set -- $words
if [ -e "$here/fails" ] && grep -qx "$1" "$here/fails"; then echo "ERROR : the store is away" >&2; exit 1; fi
at() { echo "$here/remote/${1#hpsearch:}"; }
case "$1" in
  lsf)
    cd "$(at "$2")" 2>/dev/null || { echo "Failed to lsf: directory not found" >&2; exit 3; }
    case "$all" in
      *--dirs-only*) for d in hpsearch-*/; do [ -d "$d" ] && echo "$d"; done ;;
      *) for f in hpsearch-*/backup.json; do [ -f "$f" ] && echo "$f"; done ;;
    esac
    true ;;
  cat) cat "$(at "$2")" 2>/dev/null || true ;;
  copy)
    case "$2" in
      hpsearch:*) cp -r "$(at "$2")/." "$3" ;;
      *) mkdir -p "$(at "$3")"; cp -r "$2/." "$(at "$3")"; rm "$(at "$3")/backup.json" ;;
    esac ;;
  check) ;;
  copyto) cp "$2" "$(at "$3")" ;;
  deletefile) rm -f "$(at "$2")" ;;
  delete) rm -rf "$(at "$2")" ;;
  *) echo "ERROR : $1 is unknown" >&2; exit 1 ;;
esac
)sh");
    fs::permissions(script, fs::perms::owner_all);
    ::setenv("PATH", (scratch_.path("bin") + ":" + path_).c_str(), 1);
    scratch_.write("state/audit.jsonl", "{}\n");
  }
  ~StoredBackupsTest() override { ::setenv("PATH", path_.c_str(), 1); }

  [[nodiscard]] std::string remote(const std::string& below = "") const {
    return scratch_.path("remote/b/p" + (below.empty() ? "" : "/" + below));
  }
  [[nodiscard]] std::unique_ptr<BackupPlace> place() const {
    auto made = BackupPlace::of({.to = "s3://b/p",
                                 .endpoint_url = "",
                                 .prefix = prefix_,
                                 .staging = scratch_.path("staging"),
                                 .stopped = nullptr});
    EXPECT_TRUE(made);
    return std::move(made).value();
  }

  /// A backup that was made at that second.
  engine::Result<std::string> make(BackupPlace& backups, std::int64_t second) const {
    const Instant at = Instant::from_micros(second * 1'000'000);
    const std::string name = backup_name(prefix_, at);
    if (const auto prepared = backups.prepare(); !prepared) {
      return prepared.error();
    }
    auto begun = NewBackup::begin(backups.path_of(name));
    if (!begun) {
      return begun.error();
    }
    NewBackup backup = std::move(begun).value();
    write_text(backup.events(), "events");
    if (const auto made = backup.finish(scratch_.path("state"), std::nullopt, Lsn(7), at); !made) {
      return made.error();
    }
    return backups.take(name);
  }

  Scratch scratch_;
  std::string prefix_ = backup_prefix(1);

 private:
  std::string path_;
};

TEST_F(StoredBackupsTest, OnlyTheNewestStay) {
  const auto backups = place();
  const auto none = backups->newest();
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(*none);
  const std::string other = "hpsearch-00000000000000ff-20200101T000000Z";
  scratch_.write("remote/b/p/" + other + "/backup.json", "{}");
  scratch_.write("remote/b/p/notes/backup.json", "mine");
  for (const std::int64_t second : {1, 2, 3}) {
    const auto made = make(*backups, second);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(*made, "s3://b/p/" + prefix_ + "19700101T00000" + std::to_string(second) + "Z");
    backups->keep_newest(2);
  }
  EXPECT_FALSE(fs::exists(remote(prefix_ + "19700101T000001Z")));
  EXPECT_TRUE(fs::exists(remote(prefix_ + "19700101T000002Z/backup.json")));
  EXPECT_TRUE(fs::exists(remote(other + "/backup.json")));
  EXPECT_TRUE(fs::exists(remote("notes/backup.json")));
  EXPECT_FALSE(fs::exists(scratch_.path("staging")));
  const auto newest = backups->newest();
  ASSERT_TRUE(newest && *newest);
  EXPECT_EQ((*newest)->made_at, 3'000'000);
}

TEST_F(StoredBackupsTest, FailedUploadDoesNotCount) {
  const auto backups = place();
  ASSERT_TRUE(make(*backups, 1));
  for (const char* fails : {"copy", "check", "copyto"}) {
    scratch_.write("fails", fails);
    const auto made = make(*backups, 2);
    ASSERT_FALSE(made) << fails;
    EXPECT_EQ(made.error().message, "cannot upload the backup to s3://b/p/" + prefix_ +
                                        "19700101T000002Z: rclone failed: ERROR : the store is away");
    EXPECT_FALSE(fs::exists(remote(prefix_ + "19700101T000002Z"))) << fails;
    EXPECT_FALSE(fs::exists(scratch_.path("staging"))) << fails;
  }
  scratch_.write("fails", "lsf");
  EXPECT_FALSE(make(*backups, 2)) << "it can't say which backups are there";
  EXPECT_FALSE(backups->newest());
  fs::remove(scratch_.path("fails"));
  const auto newest = backups->newest();
  ASSERT_TRUE(newest && *newest);
  EXPECT_EQ((*newest)->made_at, 1'000'000);
}

TEST_F(StoredBackupsTest, RestOfAnInterruptedOneIsRemovedByTheNext) {
  const auto backups = place();
  scratch_.write("remote/b/p/" + prefix_ + "19700101T000001Z/events.db", "half");
  scratch_.write("remote/b/p/hpsearch-00000000000000ff-19700101T000001Z/events.db", "of another store");
  scratch_.write("staging/left/events.db", "half");
  ASSERT_TRUE(make(*backups, 2));
  EXPECT_FALSE(fs::exists(remote(prefix_ + "19700101T000001Z")));
  EXPECT_TRUE(fs::exists(remote("hpsearch-00000000000000ff-19700101T000001Z/events.db")));
}

TEST_F(StoredBackupsTest, IsFetchedWholeByItsAddress) {
  const auto made = make(*place(), 5);
  ASSERT_TRUE(made);
  const auto address = BackupAddress::read(*made, "");
  ASSERT_TRUE(address);
  const auto record = read_stored_record(*address);
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->last_lsn, Lsn(7));
  fs::create_directory(scratch_.path("fetched"));
  ASSERT_TRUE(fetch_backup(*address, scratch_.path("fetched")));
  EXPECT_TRUE(check_backup_files(scratch_.path("fetched"), *record));
  const auto above = read_stored_record(*BackupAddress::read("s3://b/p", ""));
  ASSERT_FALSE(above);
  EXPECT_EQ(above.error().code, Errc::not_found);
  EXPECT_EQ(above.error().message,
            "there is no whole backup at s3://b/p: it has no backup.json; the newest one "
            "below it is " +
                *made);
}

}  // namespace
}  // namespace hpsearch::daemon
