#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "hpsearch/io/http/http.hpp"
#include "scratch.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;

/// A server in its own thread that tells back what it understood.
class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto listening = HttpServer::listen(
        loop_, "127.0.0.1:0",
        [this](HttpRequest request, HttpServer::Reply reply) {
          ++handled_;
          HttpResponse response;
          if (request.path == "/later") {
            later_ = loop_.after(20ms, [reply] { reply(HttpResponse{202, "text/plain", "later"}); });
            return;
          }
          if (request.path == "/events" && answers_with_streams()) {
            response.content_type = "text/event-stream";
            response.stream = [this](const std::shared_ptr<HttpBody>& body) {
              body->write(std::string("retry: 1000\n\n"));
              bodies_.push_back(body);
              ++streams_;
            };
            reply(std::move(response));
            return;
          }
          if (request.path == "/silent") {
            silent_.push_back(reply);  // As long as it is there, the answer may come.
            return;
          }
          if (request.path.starts_with("/long")) {
            response.body = std::string(5'000, '.');
            response.holds_secret = request.path == "/long/secret";
            response.content_type = request.path == "/long/bytes" ? "application/x-tar" : "text/plain";
            reply(std::move(response));
            return;
          }
          if (request.uploaded != nullptr) {
            response.body = "uploaded " + text_of(request.uploaded->path());
            reply(std::move(response));
            return;
          }
          response.body = request.method + " " + request.path + " " + std::to_string(request.body.size()) +
                          " " + std::string(request.header("Idempotency-Key"));
          reply(std::move(response));
          reply(HttpResponse{500, "text/plain", "a second answer"});
        },
        rules());
    ASSERT_TRUE(listening) << listening.error().message;
    server_ = std::move(listening).value();
    address_ = server_->address();
    thread_ = std::thread([this] { loop_.run(); });
  }
  void TearDown() override {
    loop_.post([this] {
      server_.reset();
      silent_.clear();
      bodies_.clear();
      later_ = Watch{};
    });
    thread_.join();
  }

  [[nodiscard]] virtual HttpRules rules() const { return {}; }
  [[nodiscard]] virtual bool answers_with_streams() const { return false; }
  [[nodiscard]] std::string host() const { return "Host: " + address_ + "\r\n"; }

  /// Opens a connection, sends `text`, and returns what comes until the server ends it or `patience` is over.
  std::string exchange(const std::string& text, std::chrono::milliseconds patience = 10s) const {
    const int connection = connect();
    std::string answer;
    if (!text.empty()) {
      EXPECT_GE(::send(connection, text.data(), text.size(), MSG_NOSIGNAL), 0);
    }
    for (;;) {
      pollfd waiting{connection, POLLIN, 0};
      if (::poll(&waiting, 1, static_cast<int>(patience.count())) <= 0) {
        answer += "<still open>";
        break;
      }
      char buffer[4096];
      const ssize_t size = ::recv(connection, buffer, sizeof buffer, 0);
      if (size <= 0) {
        break;
      }
      answer.append(buffer, static_cast<std::size_t>(size));
    }
    ::close(connection);
    return answer;
  }

  [[nodiscard]] int connect() const {
    const int connection = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(std::stoul(address_.substr(address_.rfind(':') + 1))));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(connection, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
    return connection;
  }

  Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::string address_;
  std::thread thread_;
  Watch later_;
  std::atomic<int> handled_{0};
  std::vector<HttpServer::Reply> silent_;
  std::vector<std::shared_ptr<HttpBody>> bodies_;
  std::atomic<int> streams_{0};
};

std::string status_of(const std::string& answer) {
  return answer.substr(0, 12);
}

