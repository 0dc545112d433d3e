#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "daemon/daemon_fixture.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/proto/wire/utilization.hpp"

namespace hpsearch::daemon {
namespace {

namespace fs = std::filesystem;

std::string packed(const std::string& stream) {
  auto bytes = logs::pack(
      logs::bytes_to_keep(stream.size(), stream.size(), 0),
      [&stream](std::uint64_t offset, std::uint64_t limit) { return stream.substr(offset, limit); });
  EXPECT_TRUE(bytes.has_value());
  return bytes ? *bytes : "";
}

std::string lines(const std::string& word, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += word + " " + std::to_string(i) + "\n";
  }
  return text;
}

/// One worker with the first attempt of each trial of a small search.
class KeptLogsTest : public testing::Test {
 protected:
  KeptLogsTest() { begin(); }

  void begin() {
    worker_.slots = 2;
    http_key_ = worker_.join().http_key;
    daemon_.submit(small_search(4));
    key_ = worker_.wait_for<proto::Lease>().spec.key;
  }

  [[nodiscard]] static std::string target_of(const engine::AttemptKey& key, const std::string& query = "") {
    return "/api/v1/logs/" + std::to_string(key.experiment.number()) + "/" +
           std::to_string(key.trial.number()) + "/" + std::to_string(key.attempt.number()) +
           "?lease=" + std::to_string(key.lease.number()) + (query.empty() ? "" : "&" + query);
  }
  DaemonFixture::Answer put(const std::string& target, const std::string& body, const std::string& key) {
    return daemon_.ask("PUT", target, body,
                       {{"Content-Type", "application/zstd"}, {"Authorization", "Bearer " + key}});
  }
  DaemonFixture::Answer put(const std::string& body) { return put(target_of(key_), body, http_key_); }
  DaemonFixture::Answer log(const std::string& query = "") {
    return daemon_.ask(
        "GET", "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number()) + "/log?" + query);
  }
  void worker_leaves() {
    worker_.send(proto::Goodbye{"its machine goes"});
    daemon_.pump_until([&] { return !daemon_.sessions->connected(engine::WorkerId(1)); });
  }
  [[nodiscard]] std::string trial() const {
    return "/api/v1/experiments/1/trials/" + std::to_string(key_.trial.number());
  }
  [[nodiscard]] fs::path file() const {
    return daemon_.folder.path() / "kept" / "1" / std::to_string(key_.trial.number()) / "1" /
           "1.0.stdout.zst";
  }

  DaemonFixture daemon_;
  ScriptedWorker worker_{daemon_};
  engine::AttemptKey key_;
  std::string http_key_;
};

TEST_F(KeptLogsTest, AreReadWhenTheWorkerHasLeft) {
  const std::string text = lines("epoch", 1000);
  const auto taken = put(packed(text));
  ASSERT_EQ(taken.status, 201U) << taken.text;
  worker_leaves();
  const auto all = log();
  ASSERT_EQ(all.status, 200U) << all.text;
  EXPECT_EQ(*all.body.at_path("text")->as_text(), text);
  EXPECT_EQ(all.at("kept"), "true");
  EXPECT_EQ(all.at("size"), std::to_string(text.size()));
  EXPECT_EQ(*log("offset=8&limit=7").body.at_path("text")->as_text(), text.substr(8, 7));
  EXPECT_EQ(*log("from_end=1&limit=7").body.at_path("text")->as_text(), text.substr(text.size() - 7));
  const auto none = log("stream=stderr");
  EXPECT_EQ(none.at("text"), "\"\"") << none.text << " where stderr is not sent it was empty";
}

TEST_F(KeptLogsTest, UtilizationIsKeptBesideThem) {
  const std::string text = proto::utilization_text(
      {{1'769'000'010'000, 10'000, 39'000, 2'000, {{0, std::nullopt, 50}}},
       {1'769'000'020'000, 10'000, std::nullopt, 3'000, {{0, 5'000, 60}, {1, 2'500, 70}}}});
  ASSERT_EQ(put(packed("the log")).status, 201U);
  ASSERT_EQ(put(target_of(key_, "stream=utilization"), packed(text), http_key_).status, 201U);
  EXPECT_EQ(put(target_of(key_, "stream=stdin"), packed(text), http_key_).status, 400U);
  worker_leaves();
  for (const char* attempt : {"1", "0"}) {
    const auto used = daemon_.ask("GET", trial() + "/attempts/" + attempt + "/utilization");
    ASSERT_EQ(used.status, 200U) << used.text;
    EXPECT_EQ(used.at("attempt"), "1");
    EXPECT_EQ(used.at("worker"), "1");
    EXPECT_EQ(used.at("workers"), "[1]");
    EXPECT_EQ(used.at("why_none"), "null");
    EXPECT_EQ(used.body.at_path("at")->as_list()->back().number_or(0), 1'769'000'020);
    EXPECT_EQ(used.body.at_path("seconds")->as_list()->back().number_or(0), 10);
    EXPECT_EQ(used.body.at_path("cores")->as_list()->front().number_or(0), 3.9);
    EXPECT_EQ(used.body.at_path("cores")->as_list()->back(), engine::Value()) << "it was not measured";
    EXPECT_EQ(used.at("memory_bytes"), "[2000,3000]");
    ASSERT_EQ(used.count("devices"), 2U);
    const engine::Value& first = used.body.at_path("devices")->as_list()->front();
    EXPECT_EQ(first.at_path("utilization")->as_list()->front(), engine::Value());
    EXPECT_EQ(first.at_path("utilization")->as_list()->back().number_or(0), 50);
    const engine::Value& second = used.body.at_path("devices")->as_list()->back();
    EXPECT_EQ(second.at_path("index")->number_or(0), 1);
    EXPECT_EQ(second.at_path("utilization")->as_list()->back().number_or(0), 25);
    EXPECT_EQ(engine::compact_json(*second.at_path("memory_bytes")), "[null,70]");
  }
  EXPECT_EQ(*log().body.at_path("text")->as_text(), "the log");
  EXPECT_EQ(daemon_.ask("GET", trial() + "/attempts/7/utilization").status, 404U);
  EXPECT_EQ(daemon_.ask("GET", trial() + "/attempts/1/utilization?worker=9").status, 404U);
}

TEST_F(KeptLogsTest, AreReadWhenTheWorkerHasLostThem) {
  ASSERT_EQ(put(packed("it was here")).status, 201U);
  std::optional<engine::Result<net::HttpResponse>> response;
  std::thread client([&, address = daemon_.http->address()] {
    auto got = net::http_request(address, "GET", trial() + "/log", "", std::chrono::seconds(30));
    daemon_.loop.post([&, got = std::move(got)] { response = got; });
  });
  const auto question = worker_.wait_for<proto::ReadLog>();
  worker_.send(proto::LogPart{question.request, 0, 0, "", "there is none any more"});
  daemon_.pump_until([&] { return response.has_value(); });
  client.join();
  ASSERT_TRUE(*response);
  EXPECT_NE((*response)->body.find("it was here"), std::string::npos) << (*response)->body;
}

TEST_F(KeptLogsTest, LongStreamsKeepHeadAndTail) {
  const std::string text = lines("a line that is as long as many are", 150'000);
  ASSERT_GT(text.size(), logs::most_kept_bytes);
  ASSERT_EQ(put(packed(text)).status, 201U);
  worker_leaves();
  const auto before = log("offset=" + std::to_string(logs::most_head_bytes - 4) + "&limit=100");
  EXPECT_EQ(*before.body.at_path("text")->as_text(), text.substr(logs::most_head_bytes - 4, 4));
  const auto behind = log("offset=" + std::to_string(logs::most_head_bytes) + "&limit=100");
  const std::size_t tail = text.size() - logs::most_tail_bytes;
  EXPECT_EQ(behind.at("offset"), std::to_string(tail));
  EXPECT_EQ(*behind.body.at_path("text")->as_text(), text.substr(tail, 100));
}

TEST_F(KeptLogsTest, KeepCharactersWhole) {
  ASSERT_EQ(put(packed("a\xE4\xB8\xAD\xFF!")).status, 201U);
  worker_leaves();
  EXPECT_EQ(*log("limit=3").body.at_path("text")->as_text(), "a");
  EXPECT_EQ(*log("offset=1&limit=3").body.at_path("text")->as_text(), "\xE4\xB8\xAD");
  EXPECT_EQ(*log("offset=4").body.at_path("text")->as_text(), "?!");
  EXPECT_EQ(log("from_end=1&limit=4").at("offset"), "4");
}

TEST_F(KeptLogsTest, AreReplacedAndNotAppended) {
  ASSERT_EQ(put(packed("the first")).status, 201U);
  ASSERT_EQ(put(packed("the second")).status, 201U);
  EXPECT_EQ(std::distance(fs::directory_iterator(file().parent_path()), fs::directory_iterator()), 1);
  EXPECT_TRUE(fs::is_empty(daemon_.folder.path() / "uploads"));
  worker_leaves();
  EXPECT_EQ(log().at("text"), "\"the second\"");
}

TEST_F(KeptLogsTest, AreAcceptedOnlyFromTheWorkerOfTheAttempt) {
  ScriptedWorker other(daemon_, "uid-2");
  const std::string others_key = other.join().http_key;
  const std::string log_bytes = packed("x");
  const auto refused = put(target_of(key_), log_bytes, others_key);
  EXPECT_EQ(refused.status, 403U) << refused.text;
  EXPECT_NE(refused.text.find("worker 2 did not run attempt 1"), std::string::npos) << refused.text;
  EXPECT_EQ(put(target_of(key_, "process=1"), log_bytes, http_key_).status, 403U) << "it has one slot";
  engine::AttemptKey unknown = key_;
  unknown.attempt = engine::AttemptNumber(2);
  EXPECT_EQ(put(target_of(unknown), log_bytes, http_key_).status, 403U);
  unknown = key_;
  unknown.lease = engine::LeaseId(engine::Numbering::first_after_a_restore + 1);
  EXPECT_EQ(put(target_of(unknown), log_bytes, http_key_).status, 403U) << "of another history";
  unknown = key_;
  unknown.trial = engine::TrialNumber(99);
  EXPECT_EQ(put(target_of(unknown), log_bytes, http_key_).status, 404U);
  EXPECT_EQ(daemon_.ask("PUT", target_of(key_), log_bytes, {{"Content-Type", "application/zstd"}}).status,
            400U)
      << "whoever else may do everything is no worker";
  EXPECT_EQ(put(target_of(key_, "stream=stdin"), log_bytes, http_key_).status, 400U);
  EXPECT_EQ(put(target_of(key_, "process=x"), log_bytes, http_key_).status, 400U);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(KeptLogsTest, AreCheckedBeforeTheyAreStored) {
  std::string cut = packed(lines("epoch", 1000));
  cut.pop_back();
  const auto refused = put(cut);
  EXPECT_EQ(refused.status, 400U);
  EXPECT_NE(refused.text.find("the log is damaged"), std::string::npos) << refused.text;
  EXPECT_EQ(put("not packed at all").status, 400U);
  EXPECT_EQ(daemon_
                .ask("PUT", target_of(key_), "{}",
                     {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + http_key_}})
                .status,
            400U);
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(fs::is_empty(daemon_.folder.path() / "uploads"));
}

TEST_F(KeptLogsTest, DamageOnTheDiskIsReported) {
  ASSERT_EQ(put(packed(lines("epoch", 1000))).status, 201U);
  worker_leaves();
  fs::resize_file(file(), fs::file_size(file()) - 1);
  const auto damaged = log();
  EXPECT_EQ(damaged.status, 500U);
  EXPECT_NE(damaged.text.find("what the daemon kept of it cannot be read"), std::string::npos);
}

TEST_F(KeptLogsTest, FailedUploadIsReportedAfterARestart) {
  worker_.send(proto::LogNotKept{key_, "the daemon did not take it within 30 s"});
  const auto reason = [&] { return daemon_.kept->log_problem_of(key_, engine::WorkerId(1)); };
  daemon_.pump_until([&] { return !reason().empty(); });
  worker_leaves();
  const auto check = [&] {
    const auto answer = log();
    EXPECT_EQ(answer.status, 503U);
    EXPECT_NE(answer.text.find("the daemon could not keep it: the daemon did not take it within 30 s"),
              std::string::npos)
        << answer.text;
    EXPECT_EQ(daemon_.ask("GET", trial()).at("log_problem"), "\"the daemon did not take it within 30 s\"");
  };
  check();
  daemon_.restart();
  daemon_.pump_until([&] { return !reason().empty(); });
  check();
}

TEST_F(KeptLogsTest, LateUploadRemovesTheReportedFailure) {
  worker_.send(proto::LogNotKept{key_, "no room"});
  daemon_.pump_until([&] { return !daemon_.kept->log_problem_of(key_, engine::WorkerId(1)).empty(); });
  ASSERT_EQ(put(packed("after all")).status, 201U);
  EXPECT_EQ(daemon_.ask("GET", trial()).at("log_problem"), "null");
  daemon_.restart();
  ScriptedWorker another(daemon_, "uid-9");
  another.join();
  EXPECT_EQ(daemon_.ask("GET", trial()).at("log_problem"), "null");
}

TEST_F(KeptLogsTest, RemovalForRoomIsReported) {
  daemon_.kept_limits.quota = 8192;
  worker_leaves();
  daemon_.restart();
  worker_.connect();
  worker_.incarnation = 2;
  http_key_ = worker_.join().http_key;
  daemon_.pump_until([&] { return worker_.all<proto::Lease>().size() >= 2; });
  const engine::AttemptKey first = worker_.all<proto::Lease>()[0].spec.key;
  const engine::AttemptKey second = worker_.all<proto::Lease>()[1].spec.key;
  ASSERT_NE(first.trial, second.trial);
  ASSERT_EQ(put(target_of(first), packed("one"), http_key_).status, 201U);
  ASSERT_EQ(put(target_of(second), packed("two"), http_key_).status, 201U);
  ASSERT_EQ(put(target_of(second, "stream=stderr"), packed("three"), http_key_).status, 201U);
  worker_.send(proto::Goodbye{"its machine goes"});
  daemon_.pump_until([&] { return !daemon_.sessions->connected(engine::WorkerId(1)); });
  const auto log_of = [&](const engine::AttemptKey& key) {
    return daemon_.ask("GET", "/api/v1/experiments/1/trials/" + std::to_string(key.trial.number()) +
                                  "/log?attempt=" + std::to_string(key.attempt.number()));
  };
  const auto check = [&] {
    const auto gone = log_of(std::min(first, second));
    EXPECT_EQ(gone.status, 404U);
    EXPECT_NE(gone.text.find("was removed to make room (hpsearchd --kept-quota and --keep-logs)"),
              std::string::npos)
        << gone.text;
    EXPECT_EQ(log_of(std::max(first, second)).status, 200U);
  };
  check();
  daemon_.restart();
  daemon_.pump_until(
      [&] { return daemon_.kept->log_was_removed(first.experiment, std::min(first, second).trial); });
  check();
}

TEST_F(KeptLogsTest, LogsOfALostNodeAreReportedAsLost) {
  worker_leaves();
  const auto answer = log("attempt=1");
  EXPECT_EQ(answer.status, 404U) << answer.text;
  EXPECT_NE(answer.text.find(
                "\"worker of uid-1\\\", which has this log, is away; the log counts as lost with it: "),
            std::string::npos)
      << answer.text;
}

}  // namespace
}  // namespace hpsearch::daemon
