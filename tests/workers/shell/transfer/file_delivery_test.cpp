// How a worker delivers files of programs to its daemon.

#include "hpsearch/workers/shell/transfer/file_delivery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/wire/file_offer.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using files::sha256_of;

constexpr std::uint64_t delivering_store = 7;

net::HttpResponse answer_of(unsigned status, Value::Map value) {
  net::HttpResponse response;
  response.status = status;
  response.body = engine::compact_json(Value(std::move(value)));
  return response;
}

/// A daemon that accepts files, in its own thread.
class FileTaker {
 public:
  /// Called before each request, with its number from 1: may return another answer, after it has removed what
  /// a crash would lose.
  using Before = std::function<std::optional<net::HttpResponse>(std::size_t number, FileTaker& taker)>;
  explicit FileTaker(Before before = {}) : before_(std::move(before)) {
    auto server = net::HttpServer::listen(
        loop_, "127.0.0.1:0",
        [this](const net::HttpRequest& request, const net::HttpServer::Reply& reply) {
          ++requests_;
          auto other = before_ ? before_(requests_, *this) : std::nullopt;
          reply(other ? *std::move(other) : take(request));
        },
        {.large_bodies = {{"/api/v1/files/", "application/octet-stream", proto::most_piece_bytes}}});
    EXPECT_TRUE(server.has_value());
    server_ = *std::move(server);
    address_ = server_->address();
    thread_ = std::thread([this] { loop_.run(); });
  }
  FileTaker(const FileTaker&) = delete;
  FileTaker& operator=(const FileTaker&) = delete;
  ~FileTaker() {
    loop_.post([this] { loop_.stop(); });
    thread_.join();
  }

  [[nodiscard]] DaemonAccess here() const { return {address_, "the key"}; }
  void forget_offer() { offered_.reset(); }

  // Only while there is no request.
  [[nodiscard]] std::size_t requests() const { return requests_; }
  [[nodiscard]] const std::optional<proto::FileOffer>& kept() const { return kept_; }
  [[nodiscard]] std::size_t lists() const { return lists_; }
  [[nodiscard]] std::string content(const std::string& path) const {
    for (const proto::OfferedFile& file : kept_ ? kept_->files : std::vector<proto::OfferedFile>()) {
      if (file.path == path) {
        const auto found = contents_.find(file.digest);
        return found == contents_.end() ? "missing" : found->second;
      }
    }
    return "not listed";
  }

 private:
  net::HttpResponse take(const net::HttpRequest& request) {
    const std::string last = request.path.substr(request.path.rfind('/') + 1);
    if (request.header("Content-Type") == "application/octet-stream") {
      std::string& content = contents_[last];
      if (!offered_) {
        return answer_of(409, {{"error", Value::Map{{"message", "offer again"}}}});
      }
      EXPECT_EQ(request.query_or("offset", ""), std::to_string(content.size()));
      content += request.body;
      largest_ = std::max(largest_, request.body.size());
      return answer_of(200, {{"have", static_cast<std::int64_t>(content.size())}});
    }
    const auto value = proto::parse_json(request.body);
    auto offer = value ? proto::decode_value<proto::FileOffer>(*value)
                       : engine::Result<proto::FileOffer>(value.error());
    EXPECT_TRUE(offer && proto::check(*offer)) << request.body;
    EXPECT_EQ(request.header("Authorization"), "Bearer the key");
    offered_ = *offer;
    Value::List missing;
    for (const proto::OfferedFile& file : offer->files) {
      const std::string& have = contents_[file.digest];
      if (file.link.empty() && have.size() < file.bytes) {
        missing.emplace_back(Value::Map{{"digest", file.digest},
                                        {"bytes", static_cast<std::int64_t>(file.bytes)},
                                        {"have", static_cast<std::int64_t>(have.size())}});
      }
    }
    if (missing.empty()) {
      kept_ = offered_;
      ++lists_;
    }
    return answer_of(200, {{"kept", missing.empty()}, {"missing", std::move(missing)}, {"why_not", ""}});
  }

  Before before_;
  net::Loop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::string address_;
  std::atomic<std::size_t> requests_ = 0;
  std::optional<proto::FileOffer> offered_;
  std::optional<proto::FileOffer> kept_;
  std::size_t lists_ = 0;
  std::size_t largest_ = 0;
  std::map<std::string, std::string> contents_;
  std::thread thread_;
};