TEST_F(HttpServerTest, AnswersARequest) {
  const auto answer = http_request(address_, "POST", "/a%20b?x=1", "{}", 10s, {{"Idempotency-Key", "k"}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U);
  EXPECT_EQ(answer->content_type, "application/json");
  EXPECT_EQ(answer->body, "POST /a b 2 k");
}

TEST_F(HttpServerTest, EachAnswerHasTheIdOfItsRequestAlsoARefusal) {
  const auto id_of = [](const engine::Result<HttpResponse>& answer) {
    EXPECT_TRUE(answer);
    for (const auto& [name, value] : answer->headers) {
      if (name == "X-Request-Id") {
        return value;
      }
    }
    return std::string();
  };
  const std::string first = id_of(http_request(address_, "GET", "/one", "", 10s));
  const std::string second = id_of(http_request(address_, "GET", "/one", "", 10s));
  EXPECT_EQ(first.find('-'), 8U) << first;
  EXPECT_EQ(first.substr(0, 9), second.substr(0, 9));
  EXPECT_NE(first, second);
  const auto refused = http_request(address_, "POST", "/", "x=1", 10s, {{"Content-Type", "text/plain"}});
  EXPECT_EQ(refused->status, 415U);
  EXPECT_EQ(refused->content_type, "application/problem+json");
  EXPECT_NE(refused->body.find("\"instance\":\"" + id_of(refused) + "\""), std::string::npos)
      << refused->body;
  EXPECT_NE(refused->body.find("\"error\":{\"code\":\"bad_request\""), std::string::npos) << refused->body;
}

TEST_F(HttpServerTest, AnswersLater) {
  const auto answer = http_request(address_, "GET", "/later", "", 10s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 202U);
  EXPECT_EQ(answer->body, "later");
}

TEST_F(HttpServerTest, PacksLongTextsForWhoAcceptsIt) {
  const auto size_of = [&](const char* path, const char* accepted) {
    const auto answer = http_request(address_, "GET", path, "", 10s, {{"Accept-Encoding", accepted}});
    return answer ? answer->body.size() : 0;
  };
  EXPECT_LT(size_of("/long", "gzip"), 200U);
  EXPECT_EQ(size_of("/long", "identity"), 5'000U);
  EXPECT_EQ(size_of("/long/secret", "gzip"), 5'000U);
  EXPECT_EQ(size_of("/long/bytes", "gzip"), 5'000U);
  EXPECT_EQ(size_of("/a", "gzip"), 9U) << "too short to be worth it";
  const std::string raw =
      exchange("GET /long HTTP/1.1\r\n" + host() + "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n");
  EXPECT_NE(raw.find("Content-Encoding: gzip"), std::string::npos) << raw;
  EXPECT_NE(raw.find("Vary: Accept-Encoding"), std::string::npos) << raw;
  EXPECT_EQ(raw.find("Content-Length"), std::string::npos) << raw;
}

TEST_F(HttpServerTest, ClientGivesUpInTime) {
  const auto answer = http_request(address_, "GET", "/silent", "", 50ms);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, engine::Errc::unavailable);
}

TEST_F(HttpServerTest, ClientReportsThatNoServerListens) {
  const auto answer = http_request("127.0.0.1:1", "GET", "/", "", 5s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, engine::Errc::unavailable);
  EXPECT_NE(answer.error().message.find("127.0.0.1:1"), std::string::npos);
}

TEST_F(HttpServerTest, KeepsTheConnectionAndTakesRequestsSentAhead) {
  const std::string one = "GET /one HTTP/1.1\r\n" + host() + "\r\n";
  const std::string two = "GET /two HTTP/1.1\r\n" + host() + "Connection: close\r\n\r\n";
  const std::string answer = exchange(one + two);
  EXPECT_NE(answer.find("GET /one"), std::string::npos) << answer;
  EXPECT_NE(answer.find("GET /two"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("a second answer"), std::string::npos);
}

TEST_F(HttpServerTest, TakesABodyAnnouncedWithExpect) {
  const std::string head = "POST /up HTTP/1.1\r\n" + host() +
                           "Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n"
                           "Connection: close\r\n\r\n";
  const std::string answer = exchange(head + "{}");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 100");
  EXPECT_NE(answer.find("POST /up 2"), std::string::npos) << answer;
}

TEST_F(HttpServerTest, RefusesAForeignHost) {
  for (const char* host_line : {"Host: evil.example\r\n", "Host: evil.example:8077\r\n", "Host: \r\n", "",
                                "Host: 10.1.2.3\r\n", "Host: localhost\r\nHost: localhost\r\n"}) {
    const std::string answer = exchange("GET / HTTP/1.1\r\n" + std::string(host_line) + "\r\n");
    EXPECT_NE(status_of(answer), "HTTP/1.1 200") << host_line;
    EXPECT_EQ(answer.find("GET /"), std::string::npos) << host_line;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, TakesLocalhost) {
  const std::string answer = exchange("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 200");
}

TEST_F(HttpServerTest, RefusesAForeignOrigin) {
  const std::string answer =
      exchange("POST / HTTP/1.1\r\n" + host() + "Origin: http://evil.example\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 403");
  const std::string crossing =
      exchange("DELETE / HTTP/1.1\r\n" + host() + "Sec-Fetch-Site: cross-site\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(status_of(crossing), "HTTP/1.1 403");
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, RefusesABodyThatIsNotJson) {
  const std::string answer =
      exchange("POST / HTTP/1.1\r\n" + host() + "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 415");
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, RefusesAnUnknownMethod) {
  for (const char* method : {"BREW", "TRACE", "CONNECT", "PROPFIND"}) {
    const std::string answer = exchange(std::string(method) + " / HTTP/1.1\r\n" + host() + "\r\n");
    EXPECT_EQ(status_of(answer), "HTTP/1.1 405") << method;
  }
  EXPECT_EQ(handled_, 0);
}

class HttpServerOfSecrets : public HttpServerTest {
 protected:
  [[nodiscard]] HttpRules rules() const override { return {.most_body_bytes = 10, .only_json = false}; }
};

TEST_F(HttpServerOfSecrets, TakesBodiesThatDoNotSayWhatTheyAre) {
  const std::string end = "Connection: close\r\nContent-Length: 10\r\n\r\n0123456789";
  EXPECT_EQ(status_of(exchange("POST / HTTP/1.1\r\n" + host() + end)), "HTTP/1.1 200");
}

TEST_F(HttpServerOfSecrets, HasALimitOfItsOwn) {
  const std::string answer =
      exchange("POST / HTTP/1.1\r\n" + host() + "Content-Length: 11\r\n\r\n0123456789a");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 413");
  EXPECT_NE(answer.find("larger than 10 bytes"), std::string::npos) << answer;
}

class HttpServerOfArchives : public HttpServerTest {
 protected:
  [[nodiscard]] HttpRules rules() const override {
    return {.most_body_bytes = 10,
            .large_bodies = {{"/archives/", "application/x-tar", 20}, {"/logs/", "application/zstd", 15}}};
  }
  /// The status line of the answer to so many bytes put there.
  std::string put(const std::string& path, std::size_t bytes, const std::string& more = "") {
    return status_of(exchange("PUT " + path + " HTTP/1.1\r\n" + host() +
                              "Content-Type: application/x-tar\r\nConnection: close\r\n" + more +
                              "Content-Length: " + std::to_string(bytes) + "\r\n\r\n" +
                              std::string(bytes, 'x')));
  }
};

TEST_F(HttpServerOfArchives, TakesLargerBodiesInTheirPlaceOnly) {
  EXPECT_EQ(put("/archives/1", 20), "HTTP/1.1 200");
  EXPECT_EQ(put("/archives/1", 21), "HTTP/1.1 413");
  EXPECT_EQ(put("/elsewhere", 11), "HTTP/1.1 413");
  EXPECT_EQ(put("/elsewhere", 5), "HTTP/1.1 415") << "an archive is wanted in its place only";
  EXPECT_EQ(put("/logs/1", 5), "HTTP/1.1 415") << "each place has its type";
  EXPECT_EQ(put("/logs/1", 16), "HTTP/1.1 413") << "and its limit";
  const std::string chunked =
      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n0123456789a\r\n0\r\n\r\n";
  EXPECT_EQ(status_of(exchange("POST /elsewhere HTTP/1.1\r\n" + host() + chunked)), "HTTP/1.1 413");
  EXPECT_EQ(put("/archives/1", 5, "Origin: http://example.com\r\n"), "HTTP/1.1 403");
}

TEST_F(HttpServerTest, AnswersAHeadWithoutTheBody) {
  const std::string answer = exchange("HEAD /x HTTP/1.1\r\n" + host() + "Connection: close\r\n\r\n");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 200");
  EXPECT_NE(answer.find("Content-Length: 10\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
  const auto asked = http_request(address_, "HEAD", "/x", "", 10s);
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->status, 200U);
}

TEST_F(HttpServerTest, ClientTakesAnAnswerOfTheAnnouncedLengthOnly) {
  const auto fits = http_request(address_, "GET", "/x", "", 10s, {}, AnswerLimit{9});
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ(fits->body, "GET /x 0 ");
  EXPECT_EQ(fits->content_length, 9U);
  const auto too_long = http_request(address_, "GET", "/x", "", 10s, {}, AnswerLimit{8});
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, engine::Errc::unavailable);
  EXPECT_EQ(too_long.error().message, "the answer from " + address_ + " is longer than 8 bytes");
}

TEST_F(HttpServerTest, ClientGetsTheLengthFromAHeadWithoutTheBody) {
  const auto asked = http_request(address_, "HEAD", "/x", "", 10s, {}, AnswerLimit{1});
  ASSERT_TRUE(asked) << asked.error().message;
  EXPECT_EQ(asked->content_length, 10U);
  EXPECT_EQ(asked->body, "");
}

TEST_F(HttpServerTest, RefusesAHugeHeader) {
  const std::string answer =
      exchange("GET / HTTP/1.1\r\n" + host() + "X: " + std::string(9'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 431");
}

TEST_F(HttpServerTest, AHeaderMayHave8KibibytesAndNoByteMore) {
  const std::string start = "GET / HTTP/1.1\r\n" + host() + "Connection: close\r\nX: ";
  const std::size_t most = 8'192 - start.size() - 4;
  EXPECT_EQ(status_of(exchange(start + std::string(most, 'x') + "\r\n\r\n")), "HTTP/1.1 200");
  EXPECT_EQ(status_of(exchange(start + std::string(most + 1, 'x') + "\r\n\r\n")), "HTTP/1.1 431");
}

TEST_F(HttpServerTest, RefusesAHugeBodyBeforeItIsSent) {
  const std::string answer = exchange("POST / HTTP/1.1\r\n" + host() +
                                      "Content-Type: application/json\r\nContent-Length: 1048577\r\n\r\n");
  EXPECT_EQ(status_of(answer), "HTTP/1.1 413");
}

TEST_F(HttpServerTest, RefusesAHugeChunkedBody) {
  std::string text =
      "POST / HTTP/1.1\r\n" + host() + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
  text += "110000\r\n" + std::string(0x110000, 'x') + "\r\n0\r\n\r\n";
  const std::string answer = exchange(text);
  EXPECT_EQ(status_of(answer), "HTTP/1.1 413");
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, RefusesTwoLengths) {
  for (const char* lengths : {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                              "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                              "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: -1\r\n"}) {
    const std::string answer = exchange("POST / HTTP/1.1\r\n" + host() +
                                        "Content-Type: application/json\r\n" + lengths + "\r\n0\r\n\r\n");
    EXPECT_EQ(status_of(answer), "HTTP/1.1 400") << lengths;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, RefusesWhatIsAmbiguousWithTheRequestBehindIt) {
  const std::string hidden = "GET /hidden HTTP/1.1\r\n" + host() + "\r\n";
  for (const char* header :
       {"Transfer-Encoding: gzip", "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: xchunked",
        "Content-Type: application/json\r\nContent-Type: text/plain",
        "Origin: http://127.0.0.1\r\norigin: http://evil.example", "X-A: 1\r\n folded: 2",
        "X-A: 1\nX-B: 2"}) {
    const std::string answer =
        exchange("POST /one HTTP/1.1\r\n" + host() + std::string(header) + "\r\n\r\n" + hidden);
    EXPECT_EQ(status_of(answer), "HTTP/1.1 400") << header;
    EXPECT_EQ(answer.find("HTTP/1.1", 1), std::string::npos) << "one answer only: " << answer;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, RefusesNoise) {
  for (const std::string& noise :
       {std::string("\x16\x03\x01\x02\x01\xfc\x03\x03 and so on\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), "GET http://x/ HTTP/1.1\r\n" + host() + "\r\n",
        "GET /%zz HTTP/1.1\r\n" + host() + "\r\n"}) {
    const std::string answer = exchange(noise);
    EXPECT_EQ(status_of(answer), "HTTP/1.1 400") << noise;
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, EndsAHeaderThatDripsIn) {
  const auto began = std::chrono::steady_clock::now();
  const std::string answer = exchange("GET / HTTP/1.1\r\n", 20s);
  EXPECT_EQ(answer, "");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

/// Whether the server has ended this connection.
bool has_ended(int connection) {
  pollfd waiting{connection, POLLIN, 0};
  char byte = 0;
  return ::poll(&waiting, 1, 0) > 0 && ::recv(connection, &byte, 1, MSG_DONTWAIT) <= 0;
}

TEST_F(HttpServerTest, OldestIdleConnectionOfAnAddressMakesRoomForANewOne) {
  std::vector<int> crowd;
  for (int i = 0; i < 64; ++i) {
    crowd.push_back(connect());
  }
  EXPECT_TRUE(http_request(address_, "GET", "/", "", 10s));
  EXPECT_TRUE(has_ended(crowd.front()));
  EXPECT_FALSE(has_ended(crowd.back()));
  for (const int one : crowd) {
    ::close(one);
  }
}

TEST_F(HttpServerTest, TellsOneMoreConnectionToComeLaterWhileAllOfAnAddressAreBeingAnswered) {
  const std::string silent = "GET /silent HTTP/1.1\r\n" + host() + "\r\n";
  std::vector<int> crowd;
  for (int i = 0; i < 64; ++i) {
    crowd.push_back(connect());
    ASSERT_EQ(::send(crowd.back(), silent.data(), silent.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(silent.size()));
  }
  while (handled_ < 64) {
    std::this_thread::sleep_for(1ms);
  }
  const std::string later = exchange("GET / HTTP/1.1\r\n" + host() + "\r\n");
  EXPECT_TRUE(later.starts_with("HTTP/1.1 503 ")) << later;
  EXPECT_NE(later.find("Retry-After: 1\r\n"), std::string::npos) << later;
  for (const int one : crowd) {
    EXPECT_FALSE(has_ended(one));
    ::close(one);
  }
}

TEST_F(HttpServerTest, PortInUseIsSaid) {
  Loop other;
  const auto second = HttpServer::listen(other, address_, [](HttpRequest, const HttpServer::Reply&) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, engine::Errc::unavailable);
  EXPECT_NE(second.error().message.find(address_), std::string::npos);
}

TEST_F(HttpServerTest, NonsenseAddressIsABadRequest) {
  Loop other;
  const auto server = HttpServer::listen(other, "nonsense", [](HttpRequest, const HttpServer::Reply&) {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, engine::Errc::bad_request);
}

TEST_F(HttpServerTest, StopsAcceptingButAnswersWhatItHasTaken) {
  std::atomic<bool> stopped{false};
  std::thread asking([this] {
    const auto answer = http_request(address_, "GET", "/later", "", 10s);
    EXPECT_TRUE(answer);
    EXPECT_EQ(answer ? answer->body : "", "later");
  });
  while (handled_ == 0) {
    std::this_thread::sleep_for(1ms);
  }
  loop_.post([&] {
    server_->stop_accepting();
    stopped = true;
  });
  asking.join();
  while (!stopped) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_FALSE(http_request(address_, "GET", "/", "", 5s));
}

/// Below /closed nothing is served, and nothing else than the head is read for it.
class HttpServerWithAGuard : public HttpServerTest {
 protected:
  [[nodiscard]] HttpRules rules() const override {
    HttpRules rules{.large_bodies = {{"/closed/archives", "application/x-tar", std::size_t{1} << 30U}}};
    rules.let_in = [](const HttpRequest& head) -> HttpEntry {
      EXPECT_EQ(head.body, "");
      EXPECT_NE(head.peer.name, "");
      if (head.path.starts_with("/closed")) {
        return {HttpResponse{401, "text/plain", "closed"}};
      }
      return {std::nullopt, std::string(head.header("Authorization"))};
    };
    return rules;
  }
};

TEST_F(HttpServerWithAGuard, RefusesBeforeTheBodyComes) {
  for (const char* more : {"", "Expect: 100-continue\r\n"}) {
    const std::string answer =
        exchange("PUT /closed/archives/1 HTTP/1.1\r\n" + host() + more +
                 "Content-Type: application/x-tar\r\nContent-Length: 900000000\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
    EXPECT_EQ(answer.find("100 Continue"), std::string::npos) << answer;
    EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
  }
  EXPECT_EQ(handled_, 0);
}

// 64 requests of one viewer shut out everybody else behind the same address.
TEST_F(HttpServerWithAGuard, ConnectionsOfAKnownNameTakeNoRoomOfTheirAddress) {
  const std::string silent = "GET /silent HTTP/1.1\r\n" + host() + "Authorization: ann\r\n\r\n";
  std::vector<int> crowd;
  for (int i = 0; i < 100; ++i) {
    crowd.push_back(connect());
    ASSERT_EQ(::send(crowd.back(), silent.data(), silent.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(silent.size()));
    while (handled_ <= i) {
      std::this_thread::sleep_for(1ms);
    }
  }
  EXPECT_TRUE(http_request(address_, "GET", "/", "", 10s));
  for (const int one : crowd) {
    EXPECT_FALSE(has_ended(one));
    ::close(one);
  }
}

/// A server that has room for eight.
class HttpServerOfFew : public HttpServerWithAGuard {
 protected:
  [[nodiscard]] HttpRules rules() const override {
    HttpRules rules = HttpServerWithAGuard::rules();
    rules.most_connections = 8;
    return rules;
  }
};

// Silent connections of 68 addresses left an admin 3 of 170 requests.
TEST_F(HttpServerOfFew, SilentOnesMakeRoom) {
  std::vector<int> crowd;
  for (int i = 0; i < 20; ++i) {
    crowd.push_back(connect());
    const std::string half = "GET / HTTP/1.1\r\n";
    static_cast<void>(::send(crowd.back(), half.data(), i % 2 == 0 ? half.size() : 0, MSG_NOSIGNAL));
    const auto answer = http_request(address_, "GET", "/", "", 10s);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200U);
  }
  for (const int one : crowd) {
    ::close(one);
  }
}

/// A server behind a proxy: all its connections come from one address.
class HttpServerBehindAProxy : public HttpServerTest {
 protected:
  [[nodiscard]] HttpRules rules() const override { return {.only_from = "127.0.0.0/8"}; }
};

TEST_F(HttpServerBehindAProxy, TakesMoreConnectionsThanOfAnotherAddress) {
  const std::string silent = "GET /silent HTTP/1.1\r\n" + host() + "\r\n";
  std::vector<int> crowd;
  for (int i = 0; i < 100; ++i) {
    crowd.push_back(connect());
    ASSERT_EQ(::send(crowd.back(), silent.data(), silent.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(silent.size()));
  }
  const auto answer = http_request(address_, "GET", "/", "", 10s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U);
  for (const int one : crowd) {
    EXPECT_FALSE(has_ended(one));
    ::close(one);
  }
}

/// Its answers are streams of events that never end.
class HttpServerOfStreams : public HttpServerTest {
 protected:
  [[nodiscard]] bool answers_with_streams() const override { return true; }
};

// Streams counted as requests that are being answered: 64 of one viewer shut out everybody behind its
// address.
TEST_F(HttpServerOfStreams, TheOldestMakesRoom) {
  const std::string follow = "GET /events HTTP/1.1\r\n" + host() + "\r\n";
  std::vector<int> crowd;
  for (int i = 0; i < 64; ++i) {
    crowd.push_back(connect());
    ASSERT_EQ(::send(crowd.back(), follow.data(), follow.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(follow.size()));
    char byte = 0;
    ASSERT_EQ(::recv(crowd.back(), &byte, 1, 0), 1) << i;
  }
  while (streams_ < 64) {
    std::this_thread::sleep_for(1ms);
  }
  const auto answer = http_request(address_, "GET", "/", "", 10s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200U);
  for (const int one : crowd) {
    ::close(one);
  }
}

TEST_F(HttpServerWithAGuard, KeepsTheConnectionWhereThereIsNoBody) {
  const std::string answer = exchange("GET /closed HTTP/1.1\r\n" + host() + "\r\nGET /open HTTP/1.1\r\n" +
                                      host() + "Connection: close\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 401 ")) << answer;
  EXPECT_NE(answer.find("HTTP/1.1 200 "), std::string::npos) << answer;
  EXPECT_EQ(handled_, 1);
}

/// Archives go to a directory, at most 25 bytes at a time.
class HttpServerOfUploads : public HttpServerTest {
 protected:
  [[nodiscard]] HttpRules rules() const override {
    return {.large_bodies = {{"/archives/", "application/x-tar", 20}},
            .uploads = folder_.path().string(),
            .most_uploaded_bytes = 25};
  }
  [[nodiscard]] std::string head(std::size_t bytes, const std::string& path = "/archives/1") const {
    return "PUT " + path + " HTTP/1.1\r\n" + host() +
           "Content-Type: application/x-tar\r\nConnection: close\r\n" +
           "Content-Length: " + std::to_string(bytes) + "\r\n\r\n";
  }
  [[nodiscard]] std::size_t files() const {
    const std::filesystem::directory_iterator all(folder_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  Scratch folder_;
};

TEST_F(HttpServerOfUploads, AreOnTheDiskWhileTheyAreWantedAndRemovedAfterwards) {
  const std::string answer = exchange(head(20) + std::string(20, 'x'));
  EXPECT_EQ(status_of(answer), "HTTP/1.1 200") << answer;
  EXPECT_NE(answer.find("uploaded xxxxxxxxxxxxxxxxxxxx"), std::string::npos) << answer;
  EXPECT_EQ(files(), 0U);
  EXPECT_EQ(status_of(exchange(head(21) + std::string(21, 'x'))), "HTTP/1.1 413");
  EXPECT_EQ(status_of(exchange("PUT /archives/1 HTTP/1.1\r\n" + host() +
                               "Content-Type: application/x-tar\r\nConnection: close\r\nTransfer-Encoding: "
                               "chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")),
            "HTTP/1.1 411");
  EXPECT_EQ(files(), 0U);
}

TEST_F(HttpServerOfUploads, HaveALimitTogetherThatUnfinishedOnesCountFor) {
  const int unfinished = connect();
  const std::string begun = head(20) + "x";
  ASSERT_GT(::send(unfinished, begun.data(), begun.size(), MSG_NOSIGNAL), 0);
  while (files() == 0) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(status_of(exchange(head(6) + std::string(6, 'x'))), "HTTP/1.1 503");
  EXPECT_EQ(status_of(exchange(head(5) + std::string(5, 'x'))), "HTTP/1.1 200");
  ::close(unfinished);
  while (files() != 0) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(status_of(exchange(head(20) + std::string(20, 'x'))), "HTTP/1.1 200");
}

}  // namespace
}  // namespace hpsearch::net
