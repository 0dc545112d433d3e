#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/wire/unix_user.hpp"
#include "hpsearch/workers/core/launch/run_as.hpp"

namespace hpsearch::workers {

/// FindAccount of this machine: its files of users and groups, and its directory services. Threads: any.
/// Cost: a directory service may take seconds.
[[nodiscard]] engine::Result<std::optional<UnixAccount>> find_account(const proto::UnixUser& user);

/// For as long as it lives, this thread reads and writes files with the rights of that user, and what it
/// makes belongs to the user. So a link, a hard link or a path of the user's leads it to nothing that the
/// user could not open.
///
/// Only the rights for files change, by setfsuid(): a thread with another effective or real uid could be
/// sent signals by that user, which end the whole process. For the same reason processes that this thread
/// starts meanwhile are root's. Nothing changes without an account.
///
/// Threads: of the one that made it, which destroys it.
class FilesAs {
 public:
  /// unavailable: this process may not.
  [[nodiscard]] static engine::Result<FilesAs> begin(const std::optional<UnixAccount>& account);
  FilesAs(FilesAs&& other) noexcept : before_(std::move(other.before_)) { other.before_.reset(); }
  FilesAs& operator=(FilesAs&& other) = delete;
  ~FilesAs();

 private:
  explicit FilesAs(std::optional<UnixAccount> before) : before_(std::move(before)) {}

  std::optional<UnixAccount> before_;  ///< The rights to give back.
};

/// A directory that is the user's alone, in one that only root changes; one that is there already is fine.
/// wrong_state: something else is there, or it is another user's.
[[nodiscard]] engine::Status make_directory_of(const UnixAccount& account, const std::filesystem::path& path);

}  // namespace hpsearch::workers
