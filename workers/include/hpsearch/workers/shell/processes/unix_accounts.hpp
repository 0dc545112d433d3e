#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/wire/unix_user.hpp"
#include "hpsearch/workers/core/launch/run_as.hpp"

namespace hpsearch::workers {

/// FindAccount for this machine: its files of users and groups, and its directory services. Threads: any.
/// Cost: a directory service may take seconds.
[[nodiscard]] engine::Result<std::optional<UnixAccount>> find_account(const proto::UnixUser& user);

/// While it lives, this thread reads and writes files with the rights of that user, and its new files
/// belong to the user. So links and paths of the user can't lead it to files that the
/// user could not open.
///
/// Only the rights for files change, by setfsuid(): that user could send signals to a thread with another
/// effective or real uid, which would end the whole process. For the same reason, processes that this thread
/// starts meanwhile are root's. Nothing changes without an account.
///
/// Threads: only the one that made it, which must destroy it.
class FilesAs {
 public:
  /// unavailable: this process has no right to do it.
  [[nodiscard]] static engine::Result<FilesAs> begin(const std::optional<UnixAccount>& account);
  FilesAs(FilesAs&& other) noexcept : before_(std::move(other.before_)) { other.before_.reset(); }
  FilesAs& operator=(FilesAs&& other) = delete;
  ~FilesAs();

 private:
  explicit FilesAs(std::optional<UnixAccount> before) : before_(std::move(before)) {}

  std::optional<UnixAccount> before_;  ///< The rights to restore.
};

/// Makes a directory that only the user can enter, in one that only root changes; an existing one is
/// accepted. wrong_state: something else is there, or it belongs to another user.
[[nodiscard]] engine::Status make_directory_of(const UnixAccount& account, const std::filesystem::path& path);

}  // namespace hpsearch::workers
