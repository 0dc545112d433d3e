#include "net/unix_socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/zmq/zmq_port.hpp"

namespace hpsearch::net {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using engine::Errc;

class UnixSocket : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "hpsearch-unix-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Longer than the 107 bytes of sockaddr_un.
  [[nodiscard]] std::string long_path() const {
    fs::path path = folder_;
    while (path.string().size() < 200) {
      path /= std::string(40, 'd');
    }
    fs::create_directories(path);
    return (path / "api.sock").string();
  }

  fs::path folder_;
};

/// A server in its own thread that answers with the user of the peer.
class Served {
 public:
  explicit Served(const std::string& path) {
    auto listening = HttpServer::listen(loop_, "unix://" + path, [](const HttpRequest& request, auto reply) {
      reply(HttpResponse{200, "text/plain", request.peer.uid ? std::to_string(*request.peer.uid) : "none"});
    });
    EXPECT_TRUE(listening) << listening.error().message;
    server_ = std::move(listening).value();
    thread_ = std::thread([this] { loop_.run(); });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    loop_.post([this] { server_.reset(); });
    thread_.join();
  }

 private:
  Loop loop_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

void expect_served(const std::string& path) {
  const auto answer = http_request("unix://" + path, "GET", "/", "", 10s);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, std::to_string(::geteuid()));
}

TEST_F(UnixSocket, ServesHttpToItsOwnerAndRemovesItsFile) {
  for (const std::string& path : {(folder_ / "api.sock").string(), long_path()}) {
    {
      const Served served(path);
      expect_served(path);
      struct stat found {};
      ASSERT_EQ(::lstat(path.c_str(), &found), 0);
      EXPECT_EQ(found.st_mode & 0777U, 0600U);
    }
    EXPECT_FALSE(fs::exists(path));
  }
}

TEST_F(UnixSocket, ReplacesTheFileOfAProcessThatWasKilled) {
  const std::string path = folder_ / "api.sock";
  const int left = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(left);
  ASSERT_TRUE(fs::exists(path));
  const Served served(path);
  expect_served(path);
}

TEST_F(UnixSocket, LeavesTheSocketOfALivingProcessAlone) {
  const std::string path = folder_ / "api.sock";
  const Served served(path);
  Loop other;
  const auto second = HttpServer::listen(other, "unix://" + path, [](const auto&, const auto&) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::unavailable);
  EXPECT_NE(second.error().message.find("another process listens on " + path), std::string::npos);
  expect_served(path);
}

TEST_F(UnixSocket, LeavesAFileThatIsNoSocketAlone) {
  const std::string path = folder_ / "thesis.tex";
  std::ofstream(path) << "text";
  Loop other;
  const auto server = HttpServer::listen(other, "unix://" + path, [](const auto&, const auto&) {});
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().message.find("is not a socket"), std::string::npos) << server.error().message;
  EXPECT_EQ(fs::file_size(path), 4U);
}

TEST_F(UnixSocket, AnotherServersFileIsNotRemovedAtTheEnd) {
  const std::string path = folder_ / "api.sock";
  {
    const Served served(path);
    fs::remove(path);
    std::ofstream(path) << "text";
  }
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(UnixSocket, AddressOfAnAbsentServerIsNamed) {
  const std::string address = "unix://" + (folder_ / "none.sock").string();
  const auto answer = http_request(address, "GET", "/", "", 5s);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Errc::unavailable);
  EXPECT_NE(answer.error().message.find(address), std::string::npos) << answer.error().message;
}

/// Sends a frame until the router has it or the loop is stopped.
void send_when_possible(Loop& loop, DealerPort& dealer) {
  const std::byte frame[1] = {std::byte{'x'}};
  if (!dealer.send(frame)) {
    auto retry = std::make_shared<Watch>();
    *retry = loop.after(1ms, [&loop, &dealer, retry] {
      const auto kept = std::move(*retry);
      send_when_possible(loop, dealer);
    });
  }
}

/// Whether a dealer's frame arrives at a router that listens there.
bool crosses(const std::string& endpoint) {
  Loop loop;
  const Watch limit = loop.after(10s, [&loop] { loop.stop(); });
  bool arrived = false;
  auto router = RouterPort::bind(loop, endpoint, 1024, [&](const Peer&, auto) {
    arrived = true;
    loop.stop();
  });
  EXPECT_TRUE(router) << router.error().message;
  EXPECT_EQ((*router)->endpoint(), endpoint);
  auto dealer = DealerPort::connect(loop, (*router)->endpoint(), 1024, [](auto) {});
  EXPECT_TRUE(dealer);
  send_when_possible(loop, **dealer);
  loop.run();
  return arrived;
}

TEST_F(UnixSocket, CarriesZeroMqToo) {
  for (const std::string& path : {(folder_ / "workers.sock").string(), long_path()}) {
    EXPECT_TRUE(crosses("ipc://" + path)) << path;
    EXPECT_FALSE(fs::exists(path));
  }
}

}  // namespace
}  // namespace hpsearch::net
