#include "hpsearch/io/net/service_manager.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::net {
namespace {

constexpr int first_passed = 3;  ///< SD_LISTEN_FDS_START
constexpr std::size_t most_passed = 64;
constexpr std::size_t longest_address = sizeof(sockaddr_un::sun_path) - 1;
constexpr timeval longest_wait{1, 0};

/// The value of a variable, which is removed; "" = it is not set.
std::string take_variable(const char* name) {
  const char* text = std::getenv(name);
  const std::string value = text != nullptr ? text : "";
  ::unsetenv(name);
  return value;
}

/// A status is one line.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    c = c == '\n' || c == '\r' ? ' ' : c;
  }
  return line;
}

/// Microseconds of CLOCK_MONOTONIC, which systemd compares with its own.
std::string monotonic_micros() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::to_string(std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000);
}

sockaddr_storage address_of(int socket, socklen_t& size) {
  sockaddr_storage address{};
  size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    size = 0;
  }
  return address;
}

bool listens(int socket) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0;
}

/// The parts of an address by which sockets are compared: family, host and port, or a path.
std::string text_of(const sockaddr* address, socklen_t size) {
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in place{};
    std::memcpy(&place, address, sizeof place);
    ::inet_ntop(AF_INET, &place.sin_addr, host.data(), host.size());
    return std::string(host.data()) + ":" + std::to_string(ntohs(place.sin_port));
  }
  if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 place{};
    std::memcpy(&place, address, sizeof place);
    ::inet_ntop(AF_INET6, &place.sin6_addr, host.data(), host.size());
    return "[" + std::string(host.data()) + "]:" + std::to_string(ntohs(place.sin6_port));
  }
  constexpr std::size_t before_path = offsetof(sockaddr_un, sun_path);
  if (address->sa_family == AF_UNIX && size > before_path) {
    sockaddr_un place{};
    std::memcpy(&place, address, std::min<std::size_t>(size, sizeof place));
    return "unix://" + std::string(place.sun_path, ::strnlen(place.sun_path, size - before_path));
  }
  return "an address of another kind";
}

}  // namespace

ServiceManager ServiceManager::of_environment() {
  ServiceManager manager;
  const std::string address = take_variable("NOTIFY_SOCKET");
  if (address.empty()) {
    return manager;
  }
  if (address.front() != '/' && address.front() != '@') {
    log(Level::warning, "NOTIFY_SOCKET is \"" + address +
                            "\", which is neither a path nor @NAME: the service "
                            "manager is not notified");
  } else if (address.size() > longest_address) {
    log(Level::warning, "NOTIFY_SOCKET is longer than " + std::to_string(longest_address) +
                            " bytes: the service manager is not notified");
  } else {
    manager.address_ = address;
  }
  return manager;
}

void ServiceManager::ready(std::string_view status) {
  send("READY=1\nSTATUS=" + one_line(status));
}

void ServiceManager::status(std::string_view text) {
  send("STATUS=" + one_line(text));
}

void ServiceManager::starting(std::string_view status, std::chrono::seconds patience) {
  send("EXTEND_TIMEOUT_USEC=" + std::to_string(std::chrono::microseconds(patience).count()) +
       "\nSTATUS=" + one_line(status));
}

void ServiceManager::reloading() {
  send("RELOADING=1\nMONOTONIC_USEC=" + monotonic_micros());
}

void ServiceManager::stopping(std::string_view status) {
  send("STOPPING=1\nSTATUS=" + one_line(status));
}

void ServiceManager::send(const std::string& message) {
  if (address_.empty()) {
    return;
  }
  sockaddr_un place{};
  place.sun_family = AF_UNIX;
  address_.copy(place.sun_path, longest_address);
  if (address_.front() == '@') {
    place.sun_path[0] = '\0';
  }
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  const files::Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const bool sent =
      socket &&
      ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &longest_wait, sizeof longest_wait) == 0 &&
      ::sendto(socket.get(), message.data(), message.size(), MSG_NOSIGNAL,
               reinterpret_cast<const sockaddr*>(&place), size) >= 0;
  if (!sent && !std::exchange(failed_, true)) {
    log(Level::warning,
        "the service manager at " + address_ + " cannot be notified: " + std::strerror(errno));
  }
}

PassedSockets::~PassedSockets() {
  for (const int socket : sockets_) {
    ::close(socket);
  }
}

void PassedSockets::find() {
  const auto process = engine::number_in<std::int64_t>(take_variable("LISTEN_PID"));
  const auto count = engine::number_in<std::size_t>(take_variable("LISTEN_FDS"));
  ::unsetenv("LISTEN_FDNAMES");
  if (process != std::int64_t{::getpid()} || !count) {
    return;
  }
  for (std::size_t i = 0; i < std::min(*count, most_passed); ++i) {
    const int socket = first_passed + static_cast<int>(i);
    if (listens(socket) && ::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0) {
      sockets_.push_back(socket);
    }
  }
}

std::optional<int> PassedSockets::take(const sockaddr* address, socklen_t size) {
  const std::string wanted = text_of(address, size);
  for (std::size_t i = 0; i < sockets_.size(); ++i) {
    socklen_t own_size = 0;
    const sockaddr_storage own = address_of(sockets_[i], own_size);
    if (own_size > 0 && text_of(reinterpret_cast<const sockaddr*>(&own), own_size) == wanted) {
      const int socket = sockets_[i];
      sockets_.erase(sockets_.begin() + static_cast<std::ptrdiff_t>(i));
      return socket;
    }
  }
  return std::nullopt;
}

std::optional<int> PassedSockets::take(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() > longest_address) {
    return std::nullopt;
  }
  path.copy(address.sun_path, longest_address);
  return take(reinterpret_cast<const sockaddr*>(&address),
              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1));
}

std::vector<std::string> PassedSockets::addresses() const {
  std::vector<std::string> all;
  for (const int socket : sockets_) {
    socklen_t size = 0;
    const sockaddr_storage address = address_of(socket, size);
    all.push_back(text_of(reinterpret_cast<const sockaddr*>(&address), size));
  }
  return all;
}

}  // namespace hpsearch::net
