#pragma once

#include <sys/socket.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::net {

/// The manager that started this program as a service (systemd), by the datagrams of sd_notify(3). Without a
/// manager nothing is sent.
///
/// Threads: one. Cost: one datagram a call; waits at most a second if the manager doesn't read.
class ServiceManager {
 public:
  ServiceManager() = default;  ///< There is none.

  /// The one of $NOTIFY_SOCKET. Removes the variable: programs that this one starts are not the service.
  [[nodiscard]] static ServiceManager of_environment();

  /// The service has started, or has read its configuration again.
  void ready(std::string_view status);
  void status(std::string_view text);
  /// The start goes on, and the manager must wait for it this long from now.
  void starting(std::string_view status, std::chrono::seconds patience);
  void reloading();
  void stopping(std::string_view status);

 private:
  void send(const std::string& message);

  std::string address_;  ///< A path, or "@" and the name of an abstract socket; "" = there is no manager.
  bool failed_ = false;  ///< A failure was logged.
};

/// Listening sockets that a service manager has opened and passed, by the variables of sd_listen_fds(3).
///
/// Owns: the sockets until they are taken. Threads: one.
class PassedSockets {
 public:
  PassedSockets() = default;  ///< There are none.
  PassedSockets(const PassedSockets&) = delete;
  PassedSockets& operator=(const PassedSockets&) = delete;
  ~PassedSockets();

  /// Finds those of this process, and removes the variables.
  void find();

  /// The socket that listens at that address; the caller owns it. Nothing: none does.
  [[nodiscard]] std::optional<int> take(const sockaddr* address, socklen_t size);
  /// The same for the path of a Unix socket.
  [[nodiscard]] std::optional<int> take(const std::string& path);

  /// The addresses of those that were not taken.
  [[nodiscard]] std::vector<std::string> addresses() const;

 private:
  std::vector<int> sockets_;
};

}  // namespace hpsearch::net
