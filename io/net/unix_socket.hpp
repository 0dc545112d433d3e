#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::net {

/// The path of a Unix socket as the kernel takes it. It takes 107 bytes; a longer path leads through its
/// directory's descriptor, which stays open as long as this lives.
class UnixPath {
 public:
  /// unavailable: the directory of a long path cannot be opened; bad_request: the file's own name is too
  /// long.
  [[nodiscard]] static engine::Result<UnixPath> of(const std::string& path);
  UnixPath(UnixPath&& other) noexcept;
  UnixPath& operator=(UnixPath&& other) noexcept;
  ~UnixPath();

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  UnixPath(std::string text, int directory) : text_(std::move(text)), directory_(directory) {}

  std::string text_;
  int directory_ = -1;
};

/// The file of a Unix socket that we listen on.
///
/// Owns:    the file; the destructor removes it, unless another one lies there by then.
class SocketFile {
 public:
  /// Removes what a process that was killed left at `path`. wrong_state: a process still listens there;
  /// unavailable: something that is not a socket lies there.
  [[nodiscard]] static engine::Status make_way(const std::string& path);

  /// The socket is bound: only its owner may connect (mode 0600), or any user (0666).
  [[nodiscard]] static engine::Result<SocketFile> own(const std::string& path, bool any_user = false);
  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&& other) noexcept;
  ~SocketFile();

 private:
  SocketFile(std::string path, dev_t device, ino_t inode)
      : path_(std::move(path)), device_(device), inode_(inode) {}

  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// User of the process at the other end of a connected Unix socket (SO_PEERCRED).
[[nodiscard]] std::optional<std::uint32_t> peer_uid(int socket) noexcept;

}  // namespace hpsearch::net
