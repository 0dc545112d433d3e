#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/store/files/file_identity.hpp"
#include "daemon/store/files/store_lock.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// A file that is being written from its beginning; the destructor closes it.
class FileWriter {
 public:
  FileWriter() = default;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  virtual ~FileWriter() = default;

  [[nodiscard]] virtual engine::Status write(std::span<const std::byte> bytes) = 0;
  /// The content is durable on return; its name may not be yet.
  [[nodiscard]] virtual engine::Status sync() = 0;
};

/// The file system of a store's files: the kernel's, or in tests one that fails as real ones do.
///
/// Paths are absolute.
/// Threads: one at a time.
/// Fails:   unavailable, with the path and the reason.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  /// Makes the file, or empties an existing one.
  [[nodiscard]] virtual engine::Result<std::unique_ptr<FileWriter>> create(const std::string& path) = 0;
  /// Replaces the file at `to` atomically.
  [[nodiscard]] virtual engine::Status rename(const std::string& from, const std::string& to) = 0;
  /// Gives the file at `from` another name, which replaces the file at `to`. Not every file system supports
  /// this.
  [[nodiscard]] virtual engine::Status link(const std::string& from, const std::string& to) = 0;
  /// A missing file is not an error.
  virtual void remove(const std::string& path) noexcept = 0;
  /// False if it existed already.
  [[nodiscard]] virtual engine::Result<bool> make_directory(const std::string& path) = 0;
  /// Makes the names in a directory durable.
  [[nodiscard]] virtual engine::Status sync_directory(const std::string& path) = 0;
  /// The whole content. not_found: there is no such file.
  [[nodiscard]] virtual engine::Result<std::vector<std::byte>> read(const std::string& path) = 0;
  /// The file that the path names now. not_found: none. May be called on any thread.
  [[nodiscard]] virtual engine::Result<FileIdentity> identity(const std::string& path) = 0;
  /// Size in bytes. not_found: there is no such file.
  [[nodiscard]] virtual engine::Result<std::uint64_t> size(const std::string& path) = 0;
  /// Names of the files in a directory, in no order; empty if it is missing.
  [[nodiscard]] virtual std::vector<std::string> names_in(const std::string& directory) = 0;

  /// StoreLock::take(), which makes the file if it is missing.
  [[nodiscard]] virtual engine::Result<StoreLock> lock_store(const std::string& path) = 0;

  /// The name of this file system in SQLite; nullptr: SQLite's default.
  [[nodiscard]] virtual const char* sqlite_name() const noexcept { return nullptr; }
};

/// The kernel's file systems. Lives as long as the process.
[[nodiscard]] FileSystem& kernel_files() noexcept;

/// Replaces the file at `path` with this content: whole and durable on return, or unchanged. unavailable:
/// with the reason.
[[nodiscard]] engine::Status write_file_durably(FileSystem& files, const std::string& path,
                                                std::span<const std::span<const std::byte>> parts);

}  // namespace hpsearch::daemon