class FileDeliveryTest : public testing::Test {
 protected:
  /// An attempt of that trial has left these files.
  void left(std::uint64_t trial, const std::map<std::string, std::string>& files,
            std::optional<double> metric = 0.5, std::uint64_t number = 1,
            std::uint64_t max_bytes = 1'000'000'000) {
    AttemptDirectory directory(state_ / "attempts", key_of(trial, number));
    ASSERT_TRUE(directory.make(""));
    ASSERT_TRUE(stamp_working_directory(directory));
    for (const auto& [path, content] : files) {
      write_text(directory.work() / path, content);
    }
    const auto taken =
        files_.take(directory, key_of(trial, number), delivering_store, {max_bytes, false, metric});
    ASSERT_TRUE(taken) << taken.error().message;
  }
  FilesSent send(std::uint64_t trial, const FileTaker& taker) {
    const auto files =
        files_.unsent_files(delivering_store, {engine::ExperimentId(1), engine::TrialNumber(trial)});
    EXPECT_TRUE(files) << files.error().message;
    FilesSent sent = send_files(*files, taker.here(), stop_.get_token());
    if (sent.end != FilesSent::End::later) {
      files_.sent(delivering_store, *files);
    }
    return sent;
  }
  [[nodiscard]] fs::path kept(std::uint64_t trial) const {
    return state_ / "trials/7/1" / std::to_string(trial) / "files";
  }
  using Trials = std::vector<KeptFiles::TrialKey>;
  static KeptFiles::TrialKey trial(std::uint64_t number) {
    return {engine::ExperimentId(1), engine::TrialNumber(number)};
  }

  Scratch scratch_;
  fs::path state_ = scratch_.path() / "state";
  KeptFiles files_{state_};
  std::stop_source stop_;
};

TEST_F(FileDeliveryTest, SendsEveryFileInPiecesAndThenTheList) {
  std::string large;
  while (large.size() < 2 * proto::most_piece_bytes + 10) {
    large += std::to_string(large.size()) + "\n";
  }
  left(3, {{"model.pt", large}, {"runs/notes.txt", "notes"}, {"empty", ""}});
  fs::create_symlink("model.pt", kept(3) / "last.pt");
  fs::permissions(kept(3) / "runs/notes.txt", fs::perms::owner_exec, fs::perm_options::add);
  FileTaker taker;
  const FilesSent sent = send(3, taker);
  EXPECT_EQ(sent.end, FilesSent::End::taken);
  EXPECT_EQ(sent.why, "");
  EXPECT_EQ(taker.content("model.pt"), large);
  EXPECT_EQ(taker.content("runs/notes.txt"), "notes");
  ASSERT_EQ(taker.kept()->files.size(), 4U);
  EXPECT_EQ(taker.kept()->files[1].link, "model.pt");
  EXPECT_TRUE(taker.kept()->files[3].executable);
  EXPECT_EQ(taker.kept()->metric, 0.5);
  EXPECT_EQ(taker.requests(), 2U + 3 + 1) << "two offers, three pieces of one file and one of the other";
  EXPECT_EQ(files_.unsent(delivering_store), Trials{});
}

TEST_F(FileDeliveryTest, ContentThatTheDaemonHasIsNotSentAgain) {
  left(0, {{"a", "first"}});
  FileTaker taker;
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  const std::size_t before = taker.requests();
  left(0, {{"b", "first"}}, 0.5, 2);
  EXPECT_EQ(files_.unsent(delivering_store), Trials{trial(0)});
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  EXPECT_EQ(taker.requests(), before + 1);
  EXPECT_EQ(taker.content("b"), "first");
}

TEST_F(FileDeliveryTest, LostPieceIsSentAgain) {
  const std::string content(proto::most_piece_bytes + 5, 'x');
  left(0, {{"a", content}});
  // The offer is request 1, the pieces are 2 and 3.
  FileTaker taker([](std::size_t number, FileTaker&) {
    return number == 3 ? std::optional(answer_of(503, {})) : std::nullopt;
  });
  EXPECT_EQ(send(0, taker).end, FilesSent::End::later);
  EXPECT_FALSE(taker.kept());
  EXPECT_EQ(files_.unsent(delivering_store), Trials{trial(0)});
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  EXPECT_EQ(taker.content("a"), content);
  EXPECT_EQ(taker.requests(), 3U + 3) << "an offer, the second piece, the list";
}

