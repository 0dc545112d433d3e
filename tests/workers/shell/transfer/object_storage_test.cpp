#include "hpsearch/workers/shell/transfer/object_storage.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Units;

/// A script is the rclone that is found; its storage is the directory `remote`.
class ObjectStorage : public testing::Test {
 protected:
  ObjectStorage() : path_(std::getenv("PATH")) {
    ::setenv("PATH", (scratch_.path().string() + ":" + path_).c_str(), 1);
  }
  ~ObjectStorage() override { ::setenv("PATH", path_.c_str(), 1); }

  void rclone_does(const std::string& at_sync) {
    const std::string remote = (scratch_.path() / "remote/").string();
    const fs::path script = scratch_.write(
        "rclone",
        "#!/bin/sh\n"
        "shift 2\n"
        "at() { echo '" +
            remote +
            "'\"${1#hpsearch:}\"; }\n"
            "case \"$1 $3\" in\n"
            "'delete --include=/manifest.json')\n"
            "  [ -d \"$(at \"$2\")\" ] || { echo 'ERROR : directory not found' >&2; exit 3; }\n"
            "  rm -f \"$(at \"$2\")/manifest.json\" ;;\n"
            "sync*) from=\"$3\"; to=\"$(at \"$4\")\"; mkdir -p \"$to\"; " +
            at_sync +
            " ;;\n"
            "copyto*) cp \"$2\" \"$(at \"$3\")\" ;;\n"
            "*) echo \"ERROR : what is $*\" >&2; exit 1 ;;\n"
            "esac\n");
    fs::permissions(script, fs::perms::owner_all);
  }

  bool saved(const std::string& text) {
    write_text(scratch_.path() / "from" / "state", text);
    return upload_checkpoint(*own_directory_at(scratch_.path() / "from"), attempt_,
                             {.key = key_of(0), .step = Units{4}, .root = "s3://models/digits"})
        .has_value();
  }

  fs::path remote() const { return scratch_.path() / "remote/models/digits/1/0/1-4"; }

  Scratch scratch_;
  files::Directory attempt_ = *files::Directory::open(scratch_.path());

 private:
  std::string path_;
};

TEST_F(ObjectStorage, ManifestNeverDescribesOtherFiles) {
  fs::create_directories(scratch_.path() / "from");
  rclone_does("cp \"$from\"/state \"$to\"");
  ASSERT_TRUE(saved("first"));
  ASSERT_TRUE(fs::exists(remote() / "manifest.json"));
  rclone_does("cp \"$from\"/state \"$to\"; exit 1");  // The connection breaks after a part of the content.
  ASSERT_FALSE(saved("second"));
  EXPECT_EQ(text_of(remote() / "state"), "second");
  EXPECT_FALSE(fs::exists(remote() / "manifest.json")) << "it is the first one's";
  rclone_does("cp \"$from\"/state \"$to\"");
  ASSERT_TRUE(saved("third"));
  EXPECT_TRUE(fs::exists(remote() / "manifest.json"));
}

/// Its agent ended before its report: the next one asks again, and only the store has the content.
TEST_F(ObjectStorage, ReportsAStoredCheckpointAgain) {
  fs::create_directories(scratch_.path() / "from");
  rclone_does("cp \"$from\"/state \"$to\"");
  ASSERT_TRUE(saved("first"));
  EXPECT_FALSE(fs::exists(scratch_.path() / "from" / "state"));
  rclone_does("exit 1");
  const PublishCheckpoint wanted{.key = key_of(0), .step = Units{4}, .root = "s3://models/digits"};
  for (int agent = 0; agent < 2; ++agent) {
    const auto again = upload_checkpoint(*own_directory_at(scratch_.path() / "from"), attempt_, wanted);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(again.value()) << "its program would hear that it saved nothing";
    EXPECT_EQ((*again)->path, "s3://models/digits/1/0/1-4");
    EXPECT_EQ((*again)->files, 1U);
    EXPECT_EQ((*again)->bytes, 5U);
  }
  PublishCheckpoint other = wanted;
  other.step = Units{5};
  EXPECT_FALSE(upload_checkpoint(*own_directory_at(scratch_.path() / "from"), attempt_, other).value());
}

TEST_F(ObjectStorage, UnreachableStoreIsAnOutageAndARefusalIsNot) {
  const auto code_of = [this](const std::string& said) {
    const fs::path script =
        scratch_.write("rclone", "#!/bin/sh\necho \"ERROR : $0: " + said + "\" >&2; exit 1\n");
    fs::permissions(script, fs::perms::owner_all);
    return download_checkpoint("s3://models/digits/1/0/1-4", attempt_, "to", {}).error().code;
  };
  EXPECT_EQ(code_of("Failed to copy: dial tcp 10.0.0.7:443: connect: connection refused"),
            engine::Errc::unavailable);
  EXPECT_EQ(code_of("Failed to copy: InternalError: 500"), engine::Errc::unavailable);
  EXPECT_EQ(code_of("Failed to copy: AccessDenied: Access Denied. status code: 403"),
            engine::Errc::bad_request)
      << "it may be there";
  EXPECT_EQ(code_of("Failed to copy: NoSuchBucket: status code: 404"), engine::Errc::bad_request);
  EXPECT_EQ(code_of("Failed to copy: NoSuchKey: status code: 404"), engine::Errc::not_found);
  EXPECT_EQ(code_of("directory not found"), engine::Errc::not_found);
}

}  // namespace
}  // namespace hpsearch::workers::test
