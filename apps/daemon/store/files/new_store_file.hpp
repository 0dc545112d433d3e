#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/store/sqlite_file.hpp"

namespace hpsearch::daemon {

/// The file of a store while it is made: it is written under another name, and only when it is whole and
/// durable does it get its own. Only its owner may read it.
///
/// Owns:    the draft, which goes when this goes.
/// Threads: one at a time.
class NewStoreFile {
 public:
  /// wrong_state: something is at that path, or the write-ahead log or journal of a store that was; it is
  /// left alone. unavailable: the file system refuses.
  [[nodiscard]] static engine::Result<std::unique_ptr<NewStoreFile>> begin(const std::string& path);
  NewStoreFile(const NewStoreFile&) = delete;
  NewStoreFile& operator=(const NewStoreFile&) = delete;
  ~NewStoreFile();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// To be filled; gone after finish().
  [[nodiscard]] SqliteFile& file() { return *file_; }

  /// Gives it its name, or leaves nothing. wrong_state, unavailable: as begin().
  engine::Status finish();

 private:
  explicit NewStoreFile(const std::string& path) : path_(path), draft_(path + ".new") {}
  void remove_draft() const noexcept;

  std::string path_;
  std::string draft_;
  std::optional<SqliteFile> file_;
};

}  // namespace hpsearch::daemon
