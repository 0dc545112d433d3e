#include "hpsearch/io/http/http_body.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/http/http_reading.hpp"
#include "scratch.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;
using Body = std::shared_ptr<HttpBody>;

/// A server in its own thread, over what the parameter names. /lines?n=N writes N lines and ends; the body of
/// /open is the test's.
class HttpBodies : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    HttpRules rules;
    std::string place = "127.0.0.1:0";
    if (GetParam() == "unix") {
      place = "unix://" + folder_.path("api.sock");
    } else if (GetParam() == "tls") {
      auto identity = TlsIdentity::self_signed(folder_.path().string());
      ASSERT_TRUE(identity) << identity.error().message;
      rules.tls = *std::move(identity);
    }
    auto listening = HttpServer::listen(
        loop_, place,
        [this](const HttpRequest& request, const HttpServer::Reply& reply) { answer(request, reply); },
        rules);
    ASSERT_TRUE(listening) << listening.error().message;
    server_ = std::move(listening).value();
    address_ = server_->address();
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    loop_.post([this] {
      server_.reset();
      body_.reset();
      loop_.stop();
    });
    thread_.join();
    EXPECT_EQ(closed_, closed_expected_);
  }

  void answer(const HttpRequest& request, const HttpServer::Reply& reply) {
    HttpResponse response;
    response.content_type = "text/plain";
    if (request.path == "/lines") {
      const int lines = std::stoi(std::string(request.query_or("n", "1")));
      response.stream = [lines](const Body& body) {
        auto next = std::make_shared<int>(0);
        const auto write = [lines, next, raw = body.get()] {
          if (*next < lines) {
            raw->write("line " + std::to_string((*next)++) + "\n");
          } else {
            raw->end();
          }
        };
        body->on_drained([write, body] { write(); });
        write();
      };
    } else {
      response.stream = [this](const Body& body) {
        body_ = body;
        body->on_closed([this] {
          ++closed_;
          closed_soon_.set_value();
        });
        body->write("begun\n");
      };
    }
    reply(std::move(response));
  }

  HttpReading open(const std::string& target) const {
    auto reading = HttpReading::open(address_, target, 10s);
    EXPECT_TRUE(reading) << reading.error().message;
    return *std::move(reading);
  }
  static std::string read_all(HttpReading& reading) {
    std::string all;
    for (;;) {
      auto piece = reading.read(10s);
      EXPECT_TRUE(piece) << piece.error().message;
      if (!piece || !*piece || (*piece)->empty()) {
        return all;
      }
      all += **piece;
    }
  }
  /// On the loop.
  template <class Task>
  auto on_loop(Task task) {
    std::promise<decltype(task())> done;
    loop_.post([&] { done.set_value(task()); });
    return done.get_future().get();
  }
  [[nodiscard]] int raw_connection() const {
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address_.substr(address_.rfind(':') + 1))));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
    return connection;
  }
  void send(int connection, const std::string& text) const {
    ASSERT_EQ(::send(connection, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
  static std::string received(int connection) {
    std::string all;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::recv(connection, buffer, sizeof buffer, 0)) > 0;) {
      all.append(buffer, static_cast<std::size_t>(size));
    }
    ::close(connection);
    return all;
  }

  Scratch folder_;
  Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string address_;
  std::thread thread_;
  Watch running_ = loop_.every(1h, [] {});  // The loop goes on without its server.
  Body body_;
  int closed_ = 0;
  int closed_expected_ = 0;
  std::promise<void> closed_soon_;
};

TEST_P(HttpBodies, PiecesArriveInOrderAndEnd) {
  HttpReading reading = open("/lines?n=1000");
  EXPECT_EQ(reading.status(), 200U);
  EXPECT_EQ(reading.content_type(), "text/plain");
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    expected += "line " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(read_all(reading), expected);
  const auto whole = http_request(address_, "GET", "/lines?n=1000", "", 10s);
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->body, expected);
}

TEST_P(HttpBodies, AHeadHasNoBody) {
  const auto head = http_request(address_, "HEAD", "/open", "", 10s);
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->status, 200U);
  EXPECT_EQ(head->body, "");
  EXPECT_TRUE(on_loop([&] { return body_ == nullptr; }));
}

TEST_P(HttpBodies, APieceArrivesBeforeTheNextIsWritten) {
  HttpReading reading = open("/open");
  for (const char* text : {"begun\n", "one", "two"}) {
    const auto piece = reading.read(10s);
    ASSERT_TRUE(piece && *piece);
    EXPECT_EQ(**piece, text);
    const auto nothing = reading.read(1ms);
    ASSERT_TRUE(nothing && *nothing);
    EXPECT_EQ(**nothing, "");
    on_loop([&] {
      body_->write(std::string(text) == "begun\n" ? "one" : "two");
      return 0;
    });
  }
  on_loop([&] {
    body_->end();
    return 0;
  });
  EXPECT_EQ(read_all(reading), "two");
  EXPECT_FALSE(on_loop([&] { return body_->is_open(); }));
}

