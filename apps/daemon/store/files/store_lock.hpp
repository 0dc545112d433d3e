#pragma once

#include <string>

#include "daemon/store/files/file_identity.hpp"
#include "daemon/store/files/file_sync.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The right to write to a store: a lock on its database file, which cannot be replaced by another file. Take
/// it before anything else when a store is opened, and change nothing if it is refused.
///
/// The lock covers one byte after those that SQLite locks, by descriptor (F_OFD_SETLK). SQLite's own locks
/// belong to the process, and closing any descriptor of the file releases them: destroy this after the
/// database is closed.
///
/// Owns: the lock, until it is destroyed or the process ends.
class StoreLock {
 public:
  enum class Missing { refused, made };

  /// Holds no lock: for a disk that only this process uses.
  StoreLock() : file_(-1) {}

  /// wrong_state: another process has the file open, by its lock or by SQLite's; not_found: it is missing;
  /// unavailable: the file system refuses.
  [[nodiscard]] static engine::Result<StoreLock> take(const std::string& path, Missing missing);

  /// Whether this file is the locked one; true for any file if no lock is held.
  [[nodiscard]] bool is_on(const FileIdentity& file) const noexcept;

 private:
  explicit StoreLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace hpsearch::daemon
