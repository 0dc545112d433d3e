#pragma once

#include <string>

#include "daemon/store/files/file_system.hpp"

namespace hpsearch::daemon {

/// The files that a store writes. Detects when they are no longer where a start looks for them: removed,
/// renamed, replaced, or hidden under another mount.
///
/// Threads: check() on any, also while another thread writes.
class PlacedFiles {
 public:
  /// The database and its write-ahead log as they are now. unavailable, not_found: one is missing.
  [[nodiscard]] static engine::Result<PlacedFiles> now(FileSystem& files, const std::string& database);

  /// corrupt: names the file that is missing or was replaced.
  [[nodiscard]] engine::Status check() const;

 private:
  PlacedFiles(FileSystem& files, std::string database, FileIdentity of_database, FileIdentity of_log)
      : files_(&files), database_(std::move(database)), of_database_(of_database), of_log_(of_log) {}

  FileSystem* files_;
  std::string database_;
  FileIdentity of_database_;
  FileIdentity of_log_;
};

/// Gives both files second names beside the seal: their content remains if a user removes or replaces one of
/// them by its usual name. If the file system has no such names, there are none, and earlier ones are
/// removed. unavailable: the directory of the seal cannot be written.
[[nodiscard]] engine::Status add_second_names(FileSystem& files, const std::string& database);
/// The second name of the database; that of its log follows from it.
[[nodiscard]] std::string second_name_of(const std::string& database);

}  // namespace hpsearch::daemon