TEST_P(HttpBodies, TheOwnerNoticesThatTheOtherEndHasClosed) {
  closed_expected_ = 1;
  { EXPECT_TRUE(open("/open").read(10s)); }
  closed_soon_.get_future().get();
  EXPECT_FALSE(on_loop([&] { return body_->is_open(); }));
  on_loop([&] {
    body_->write("nobody reads this");
    body_->end();
    return 0;
  });
  EXPECT_EQ(on_loop([&] { return server_->answering(); }), 0U);
}

TEST_P(HttpBodies, ABodyThatIsLetGoBreaks) {
  HttpReading reading = open("/open");
  EXPECT_TRUE(reading.read(10s));
  on_loop([&] {
    body_.reset();
    return 0;
  });
  // The task of on_closed() holds nothing, so this was the last owner.
  EXPECT_FALSE(reading.read(10s));
}

TEST_P(HttpBodies, ASlowReaderIsCutWithWhatItHasNotRead) {
  HttpReading reading = open("/open");
  EXPECT_TRUE(reading.read(10s));
  std::size_t written = 0;
  on_loop([&] {
    const auto piece = std::make_shared<const std::string>(100'000, '.');
    for (; body_->unsent() <= 8'000'000; written += piece->size()) {
      body_->write(piece);
    }
    return 0;
  });
  EXPECT_GT(on_loop([&] { return body_->unsent(); }), 1'000'000U) << "the socket takes less than that";
  on_loop([&] {
    body_->cut();
    return 0;
  });
  EXPECT_EQ(on_loop([&] { return body_->unsent(); }), 0U);
  std::size_t read = 0;
  for (;;) {
    const auto piece = reading.read(10s);
    if (!piece) {
      break;
    }
    ASSERT_TRUE(*piece) << "a body that was cut must not look complete";
    read += (*piece)->size();
  }
  EXPECT_LT(read, written);
}

TEST_P(HttpBodies, TheServerEndsWhileABodyIsWritten) {
  HttpReading reading = open("/open");
  EXPECT_TRUE(reading.read(10s));
  on_loop([&] {
    body_->on_drained([held = body_] {});
    server_.reset();
    return 0;
  });
  EXPECT_FALSE(reading.read(10s));
  EXPECT_FALSE(on_loop([&] { return body_->is_open(); }));
}

/// Asked over a bare socket.
class HttpBodiesOverTcp : public HttpBodies {};

TEST_P(HttpBodiesOverTcp, TheConnectionServesTheNextRequest) {
  const int connection = raw_connection();
  const std::string host = "Host: " + address_ + "\r\n";
  send(connection, "GET /lines?n=2 HTTP/1.1\r\n" + host + "\r\nGET /lines?n=3 HTTP/1.1\r\n" + host + "\r\n");
  char buffer[256];
  std::string all;
  while (all.find("line 2\n\r\n0\r\n\r\n") == std::string::npos) {
    const ssize_t size = ::recv(connection, buffer, sizeof buffer, 0);
    ASSERT_GT(size, 0);
    all.append(buffer, static_cast<std::size_t>(size));
  }
  send(connection, "GET /lines?n=1 HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n");
  const std::string last = received(connection);
  EXPECT_NE(last.find("Transfer-Encoding: chunked"), std::string::npos) << last;
  EXPECT_TRUE(last.ends_with("7\r\nline 0\n\r\n0\r\n\r\n")) << last;
}

TEST_P(HttpBodiesOverTcp, AnOldClientReadsUntilTheEndOfTheConnection) {
  const int connection = raw_connection();
  send(connection, "GET /lines?n=2 HTTP/1.0\r\nHost: " + address_ + "\r\nConnection: keep-alive\r\n\r\n");
  const std::string answer = received(connection);
  EXPECT_EQ(answer.find("chunked"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nline 0\nline 1\n")) << answer;
}

INSTANTIATE_TEST_SUITE_P(Channels, HttpBodies, testing::Values("tcp", "tls", "unix"),
                         [](const auto& channel) { return channel.param; });
INSTANTIATE_TEST_SUITE_P(Channels, HttpBodiesOverTcp, testing::Values("tcp"),
                         [](const auto& channel) { return channel.param; });

}  // namespace
}  // namespace hpsearch::net
