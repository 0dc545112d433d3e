#include "net/unix_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hpsearch::net {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

Error system_error(const std::string& doing, const std::string& path) {
  return Error{Errc::unavailable, "cannot " + doing + " " + path + ": " + std::strerror(errno)};
}

}  // namespace

Result<UnixPath> UnixPath::of(const std::string& path) {
  if (path.size() <= longest_path) {
    return UnixPath(path, -1);
  }
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const int directory = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) {
    return system_error("open", folder);
  }
  std::string way = "/proc/self/fd/" + std::to_string(directory) + "/" + name;
  if (way.size() > longest_path) {
    ::close(directory);
    return Error{Errc::bad_request, "the name of the socket " + path + " is too long"};
  }
  return UnixPath(std::move(way), directory);
}

UnixPath::UnixPath(UnixPath&& other) noexcept
    : text_(std::move(other.text_)), directory_(std::exchange(other.directory_, -1)) {
}

UnixPath& UnixPath::operator=(UnixPath&& other) noexcept {
  std::swap(text_, other.text_);
  std::swap(directory_, other.directory_);
  return *this;
}

UnixPath::~UnixPath() {
  if (directory_ >= 0) {
    ::close(directory_);
  }
}

Status SocketFile::make_way(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    return errno == ENOENT ? Status(Done{}) : Status(system_error("look at", path));
  }
  if (!S_ISSOCK(found.st_mode)) {
    return Error{Errc::unavailable, path + " exists and is not a socket"};
  }
  const auto place = UnixPath::of(path);
  if (!place) {
    return place.error();
  }
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) {
    return system_error("try", path);
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  place->text().copy(address.sun_path, longest_path);
  const bool listens =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  ::close(probe);
  if (listens) {
    return Error{Errc::wrong_state, "another process listens on " + path};
  }
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status(Done{})
                                                        : Status(system_error("remove", path));
}

Result<SocketFile> SocketFile::own(const std::string& path, bool any_user) {
  struct stat made {};
  if (::chmod(path.c_str(), any_user ? 0666 : 0600) != 0 || ::lstat(path.c_str(), &made) != 0) {
    return system_error("set the mode of", path);
  }
  return SocketFile(path, made.st_dev, made.st_ino);
}

SocketFile::SocketFile(SocketFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {
}

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

SocketFile::~SocketFile() {
  struct stat found {};
  if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
      found.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

std::optional<std::uint32_t> peer_uid(int socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return std::nullopt;
  }
  return peer.uid;
}

}  // namespace hpsearch::net
