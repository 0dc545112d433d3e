#include "hpsearch/workers/shell/shim/local_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;

namespace {

// More than the expected simultaneous connections; the kernel refuses further ones.
constexpr int backlog = 64;

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() > longest_socket_path) {
    return Error{Errc::unavailable, "the socket's path " + path + " is longer than " +
                                        std::to_string(longest_socket_path) + " bytes"};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<Descriptor> new_socket() {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) {
    return Error{Errc::unavailable, "cannot make a socket: " + error_text(errno)};
  }
  return socket;
}

}  // namespace

Result<Descriptor> listen_locally(const std::string& path) {
  const Result<sockaddr_un> address = address_of(path);
  if (!address) {
    return address.error();
  }
  Result<Descriptor> listener = new_socket();
  if (!listener) {
    return listener.error();
  }
  ::unlink(path.c_str());
  if (::bind(listener->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener->get(), backlog) != 0) {
    return file_error("cannot listen on", path, errno);
  }
  return listener;
}

Result<Descriptor> connect_locally(const std::string& path) {
  const Result<sockaddr_un> address = address_of(path);
  if (!address) {
    return address.error();
  }
  Result<Descriptor> socket = new_socket();
  if (!socket) {
    return socket.error();
  }
  if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0) {
    return Error{Errc::not_found, "cannot connect to " + path + ": " + error_text(errno)};
  }
  return socket;
}

bool is_ours(const Descriptor& connection) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.uid == ::geteuid();
}

pid_t peer_of(const Descriptor& connection) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

}  // namespace hpsearch::workers
