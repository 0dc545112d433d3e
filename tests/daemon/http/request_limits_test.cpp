#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/daemon_fixture.hpp"

// Limits of one token's simultaneous requests, which leave room for other tokens.

namespace hpsearch::daemon {
namespace {

/// A body whose reader is connected as long as this lives.
class OpenBody : public net::HttpBody {
 public:
  void write(std::shared_ptr<const std::string>) override {}
  [[nodiscard]] std::size_t unsent() const noexcept override { return 0; }
  void on_drained(std::function<void()>) override {}
  void on_closed(std::function<void()> task) override { closed_ = std::move(task); }
  void end() override { open_ = false; }
  void cut() override { open_ = false; }
  [[nodiscard]] bool is_open() const noexcept override { return open_; }

  /// Objects that belong to the answer, until its reader disconnects.
  std::vector<std::shared_ptr<const void>> held{};

  /// The reader disconnects.
  void leave() {
    open_ = false;
    held.clear();
    if (closed_) {
      std::exchange(closed_, nullptr)();
    }
  }

 private:
  bool open_ = true;
  std::function<void()> closed_;
};

class RequestLimits : public testing::Test {
 protected:
  RequestLimits() {
    daemon_.serve_http(false);
    routes_ = http_routes(*daemon_.runtime, *daemon_.sessions,
                          {.version = "0.1.0",
                           .state_dir = "/state",
                           .started = {},
                           .checks = daemon_.checks.get(),
                           .authentication = daemon_.authentication.get(),
                           .tokens = &daemon_.tokens});
  }

  std::string token(const std::string& name) {
    const auto made =
        daemon_.tokens.create(name, Role::viewer, Tokens::usual_life, "uid 0", daemon_.runtime->now());
    EXPECT_TRUE(made);
    return made ? made->text : "";
  }

  /// The answer at once; the loop does not run, so hardly any time passes.
  net::HttpResponse ask(const std::string& token, const std::string& path,
                        const net::HttpHeaders& more = {}) {
    net::HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.peer = {{}, "127.0.0.1"};
    request.headers = more;
    request.headers.emplace_back("Authorization", "Bearer " + token);
    std::optional<net::HttpResponse> got;
    routes_.handler(std::move(request), [&](net::HttpResponse response) { got = std::move(response); });
    EXPECT_TRUE(got.has_value());
    return got ? *std::move(got) : net::HttpResponse{};
  }
  /// A stream with a reader; null if there may be no more.
  std::shared_ptr<OpenBody> open_stream(const std::string& token) {
    const net::HttpResponse answer = ask(token, "/api/v1/events", {{"Accept", "text/event-stream"}});
    if (!answer.stream) {
      EXPECT_EQ(answer.status, 429U) << answer.body;
      return nullptr;
    }
    auto body = std::make_shared<OpenBody>();
    body->held = answer.held;
    answer.stream(body);
    return body;
  }

  DaemonFixture daemon_;
  ServedRoutes routes_;
};

TEST_F(RequestLimits, OneTokenMaySendSixHundredRequestsAtOnce) {
  const std::string busy = token("busy");
  const std::string other = token("other");
  std::size_t answers = 1;
  net::HttpResponse last = ask(busy, "/api/v1/whoami");
  for (; answers < 10'000 && last.status == 200; ++answers) {
    last = ask(busy, "/api/v1/whoami");
  }
  ASSERT_EQ(last.status, 429U);
  EXPECT_GE(answers, 601U);
  EXPECT_NE(last.body.find("token busy sends more than 300 requests a second"), std::string::npos)
      << last.body;
  EXPECT_EQ(last.headers.front(), (std::pair<std::string, std::string>("Retry-After", "1")));
  EXPECT_EQ(ask(other, "/api/v1/whoami").status, 200U) << "each token has its own";
}

TEST_F(RequestLimits, OneTokenMayOpen128Streams) {
  const std::string busy = token("busy");
  const std::string other = token("other");
  std::vector<std::shared_ptr<OpenBody>> streams;
  for (int i = 0; i < 128; ++i) {
    streams.push_back(open_stream(busy));
    ASSERT_NE(streams.back(), nullptr) << i;
  }
  EXPECT_EQ(open_stream(busy), nullptr);
  EXPECT_EQ(ask(busy, "/api/v1/whoami").status, 429U);
  EXPECT_NE(open_stream(other), nullptr) << "each token has its own";
  streams.back()->leave();
  daemon_.pump_until([&] { return ask(busy, "/api/v1/whoami").status == 200; });
  EXPECT_NE(open_stream(busy), nullptr);
}

}  // namespace
}  // namespace hpsearch::daemon
