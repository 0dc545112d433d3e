// The daemon's copy of the files that programs left: uploads of workers and requests of users.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "daemon/daemon_fixture.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;
using files::sha256_of;

/// One worker with the first attempts of two trials of a small search.
class KeptFilesTest : public testing::Test {
 protected:
  KeptFilesTest() {
    worker_.slots = 2;
    http_key_ = worker_.join().http_key;
    daemon_.submit(small_search(4));
    daemon_.pump_until([&] { return worker_.all<proto::Lease>().size() >= 2; });
    key_ = worker_.all<proto::Lease>()[0].spec.key;
    other_key_ = worker_.all<proto::Lease>()[1].spec.key;
  }

  static proto::OfferedFile file(const std::string& path, const std::string& content) {
    proto::OfferedFile one;
    one.path = path;
    one.bytes = content.size();
    one.digest = sha256_of(content);
    return one;
  }
  static proto::FileOffer offer_of(std::vector<proto::OfferedFile> files,
                                   std::optional<double> metric = std::nullopt) {
    proto::FileOffer offer;
    offer.files = std::move(files);
    offer.metric = metric;
    return offer;
  }
  static std::string place(const engine::AttemptKey& key) {
    return "/api/v1/files/" + std::to_string(key.experiment.number()) + "/" +
           std::to_string(key.trial.number());
  }
  DaemonFixture::Answer offer(const proto::FileOffer& offered, const engine::AttemptKey& key,
                              const std::string& http_key) {
    return daemon_.ask("PUT",
                       place(key) + "/" + std::to_string(key.attempt.number()) +
                           "?lease=" + std::to_string(key.lease.number()),
                       engine::compact_json(proto::encode_value(offered)),
                       {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + http_key}});
  }
  DaemonFixture::Answer offer(const proto::FileOffer& offered) { return offer(offered, key_, http_key_); }
  DaemonFixture::Answer piece(const std::string& digest, std::uint64_t offset, const std::string& bytes,
                              const engine::AttemptKey& key) {
    return daemon_.ask(
        "PUT", place(key) + "/" + digest + "?offset=" + std::to_string(offset), bytes,
        {{"Content-Type", "application/octet-stream"}, {"Authorization", "Bearer " + http_key_}});
  }
  DaemonFixture::Answer piece(const std::string& digest, std::uint64_t offset, const std::string& bytes) {
    return piece(digest, offset, bytes, key_);
  }
  DaemonFixture::Answer listing() {
    return daemon_.ask("GET",
                       "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number()) + "/files");
  }
  /// The number of files in the trial's list.
  std::size_t listed() { return listing().count("files"); }
  std::string fetched(const std::string& digest) {
    const auto answer = get(digest);
    return answer.status == 200 ? answer.text : answer.status == 404 ? "none" : answer.text;
  }
  DaemonFixture::Answer get(const std::string& digest, const net::HttpHeaders& headers = {}) {
    return daemon_.ask("GET",
                       "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number()) + "/files/" +
                           digest + "?worker=1",
                       "", headers);
  }
  DaemonFixture::Answer archive(const net::HttpHeaders& headers = {}) {
    return daemon_.ask("GET",
                       "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number()) + "/files.tar",
                       "", headers);
  }
  [[nodiscard]] fs::path directory() const {
    return daemon_.folder.path() / "kept/1" / std::to_string(key_.trial.number()) / "1";
  }
  void join_again() {
    worker_.connect();
    worker_.incarnation += 1;
    for (const engine::AttemptKey& key : {key_, other_key_}) {
      engine::HeldAttempt held;
      held.key = key;
      worker_.held.push_back(held);
    }
    http_key_ = worker_.join().http_key;
  }

  DaemonFixture daemon_;
  ScriptedWorker worker_{daemon_};
  engine::AttemptKey key_;
  engine::AttemptKey other_key_;
  std::string http_key_;
};

