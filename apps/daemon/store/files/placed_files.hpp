#pragma once

#include <string>

#include "daemon/store/files/file_system.hpp"

namespace hpsearch::daemon {

/// Which files a store writes to, to notice when they no longer lie where a start looks for them: removed,
/// renamed, replaced, or hidden under another mount.
///
/// Threads: check() on any, also beside who writes.
class PlacedFiles {
 public:
  /// The database and its write-ahead log as they are now. unavailable, not_found: one is not there.
  [[nodiscard]] static engine::Result<PlacedFiles> now(FileSystem& files, const std::string& database);

  /// corrupt: naming the file that is no longer there, or another one.
  [[nodiscard]] engine::Status check() const;

 private:
  PlacedFiles(FileSystem& files, std::string database, FileIdentity of_database, FileIdentity of_log)
      : files_(&files), database_(std::move(database)), of_database_(of_database), of_log_(of_log) {}

  FileSystem* files_;
  std::string database_;
  FileIdentity of_database_;
  FileIdentity of_log_;
};

/// Gives both files further names beside the seal: whoever removes or replaces one by its usual name has not
/// removed what is in it. Where the file system has no such names, there are none, and none of before.
/// unavailable: the directory of the seal cannot be written.
[[nodiscard]] engine::Status add_second_names(FileSystem& files, const std::string& database);
/// What the database is called there; its log is called as its name says.
[[nodiscard]] std::string second_name_of(const std::string& database);

}  // namespace hpsearch::daemon
