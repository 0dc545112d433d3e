#include "hpsearch/io/net/service_manager.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "scratch.hpp"

namespace hpsearch::net {
namespace {

/// A manager of services that receives what services send.
class Manager {
 public:
  explicit Manager(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;
  ~Manager() { ::close(socket_); }

  /// "" = nothing was sent.
  std::string next() {
    std::array<char, 4096> text{};
    const ssize_t size = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  int socket_;
};

TEST(ServiceManager, ReceivesOneDatagramForEachStep) {
  const Scratch scratch;
  Manager manager(scratch.path("notify"));
  ServiceManager service = ServiceManager::of_environment();
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr) << "programs of the service would speak for it";
  service.status("one\ntwo");
  EXPECT_EQ(manager.next(), "STATUS=one two");
  service.starting("half", std::chrono::seconds(90));
  EXPECT_EQ(manager.next(), "EXTEND_TIMEOUT_USEC=90000000\nSTATUS=half");
  service.ready("serves");
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=serves");
  service.reloading();
  EXPECT_TRUE(manager.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  service.stopping("ends");
  EXPECT_EQ(manager.next(), "STOPPING=1\nSTATUS=ends");
  EXPECT_EQ(manager.next(), "");
}

TEST(ServiceManager, FailureIsLoggedOnce) {
  ::setenv("NOTIFY_SOCKET", "/nowhere/notify", 1);
  ServiceManager service = ServiceManager::of_environment();
  testing::internal::CaptureStderr();
  service.ready("serves");
  service.status("serves");
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("the service manager at /nowhere/notify cannot be notified"), std::string::npos) << log;
  EXPECT_EQ(log.find("cannot be notified"), log.rfind("cannot be notified"));
}

TEST(ServiceManager, WithoutOneNothingIsSentOrLogged) {
  ::unsetenv("NOTIFY_SOCKET");
  testing::internal::CaptureStderr();
  ServiceManager service = ServiceManager::of_environment();
  service.ready("serves");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

/// A socket of a free port, at the first number that managers pass; what was there comes back.
class FirstPassed {
 public:
  FirstPassed() : before_(::fcntl(3, F_DUPFD_CLOEXEC, 64)) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket, generic(), size), 0);
    EXPECT_EQ(::listen(socket, 1), 0);
    EXPECT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
    if (socket != 3) {
      ::dup2(socket, 3);
      ::close(socket);
    }
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_FDNAMES", "http", 1);
  }
  FirstPassed(const FirstPassed&) = delete;
  FirstPassed& operator=(const FirstPassed&) = delete;
  ~FirstPassed() {
    if (before_ >= 0) {
      ::dup2(before_, 3);
      ::close(before_);
    }
  }
  [[nodiscard]] const sockaddr* generic() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_in address{};

 private:
  int before_;
};

TEST(PassedSockets, AreTakenByTheirAddress) {
  const FirstPassed passed;
  ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  PassedSockets sockets;
  sockets.find();
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  EXPECT_EQ(std::getenv("LISTEN_PID"), nullptr);
  EXPECT_EQ(std::getenv("LISTEN_FDNAMES"), nullptr);
  const std::string name = "127.0.0.1:" + std::to_string(ntohs(passed.address.sin_port));
  EXPECT_EQ(sockets.addresses(), std::vector<std::string>{name});
  sockaddr_in other = passed.address;
  other.sin_port = htons(1);
  EXPECT_FALSE(sockets.take(reinterpret_cast<const sockaddr*>(&other), sizeof other));
  EXPECT_FALSE(sockets.take("/run/x.sock"));
  const auto socket = sockets.take(passed.generic(), sizeof passed.address);
  ASSERT_EQ(socket, 3);
  EXPECT_TRUE((::fcntl(*socket, F_GETFD) & FD_CLOEXEC) != 0);
  EXPECT_TRUE(sockets.addresses().empty());
  ::close(*socket);
}

TEST(PassedSockets, ThoseOfAnotherProcessAreLeftAlone) {
  const FirstPassed passed;
  ::setenv("LISTEN_PID", "1", 1);
  {
    PassedSockets sockets;
    sockets.find();
    EXPECT_TRUE(sockets.addresses().empty());
  }
  EXPECT_GE(::fcntl(3, F_GETFD), 0) << "it must not be closed";
  ::close(3);
}

}  // namespace
}  // namespace hpsearch::net