TEST_F(KeptFilesTest, AreListedOnceAllContentHasArrived) {
  const std::string model = "weights of it";
  auto offered = offer_of({file("runs/model.pt", model), file("empty", "")});
  proto::OfferedFile link;
  link.path = "last.pt";
  link.link = "runs/model.pt";
  offered.files.push_back(link);
  const auto wanted = offer(offered);
  ASSERT_EQ(wanted.status, 200U) << wanted.text;
  EXPECT_EQ(wanted.at("kept"), "false");
  ASSERT_EQ(wanted.count("missing"), 1U) << wanted.text;
  EXPECT_EQ(listed(), 0U);
  EXPECT_EQ(piece(sha256_of(model), 0, model.substr(0, 5)).at("have"), "5");
  EXPECT_EQ(listed(), 0U);
  EXPECT_EQ(piece(sha256_of(model), 5, model.substr(5)).at("have"), std::to_string(model.size()));
  EXPECT_EQ(listed(), 0U) << "whole, but the offer is not complete";
  EXPECT_EQ(offer(offered).at("kept"), "true");
  const auto all = listing();
  ASSERT_EQ(all.count("files"), 3U) << all.text;
  EXPECT_EQ(all.at("dropped"), "[]");
  EXPECT_EQ(fetched(sha256_of(model)), model);
  const auto trials = daemon_.ask("GET", "/api/v1/experiments/1/files");
  EXPECT_EQ(trials.count("trials"), 1U) << trials.text;
  EXPECT_NE(trials.text.find("\"bytes\":13"), std::string::npos) << trials.text;
}

