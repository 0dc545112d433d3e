#include "hpsearch/workers/shell/transfer/log_delivery.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/workers/shell/shim/program_log.hpp"
#include "scratch.hpp"
#include "workers/shell/programs.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;

net::HttpResponse status(unsigned number) {
  net::HttpResponse response;
  response.status = number;
  return response;
}

/// A daemon that accepts logs, in its own thread.
class Taker {
 public:
  /// nullopt: it never answers.
  using Answer = std::function<std::optional<net::HttpResponse>(std::size_t number)>;
  explicit Taker(Answer answer = [](std::size_t) { return status(201); }) {
    auto server = net::HttpServer::listen(
        loop_, "127.0.0.1:0",
        [this, answer = std::move(answer)](net::HttpRequest request, net::HttpServer::Reply reply) {
          std::string target = request.method + " " + request.path;
          for (const auto& [name, value] : request.query) {
            target += " " + name + "=" + value;
          }
          taken_[target] = request.body;
          keys_.emplace_back(request.header("Authorization"));
          ++requests_;
          if (auto response = answer(keys_.size())) {
            reply(*std::move(response));
          } else {
            unanswered_.push_back(std::move(reply));
          }
        },
        {.large_bodies = {{"/api/v1/logs/", "application/zstd", logs::most_packed_bytes}}});
    EXPECT_TRUE(server.has_value());
    server_ = *std::move(server);
    address_ = server_->address();
    thread_ = std::thread([this] { loop_.run(); });
  }
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
  ~Taker() { end(); }
  void end() {
    if (thread_.joinable()) {
      loop_.post([this] { loop_.stop(); });
      thread_.join();
    }
  }
  [[nodiscard]] DaemonAccess here() const { return {address_, "the key"}; }
  [[nodiscard]] std::size_t requests() const { return requests_; }
  /// Only after its end.
  [[nodiscard]] const std::map<std::string, std::string>& taken() const { return taken_; }
  [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

 private:
  net::Loop loop_;
  std::unique_ptr<net::HttpServer> server_;
  std::string address_;
  std::map<std::string, std::string> taken_;
  std::vector<std::string> keys_;
  std::vector<net::HttpServer::Reply> unanswered_;
  std::atomic<std::size_t> requests_ = 0;
  std::thread thread_;
};

class LogDelivery : public testing::Test {
 protected:
  LogDelivery() : directory_(scratch_.path(), key_) { fs::create_directories(directory_.root()); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.root() / name, std::ios::binary) << text;
  }
  std::string deliver(const DaemonAccess& to, std::chrono::milliseconds within = 30s) {
    return deliver_log(directory_, key_, to, within, stop_.get_token());
  }
  static std::string target(const std::string& stream, int process = 0) {
    return "PUT /api/v1/logs/1/2/1 lease=201 process=" + std::to_string(process) + " stream=" + stream;
  }
  static std::string text_of(const std::string& packed) {
    EXPECT_TRUE(logs::check(packed).has_value());
    const auto stretch = logs::unpack(packed, 0, logs::most_kept_bytes, false);
    return stretch ? stretch->bytes : "damaged";
  }

  Scratch scratch_;
  engine::AttemptKey key_ = key_of(2);
  AttemptDirectory directory_;
  std::stop_source stop_;
};

TEST_F(LogDelivery, SendsEachStreamOfEachProcess) {
  write("stdout.log", "one\n");
  write("stderr.log", "");
  write("stdout.1.log", "");
  write("stderr.1.log", "two\n");
  write("stdout.3.log", "nobody's");
  Taker taker;
  EXPECT_EQ(deliver(taker.here()), "");
  taker.end();
  ASSERT_EQ(taker.taken().size(), 3U) << "stderr only where something is in it";
  EXPECT_EQ(text_of(taker.taken().at(target("stdout"))), "one\n");
  EXPECT_EQ(text_of(taker.taken().at(target("stdout", 1))), "");
  EXPECT_EQ(text_of(taker.taken().at(target("stderr", 1))), "two\n");
  EXPECT_EQ(taker.keys().front(), "Bearer the key");
}