TEST_F(FileDeliveryTest, OfferIsRepeatedIfTheDaemonLostIt) {
  const std::string content(proto::most_piece_bytes + 5, 'x');
  left(0, {{"a", content}});
  FileTaker taker([](std::size_t number, FileTaker& it) {
    if (number == 3) {
      it.forget_offer();
    }
    return std::optional<net::HttpResponse>();
  });
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  EXPECT_EQ(taker.content("a"), content);
  EXPECT_EQ(taker.lists(), 1U);
}

TEST_F(FileDeliveryTest, ExpiredKeyMeansLaterAndRefusalMeansNever) {
  left(0, {{"a", "x"}});
  FileTaker over([](std::size_t, FileTaker&) { return std::optional(answer_of(401, {})); });
  EXPECT_EQ(send(0, over).end, FilesSent::End::later);
  EXPECT_EQ(files_.unsent(delivering_store), Trials{trial(0)});
  FileTaker strict([](std::size_t, FileTaker&) {
    return std::optional(answer_of(403, {{"error", Value::Map{{"message", "it did not run here"}}}}));
  });
  const FilesSent refused = send(0, strict);
  EXPECT_EQ(refused.end, FilesSent::End::refused);
  EXPECT_EQ(refused.why, "it did not run here");
  EXPECT_EQ(files_.unsent(delivering_store), Trials{});
  left(1, {{"a", "x"}});
  FileTaker none([](std::size_t, FileTaker&) { return std::optional(answer_of(404, {})); });
  const FilesSent unwanted = send(1, none);
  EXPECT_EQ(unwanted.end, FilesSent::End::refused);
  EXPECT_EQ(unwanted.why, "") << "a daemon that keeps none is nobody's trouble";
}

TEST_F(FileDeliveryTest, NextWorkerOnTheDirectorySendsTheRest) {
  left(0, {{"a", "x"}});
  left(1, {{"b", "y"}});
  FileTaker taker;
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  KeptFiles next(state_);
  EXPECT_EQ(next.unsent(delivering_store), Trials{trial(1)});
  EXPECT_EQ(next.unsent(delivering_store + 1), Trials{}) << "another store's";
}

TEST_F(FileDeliveryTest, FilesChangedMeanwhileAreSentAgain) {
  left(0, {{"a", "x"}});
  EXPECT_EQ(files_.unsent(delivering_store), Trials{trial(0)});
  const auto before = files_.unsent_files(delivering_store, trial(0));
  ASSERT_TRUE(before);
  left(0, {{"a", "y"}}, 0.5, 2);
  files_.sent(delivering_store, *before);
  EXPECT_EQ(files_.unsent(delivering_store), Trials{trial(0)});
}

TEST_F(FileDeliveryTest, DroppedTrialIsReportedAsEmpty) {
  left(0, {{"a", std::string(600, 'a')}}, 0.9, 1, 1'000);
  FileTaker taker;
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  EXPECT_EQ(taker.kept()->files.size(), 1U);
  left(1, {{"a", std::string(600, 'b')}}, 0.1, 1, 1'000);
  EXPECT_EQ(files_.unsent(delivering_store), (Trials{trial(0), trial(1)}));
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  EXPECT_EQ(taker.kept()->files.size(), 0U);
  ASSERT_EQ(taker.kept()->dropped.files.size(), 1U);
  EXPECT_EQ(taker.kept()->dropped.files[0].path, "a");
}

TEST_F(FileDeliveryTest, NamesThatAreNotUtf8StayOnTheWorkerAndAreReported) {
  left(0, {{"fine", "x"},
           {"od\xFF"
            "d",
            "y"}});
  FileTaker taker;
  EXPECT_EQ(send(0, taker).end, FilesSent::End::taken);
  EXPECT_EQ(taker.content("fine"), "x");
  ASSERT_EQ(taker.kept()->files.size(), 1U);
  ASSERT_EQ(taker.kept()->left.files.size(), 1U);
  EXPECT_EQ(taker.kept()->left.files[0].path,
            "od\xEF\xBF\xBD"
            "d");
}

TEST_F(FileDeliveryTest, EndingWorkerSendsNoIncompleteOffer) {
  left(0, {{"a", "x"}});
  FileTaker taker;
  stop_.request_stop();
  EXPECT_EQ(send(0, taker).end, FilesSent::End::later);
  EXPECT_EQ(taker.requests(), 0U);
}

}  // namespace
}  // namespace hpsearch::workers::test
