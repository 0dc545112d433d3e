#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::files {

/// Makes a directory with access only for this user (0700), or checks the one that is there. unavailable: it
/// can't be made, or something there is another user's, open to others, or no directory; the sentence ends
/// with `remedy`, what to do instead of removing it.
[[nodiscard]] engine::Status make_for_this_user(const std::string& path, std::string_view remedy);

/// A short directory on a local file system for the Unix sockets of a state directory that can't have them:
/// $XDG_RUNTIME_DIR/hpsearch/HASH, or /tmp/hpsearch-UID/HASH if that variable names no private
/// directory of this user on a local file system, or if its path is long. The hash is that of the state
/// directory's path, so each start uses the same sockets.
class SocketDirectory {
 public:
  /// Chooses the directory; makes nothing.
  [[nodiscard]] static SocketDirectory of(const std::string& state_directory);
  /// The same, with the variable (nullptr: not set) and a directory in place of /tmp.
  [[nodiscard]] static SocketDirectory of(const std::string& state_directory, const char* runtime_directory,
                                          const std::string& temporary);

  /// At most `longest` bytes, so that names of 40 bytes below it fit into a socket's address.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  static constexpr std::size_t longest = 66;

  /// Makes it with access only for its user (0700). unavailable: it can't be made, or something there is
  /// another user's, open to others, or no directory.
  [[nodiscard]] engine::Status make() const;
  /// Removes it if it is empty.
  void remove_if_empty() const noexcept;

 private:
  SocketDirectory(std::string parent, const std::string& name)
      : parent_(std::move(parent)), path_(parent_ + "/" + name) {}

  std::string parent_;
  std::string path_;
};

}  // namespace hpsearch::files