TEST_F(KeptFilesTest, RangeOfAFileIsAnswered) {
  std::string text;
  for (int line = 0; line < 100'000; ++line) {  // More than one piece of an answer.
    text += std::to_string(line) + "\n";
  }
  const std::string digest = sha256_of(text);
  const auto offered = offer_of({file("a", text), file("empty", "")});
  ASSERT_EQ(offer(offered).count("missing"), 1U);
  ASSERT_EQ(piece(digest, 0, text).status, 200U);
  ASSERT_EQ(offer(offered).at("kept"), "true");
  const auto whole = get(digest);
  EXPECT_EQ(whole.text, text);
  EXPECT_EQ(whole.header("ETag"), "\"" + digest + "\"");
  const auto rest = get(digest, {{"Range", "bytes=300000-"}, {"If-Range", whole.header("ETag")}});
  EXPECT_EQ(rest.status, 206U);
  EXPECT_EQ(rest.text, text.substr(300'000));
  EXPECT_EQ(get(digest, {{"Range", "bytes=10-19"}}).text, text.substr(10, 10));
  EXPECT_EQ(get(digest, {{"Range", "bytes=10-19"}, {"If-Range", "\"older\""}}).text, text);
  EXPECT_EQ(get(digest, {{"Range", "bytes=" + std::to_string(text.size()) + "-"}}).status, 416U);
  const auto empty = get(sha256_of(""));
  EXPECT_EQ(empty.status, 200U);
  EXPECT_EQ(empty.text, "");
}

TEST_F(KeptFilesTest, AllFilesOfATrialAreOneArchive) {
  EXPECT_EQ(archive().status, 404U) << "there are no files yet";
  const std::string model(700'000, 'm');  // More than one piece of an answer.
  auto offered = offer_of({file("runs/model.pt", model), file("run.sh", "exit 0"), file("empty", "")});
  offered.files[1].executable = true;
  for (const auto& [path, target] :
       {std::pair("last", "runs/model.pt"), std::pair("away", "../../../etc/passwd")}) {
    proto::OfferedFile link;
    link.path = path;
    link.link = target;
    offered.files.push_back(link);
  }
  ASSERT_EQ(offer(offered).count("missing"), 2U);
  ASSERT_EQ(piece(sha256_of(model), 0, model).status, 200U);
  ASSERT_EQ(piece(sha256_of("exit 0"), 0, "exit 0").status, 200U);
  ASSERT_EQ(offer(offered).at("kept"), "true");
  // The second attempt ran on another worker, and left one file.
  const auto second = offer_of({file("notes.txt", "")});
  const fs::path other = directory().parent_path() / "2";
  write_text(other / sha256_of(""), "");
  std::string list = engine::compact_json(proto::encode_value(second));
  list.insert(1, R"("attempt":2,)");
  write_text(other / "list.json", list);

  const auto answer = archive();
  ASSERT_EQ(answer.status, 200U) << answer.text;
  EXPECT_EQ(answer.header("Content-Length"), std::to_string(answer.text.size()));
  EXPECT_EQ(answer.header("Content-Type"), "application/x-tar");
  EXPECT_EQ(answer.header("Content-Disposition"),
            "attachment; filename=\"files-1-" + std::to_string(key_.trial.number()) + ".tar\"");
  const Scratch unpacked;
  const std::string saved = unpacked.write("files.tar", answer.text);
  ASSERT_EQ(std::system(("tar -xf " + saved + " -C " + unpacked.path().string()).c_str()), 0);
  const fs::path top = unpacked.path() / "attempt-1";
  EXPECT_EQ(text_of(top / "runs/model.pt"), model);
  EXPECT_EQ(text_of(top / "run.sh"), "exit 0");
  EXPECT_NE(fs::status(top / "run.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(top / "runs/model.pt").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_TRUE(fs::is_regular_file(top / "empty"));
  EXPECT_EQ(fs::read_symlink(top / "last"), "runs/model.pt");
  EXPECT_FALSE(fs::is_symlink(top / "away")) << "it would lead out of the directory";
  EXPECT_TRUE(fs::is_regular_file(unpacked.path() / "attempt-2/notes.txt"));
  EXPECT_EQ(archive().text, answer.text) << "each time the same bytes";
  const auto rest = archive({{"Range", "bytes=600001-"}, {"If-Range", answer.header("ETag")}});
  EXPECT_EQ(rest.status, 206U);
  EXPECT_EQ(rest.text, answer.text.substr(600'001));

  fs::resize_file(directory() / sha256_of("exit 0"), 3);
  const auto damaged = archive();
  EXPECT_EQ(damaged.status, 500U) << "a file that is damaged is not sent as if it were whole";
  EXPECT_NE(damaged.text.find("run.sh"), std::string::npos) << damaged.text;
}

TEST_F(KeptFilesTest, PieceArrivesAfterItsDirectoryWasRemoved) {
  const auto offered = offer_of({file("a", "text")});
  ASSERT_EQ(offer(offered).count("missing"), 1U);
  fs::remove(directory());  // Logs that were removed to make room may remove it, too.
  EXPECT_EQ(piece(sha256_of("text"), 0, "text").at("have"), "4");
  EXPECT_EQ(offer(offered).at("kept"), "true");
}

TEST_F(KeptFilesTest, PieceMayBeRepeatedOrLost) {
  const std::string text = "0123456789";
  const auto offered = offer_of({file("a", text)});
  ASSERT_EQ(offer(offered).count("missing"), 1U);
  EXPECT_EQ(piece(sha256_of(text), 0, "0123").at("have"), "4");
  EXPECT_EQ(piece(sha256_of(text), 0, "0123").at("have"), "4") << "its answer was lost";
  EXPECT_EQ(piece(sha256_of(text), 2, "2345").at("have"), "6");
  EXPECT_EQ(piece(sha256_of(text), 8, "89").status, 409U) << "those between did not come";
  EXPECT_EQ(offer(offered).at("missing"), R"([{"bytes":10,"digest":")" + sha256_of(text) + R"(","have":6}])");
  EXPECT_EQ(piece(sha256_of(text), 6, "6789").at("have"), "10");
  EXPECT_EQ(piece(sha256_of(text), 6, "6789").at("have"), "10");
  EXPECT_EQ(offer(offered).at("kept"), "true");
  EXPECT_EQ(offer(offered).at("kept"), "true") << "the answer to the last offer was lost";
  EXPECT_EQ(fetched(sha256_of(text)), text);
}

TEST_F(KeptFilesTest, RestartedDaemonContinues) {
  const std::string before = "of an earlier attempt";
  ASSERT_EQ(offer(offer_of({file("old", before)})).count("missing"), 1U);
  ASSERT_EQ(piece(sha256_of(before), 0, before).status, 200U);
  ASSERT_EQ(offer(offer_of({file("old", before)})).at("kept"), "true");
  const std::string text = "0123456789";
  const auto offered = offer_of({file("old", before), file("new", text)});
  ASSERT_EQ(offer(offered).count("missing"), 1U);
  ASSERT_EQ(piece(sha256_of(text), 0, "01234").status, 200U);
  daemon_.restart();
  ASSERT_EQ(listed(), 1U) << "the list is as it was";
  EXPECT_EQ(fetched(sha256_of(before)), before);
  EXPECT_EQ(fetched(sha256_of(text)), "none");
  join_again();
  EXPECT_EQ(piece(sha256_of(text), 5, "56789").status, 409U) << "the offer was forgotten";
  EXPECT_NE(offer(offered).text.find("\"have\":5"), std::string::npos);
  EXPECT_EQ(piece(sha256_of(text), 5, "56789").at("have"), "10");
  EXPECT_EQ(offer(offered).at("kept"), "true");
  EXPECT_EQ(listed(), 2U);
  EXPECT_EQ(fetched(sha256_of(text)), text);
}

TEST_F(KeptFilesTest, ContentWithAWrongDigestIsNotKept) {
  const std::string text = "0123456789";
  const auto offered = offer_of({file("a", text)});
  ASSERT_EQ(offer(offered).count("missing"), 1U);
  EXPECT_EQ(piece(sha256_of(text), 0, "01234").status, 200U);
  EXPECT_EQ(piece(sha256_of(text), 5, "5678X").status, 409U);
  EXPECT_NE(offer(offered).text.find("\"have\":0"), std::string::npos) << "it begins again";
  EXPECT_EQ(piece(sha256_of(text), 0, text + "more").status, 400U);
  EXPECT_EQ(listed(), 0U);
  EXPECT_EQ(piece(sha256_of("never offered"), 0, "never").status, 409U);
}

TEST_F(KeptFilesTest, FilesThatTheWorkerDroppedAreRemovedAndNamed) {
  const std::string text = "weights";
  ASSERT_EQ(offer(offer_of({file("a", text), file("b", "")})).count("missing"), 1U);
  ASSERT_EQ(piece(sha256_of(text), 0, text).status, 200U);
  ASSERT_EQ(offer(offer_of({file("a", text), file("b", "")})).at("kept"), "true");
  proto::FileOffer none;
  none.dropped.files = {{"a", 7, "better and later trials took the room: keep_files.max_mb is 1"}};
  EXPECT_EQ(offer(none).at("kept"), "true");
  const auto after = listing();
  EXPECT_EQ(after.count("files"), 0U);
  EXPECT_NE(after.text.find("better and later trials took the room"), std::string::npos) << after.text;
  EXPECT_FALSE(fs::exists(directory() / sha256_of(text)));
}

TEST_F(KeptFilesTest, NamesOutsideOfTheDirectoryAreRefused) {
  const std::string deep(250, 'x');
  for (const std::string& path :
       {std::string("../up"), std::string("a/../../up"), std::string("/etc/passwd"), std::string(""),
        std::string("a//b"), std::string("./a"), std::string("a/."), std::string("a/"), std::string(256, 'n'),
        std::string("a\0b", 3)}) {
    const auto refused = offer(offer_of({file(path, "x")}));
    EXPECT_EQ(refused.status, 400U) << "\"" << path << "\": " << refused.text;
  }
  EXPECT_EQ(offer(offer_of({file("a", "x"), file("a", "y")})).status, 400U) << "twice";
  EXPECT_EQ(offer(offer_of({file("a", "x"), file("a/b", "y")})).status, 400U) << "a file is no directory";
  auto odd = file("a", "x");
  odd.digest = "../../../etc/passwd";
  EXPECT_EQ(offer(offer_of({odd})).status, 400U);
  odd.digest = "";
  EXPECT_EQ(offer(offer_of({odd})).status, 400U) << "neither content nor a link";
  EXPECT_EQ(listed(), 0U);
  // A program's name for a file must never become a path here.
  const auto hostile = offer_of({file("list.json", "{}"), file(sha256_of("x") + ".part", "x")});
  ASSERT_EQ(offer(hostile).count("missing"), 2U);
  ASSERT_EQ(piece(sha256_of("{}"), 0, "{}").status, 200U);
  ASSERT_EQ(piece(sha256_of("x"), 0, "x").status, 200U);
  EXPECT_EQ(offer(hostile).at("kept"), "true");
  EXPECT_EQ(listed(), 2U);
}

TEST_F(KeptFilesTest, AreAcceptedOnlyFromTheWorkerOfTheAttempt) {
  ScriptedWorker other(daemon_, "uid-2");
  const std::string others_key = other.join().http_key;
  const auto offered = offer_of({file("a", "x")});
  EXPECT_EQ(offer(offered, key_, others_key).status, 403U);
  engine::AttemptKey unknown = key_;
  unknown.attempt = engine::AttemptNumber(2);
  EXPECT_EQ(offer(offered, unknown, http_key_).status, 403U);
  unknown.trial = engine::TrialNumber(99);
  EXPECT_EQ(offer(offered, unknown, http_key_).status, 404U);
  EXPECT_EQ(offer(offered, key_, "no key of a session").status, 401U);
  EXPECT_EQ(listed(), 0U);
}

TEST_F(KeptFilesTest, FilesThatDoNotFitAreListedAsOnTheWorker) {
  daemon_.kept_limits.quota = 3 * 4096;
  daemon_.restart();
  join_again();
  const std::string large(3 * 4096 + 1, 'x');
  const auto refused = offer(offer_of({file("large.bin", large)}, 0.1));
  EXPECT_EQ(refused.status, 200U) << refused.text;
  EXPECT_EQ(refused.at("kept"), "false");
  EXPECT_EQ(refused.at("why_not"), "\"there is no room at the daemon (hpsearchd --kept-quota)\"");
  const auto check = [&] {
    const auto all = listing();
    EXPECT_EQ(all.count("files"), 0U);
    EXPECT_NE(all.at("left").find("large.bin"), std::string::npos) << all.text;
    EXPECT_NE(all.at("left").find("hpsearchd --kept-quota"), std::string::npos) << all.text;
  };
  check();
  daemon_.restart();
  check();
}

TEST_F(KeptFilesTest, WorstTrialLosesItsFilesFirstAndItsListShowsIt) {
  daemon_.kept_limits.quota = 2 * 4096;
  daemon_.restart();
  join_again();
  const auto keep = [&](const engine::AttemptKey& key, const std::string& content, double metric) {
    const auto offered = offer_of({file("model.pt", content)}, metric);
    const auto wanted = offer(offered, key, http_key_);
    ASSERT_EQ(wanted.count("missing"), 1U) << wanted.text;
    ASSERT_EQ(piece(sha256_of(content), 0, content, key).status, 200U);
    ASSERT_EQ(offer(offered, key, http_key_).at("kept"), "true");
  };
  keep(key_, "the worse one", 0.9);
  EXPECT_EQ(listed(), 1U);
  keep(other_key_, std::string(5000, 'b'), 0.1);
  const auto gone = listing();
  EXPECT_EQ(gone.count("files"), 0U) << gone.text;
  EXPECT_NE(gone.at("left").find("model.pt"), std::string::npos) << gone.text;
  EXPECT_FALSE(fs::exists(directory() / sha256_of("the worse one")));
}

TEST_F(KeptFilesTest, OfferRemovedForRoomIsAnsweredWithTheReason) {
  daemon_.kept_limits.quota = 2 * 4096;
  daemon_.restart();
  join_again();
  const std::string worse(5000, 'w');
  ASSERT_EQ(offer(offer_of({file("w", worse)}, 0.9)).count("missing"), 1U);
  ASSERT_EQ(piece(sha256_of(worse), 0, worse.substr(0, 100)).status, 200U);
  ASSERT_EQ(offer(offer_of({file("b", std::string(5000, 'b'))}, 0.1), other_key_, http_key_).count("missing"),
            1U);
  EXPECT_EQ(piece(sha256_of(worse), 100, worse.substr(100)).status, 400U);
  EXPECT_NE(listing().at("left").find("\"w\""), std::string::npos);
}

TEST_F(KeptFilesTest, AreRefusedByADaemonThatKeepsNone) {
  daemon_.kept_limits.files = false;
  daemon_.restart();
  join_again();
  EXPECT_EQ(offer(offer_of({file("a", "x")})).status, 404U);
  const auto none = listing();
  EXPECT_EQ(none.status, 404U);
  EXPECT_NE(none.text.find("keeps no files"), std::string::npos) << none.text;
  EXPECT_NE(archive().text.find("keeps no files"), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