TEST_F(LogDelivery, UtilizationComesLastAndMayBeRefused) {
  write("stdout.log", "one\n");
  write("utilization.log", "{}\n");
  Taker taker([](std::size_t number) { return status(number == 1 ? 201 : 400); });
  EXPECT_EQ(deliver(taker.here()), "") << "an older daemon doesn't know it";
  taker.end();
  ASSERT_EQ(taker.taken().size(), 2U);
  EXPECT_EQ(text_of(taker.taken().at(target("stdout"))), "one\n");
  EXPECT_EQ(text_of(taker.taken().at(target("utilization"))), "{}\n");
}

TEST_F(LogDelivery, SendsHeadAndTailOfALogOfAHundredMegabytes) {
  auto log = ProgramLog::create(directory_.log("stdout"));
  ASSERT_TRUE(log.has_value());
  std::string block;
  while (block.size() < mebibyte) {
    block += "line " + std::to_string(block.size()) + "\n";
  }
  block.resize(mebibyte);
  std::uint64_t size = 0;
  for (int i = 0; i < 100; ++i) {
    block.replace(0, 8, std::to_string(10'000'000 + i));
    ASSERT_TRUE(log->append(block));
    size += block.size();
  }
  Taker taker;
  EXPECT_EQ(deliver(taker.here()), "");
  taker.end();
  const std::string& packed = taker.taken().at(target("stdout"));
  EXPECT_EQ(*logs::kept_bytes_of(packed), (logs::KeptBytes{size, mebibyte, size - 3 * mebibyte}));
  const auto tail = logs::unpack(packed, mebibyte, 8, false);
  ASSERT_TRUE(tail.has_value());
  EXPECT_EQ(tail->bytes, "10000097");
  EXPECT_EQ(logs::unpack(packed, 0, 8, false)->bytes, "10000000");
}

TEST_F(LogDelivery, SendsTheExistingPartsOfALogWithAGap) {
  write("stdout.log", "head");
  write("stdout.log.20", "middle");
  write("stdout.log.26", " and tail");
  write("stdout.log.nothing", "else");
  Taker taker;
  EXPECT_EQ(deliver(taker.here()), "");
  taker.end();
  const std::string& packed = taker.taken().at(target("stdout"));
  EXPECT_EQ(*logs::kept_bytes_of(packed), (logs::KeptBytes{35, 4, 20}));
  EXPECT_EQ(logs::unpack(packed, 4, 100, false)->bytes, "middle and tail");
}

TEST_F(LogDelivery, SendsNothingForEmptyLogs) {
  EXPECT_EQ(deliver({"127.0.0.1:9", ""}), "");
  fs::remove_all(directory_.root());
  EXPECT_EQ(deliver({"127.0.0.1:9", ""}), "");
}

TEST_F(LogDelivery, FailsWithoutAnAddress) {
  write("stdout.log", "one\n");
  EXPECT_EQ(deliver({"", ""}), "the daemon has announced no HTTP address");
}

TEST_F(LogDelivery, GivesUpOnADaemonThatNeverAnswers) {
  write("stdout.log", "one\n");
  Taker taker([](std::size_t) { return std::nullopt; });
  EXPECT_NE(deliver(taker.here(), 300ms), "");
  taker.end();
  EXPECT_EQ(taker.keys().size(), 1U);
}

TEST_F(LogDelivery, RetriesWithoutSpaceButNotAfterARefusal) {
  write("stdout.log", "one\n");
  Taker full([](std::size_t number) { return status(number < 2 ? 503 : 201); });
  EXPECT_EQ(deliver(full.here()), "");
  full.end();
  EXPECT_EQ(full.keys().size(), 2U);
  Taker strict([](std::size_t) { return status(403); });
  EXPECT_EQ(deliver(strict.here()), "the daemon answered with status 403");
  strict.end();
  EXPECT_EQ(strict.keys().size(), 1U);
}

TEST_F(LogDelivery, EndsWithItsWorker) {
  write("stdout.log", "one\n");
  Taker full([](std::size_t) { return status(503); });
  std::thread agent([&] {
    while (full.requests() == 0) {
      std::this_thread::yield();
    }
    stop_.request_stop();
  });
  EXPECT_EQ(deliver(full.here(), 1h), "the daemon answered with status 503");
  agent.join();
}

}  // namespace
}  // namespace hpsearch::workers::test
