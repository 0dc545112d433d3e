#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// The file of a store while it is made: it has another name until it is whole and durable. Only its owner
/// may read it.
///
/// Owns:    the draft, which the destructor removes.
/// Threads: one at a time.
class NewStoreFile {
 public:
  /// wrong_state: something is at that path, or the write-ahead log or journal of an earlier store; it stays
  /// unchanged. unavailable: the file system refuses.
  [[nodiscard]] static engine::Result<std::unique_ptr<NewStoreFile>> begin(const std::string& path);
  NewStoreFile(const NewStoreFile&) = delete;
  NewStoreFile& operator=(const NewStoreFile&) = delete;
  ~NewStoreFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The file to fill; invalid after finish().
  [[nodiscard]] SqliteFile& file() { return *file_; }

  /// Renames it to its path, or leaves nothing. wrong_state, unavailable: as begin().
  engine::Status finish();

 private:
  explicit NewStoreFile(const std::string& path) : path_(path), draft_(path + ".new") {}
  void remove_draft() const noexcept;

  std::string path_;
  std::string draft_;
  std::optional<SqliteFile> file_;
};

}  // namespace hpsearch::daemon
