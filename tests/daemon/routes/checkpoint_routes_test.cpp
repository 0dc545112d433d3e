#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "daemon/daemon_fixture.hpp"
#include "daemon/downloads/byte_range.hpp"
#include "hpsearch/proto/wire/checkpoint_owner.hpp"
#include "messages.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;

const std::string of_trial = "/api/v1/experiments/1/trials/0/checkpoints/";

/// A daemon whose trial has published a checkpoint of some files.
class CheckpointRoutes : public testing::Test {
 protected:
  CheckpointRoutes() {
    storage_.write("1/0/1-2/weights.bin", std::string(700'000, 'w'));
    storage_.write("1/0/1-2/" + long_name_, "deep");
    storage_.write("1/0/1-2/empty", "");
    fs::create_symlink("weights.bin", place() / "current");
    fs::create_symlink("../../../secret", place() / "away");
    storage_.write("secret", "a secret");
    write_manifest(R"({"path": "weights.bin", "bytes": 700000, "crc32c": 1},
                      {"path": "current", "link": "weights.bin"},
                      {"path": "away", "link": "../../../secret"},
                      {"path": "empty", "bytes": 0, "crc32c": 0},
                      {"path": ")" +
                   long_name_ + R"(", "bytes": 4, "crc32c": 2})");
    daemon_.submit(small_search(2));
    worker_.emplace(daemon_);
    worker_->join();
    const engine::AttemptKey key = worker_->wait_for<proto::Lease>().spec.key;
    worker_->send(proto::Started{key});
    worker_->send(
        proto::Reports{key, 1, {engine::CheckpointReport{engine::Units(2), place().string(), 5, 9}}});
    worker_->wait_for<proto::Ack>();
  }
  [[nodiscard]] fs::path place() const { return storage_.path("1/0/1-2"); }
  void write_manifest(const std::string& files) const {
    storage_.write("1/0/1-2/manifest.json",
                   R"({"what": "hpsearch checkpoint", "format": 1, "experiment": 1, "trial": 0, "attempt": 1,
                       "step": 2, "files": [)" +
                       files + "]}");
  }
  DaemonFixture::Answer get(const std::string& what, const net::HttpHeaders& headers = {}) {
    return daemon_.ask("GET", of_trial + what, "", headers);
  }
  /// The content of an archive, unpacked with this machine's tar.
  fs::path unpacked(const std::string& archive) {
    const std::string file = unpacked_.write("archive.tar", archive);
    EXPECT_EQ(std::system(("tar -xf " + file + " -C " + unpacked_.path().string()).c_str()), 0);
    return unpacked_.path() / "checkpoint-1-0-1-2";
  }

  const std::string long_name_ = "a/" + std::string(120, 'n') + "/deep.txt";
  Scratch storage_;
  Scratch unpacked_;
  DaemonFixture daemon_;
  std::optional<ScriptedWorker> worker_;
};

TEST_F(CheckpointRoutes, ListTheFilesOfTheManifest) {
  const auto answer = get("1-2/files");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  EXPECT_EQ(answer.at("id"), "\"1/0/1-2\"");
  EXPECT_EQ(answer.at("bytes"), "700004");
  ASSERT_EQ(answer.count("files"), 5U);
  const engine::Value::List& files = *answer.body.at_path("files")->as_list();
  EXPECT_EQ(engine::compact_json(files[0]),
            R"({"bytes":700000,"crc32c":1,"link":null,"path":"weights.bin"})");
  EXPECT_EQ(engine::compact_json(files[2]),
            R"({"bytes":0,"crc32c":null,"link":"../../../secret","path":"away"})");
}

TEST_F(CheckpointRoutes, ArchiveHasTheFilesOfTheManifest) {
  const auto answer = get("1-2/archive.tar");
  ASSERT_EQ(answer.status, 200U) << answer.text;
  EXPECT_EQ(answer.header("Content-Length"), std::to_string(answer.text.size()));
  EXPECT_EQ(answer.text.find("a secret"), std::string::npos);
  const fs::path top = unpacked(answer.text);
  EXPECT_EQ(text_of(top / "weights.bin"), std::string(700'000, 'w'));
  EXPECT_EQ(text_of(top / long_name_), "deep");
  EXPECT_EQ(text_of(top / "empty"), "");
  EXPECT_EQ(text_of(top / "manifest.json"), text_of(place() / "manifest.json"));
  EXPECT_EQ(fs::read_symlink(top / "current"), "weights.bin");
  EXPECT_FALSE(fs::is_symlink(top / "away")) << "it would lead out of the directory";
  EXPECT_EQ(get("1-2/archive.tar").text, answer.text) << "each time the same bytes";
}

TEST_F(CheckpointRoutes, ArchiveHasALengthAndCanBeContinued) {
  const auto whole = get("1-2/archive.tar");
  const auto head = daemon_.ask("HEAD", of_trial + "1-2/archive.tar");
  EXPECT_EQ(head.status, 200U);
  EXPECT_EQ(head.header("Content-Length"), std::to_string(whole.text.size()));
  EXPECT_EQ(head.text, "");
  const std::size_t from = 650'001;
  const auto rest = get("1-2/archive.tar", {{"Range", "bytes=650001-"}, {"If-Range", whole.header("ETag")}});
  EXPECT_EQ(rest.status, 206U);
  EXPECT_EQ(rest.text, whole.text.substr(from));
  EXPECT_EQ(rest.header("Content-Range"), "bytes 650001-" + std::to_string(whole.text.size() - 1) + "/" +
                                              std::to_string(whole.text.size()));
  EXPECT_EQ(get("1-2/archive.tar", {{"Range", "bytes=100-611"}}).text, whole.text.substr(100, 512));
  EXPECT_EQ(get("1-2/archive.tar", {{"Range", "bytes=5-"}, {"If-Range", "\"older\""}}).status, 200U);
  const auto beyond = get("1-2/archive.tar", {{"Range", "bytes=" + std::to_string(whole.text.size()) + "-"}});
  EXPECT_EQ(beyond.status, 416U);
  EXPECT_EQ(beyond.header("Content-Range"), "bytes */" + std::to_string(whole.text.size()));
}

TEST_F(CheckpointRoutes, FileReplacedByALinkIsNotFollowed) {
  fs::remove(place() / "weights.bin");
  fs::create_symlink("../../../secret", place() / "weights.bin");
  const auto answer = get("1-2/archive.tar");
  EXPECT_EQ(answer.status, 409U) << answer.text;
  EXPECT_MESSAGE(answer.at("detail")) << answer.text;
}

TEST_F(CheckpointRoutes, DirectoryReplacedByALinkIsNotFollowed) {
  fs::rename(place(), storage_.path("elsewhere"));
  fs::create_directory_symlink("../../elsewhere", place());
  EXPECT_EQ(get("1-2/files").status, 409U);
  EXPECT_EQ(get("1-2/archive.tar").status, 409U);
}

TEST_F(CheckpointRoutes, ManifestWithPathsElsewhereIsRefused) {
  for (const char* path :
       {"../1-2/weights.bin", "/etc/hostname", "a/../weights.bin", "./weights.bin", "", "a/"}) {
    write_manifest(R"({"path": ")" + std::string(path) + R"(", "bytes": 4, "crc32c": 2})");
    EXPECT_EQ(get("1-2/archive.tar").status, 409U) << path;
    EXPECT_EQ(get("1-2/files").status, 409U) << path;
  }
}

TEST_F(CheckpointRoutes, TruncatedFileIsReportedAndNotSent) {
  storage_.write("1/0/1-2/weights.bin", "short");
  const auto answer = get("1-2/archive.tar");
  EXPECT_EQ(answer.status, 409U);
  EXPECT_MESSAGE(answer.at("error.message"));
}

TEST_F(CheckpointRoutes, AnotherStoresDirectoryIsNotRead) {
  storage_.write("1/.hpsearch-store.json", proto::checkpoint_owner(99));
  EXPECT_EQ(get("1-2/archive.tar").status, 409U);
  EXPECT_EQ(get("1-2/files").status, 409U);
}

TEST_F(CheckpointRoutes, CheckpointElsewhereIsNamedWithTheCommandThatGetsIt) {
  fs::remove_all(place());
  const auto answer = get("1-2/archive.tar");
  EXPECT_EQ(answer.status, 404U);
  EXPECT_MESSAGE(answer.at("detail")) << answer.text;
  EXPECT_EQ(get("1-3/archive.tar").status, 404U);
  EXPECT_EQ(get("..%2f1-2/files").status, 404U);
}

TEST(ByteRange, IsReadAsBrowsersWriteIt) {
  const auto range = [](std::string_view header) { return range_of(header, 100); };
  EXPECT_EQ(range("bytes=0-0"), RangeAnswer(ByteRange{0, 1}));
  EXPECT_EQ(range("bytes=10-"), RangeAnswer(ByteRange{10, 100}));
  EXPECT_EQ(range("bytes=10-500"), RangeAnswer(ByteRange{10, 100}));
  EXPECT_EQ(range("bytes=-10"), RangeAnswer(ByteRange{90, 100}));
  EXPECT_EQ(range("bytes=-500"), RangeAnswer(ByteRange{0, 100}));
  EXPECT_EQ(range("bytes=99-99999999999999999999999"), RangeAnswer(ByteRange{99, 100}));
  for (const char* nowhere : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=99999999999999999999999-"}) {
    EXPECT_EQ(range(nowhere), RangeAnswer(RangeNotThere{})) << nowhere;
  }
  for (const char* all :
       {"", "lines=1-2", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=1-2,4-5", "bytes=+1-"}) {
    EXPECT_EQ(range(all), RangeAnswer(ByteRange{0, 100})) << all;
  }
}

}  // namespace
}  // namespace hpsearch::daemon
