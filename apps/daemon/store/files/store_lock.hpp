#pragma once

#include <string>

#include "daemon/store/files/durable_file.hpp"
#include "daemon/store/files/file_identity.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The right to write to a store: a lock on its database file, which no other file can stand in for. Whoever
/// opens a store takes it before anything else, and changes nothing where it is refused.
///
/// The lock is on one byte behind those that SQLite locks, by descriptor (F_OFD_SETLK). SQLite's own locks
/// belong to the process, and closing any descriptor of the file gives them up: let go of this after the
/// database is closed.
///
/// Owns: the lock, until it goes or the process ends.
class StoreLock {
 public:
  enum class Missing { refused, made };

  /// Holds nothing: for a disk that only this process has.
  StoreLock() : file_(-1) {}

  /// wrong_state: another process has the file open, by its lock or by SQLite's; not_found: it is missing;
  /// unavailable: the file system refuses.
  [[nodiscard]] static engine::Result<StoreLock> take(const std::string& path, Missing missing);

  /// Whether this file is the one that is locked; any is where nothing is held.
  [[nodiscard]] bool is_on(const FileIdentity& file) const noexcept;

 private:
  explicit StoreLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace hpsearch::daemon
