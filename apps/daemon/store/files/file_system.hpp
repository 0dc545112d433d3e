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

/// A file that is being written from its beginning; closed when it goes.
class FileWriter {
 public:
  FileWriter() = default;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  virtual ~FileWriter() = default;

  [[nodiscard]] virtual engine::Status write(std::span<const std::byte> bytes) = 0;
  /// What was written is durable on return; its name may not be yet.
  [[nodiscard]] virtual engine::Status sync() = 0;
};

/// What a store's files lie on: the kernel's file systems, or in tests one that fails as real ones do.
///
/// Paths are absolute.
/// Threads: one at a time.
/// Fails:   unavailable, with the path and why.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  /// Makes the file, or empties the one that is there.
  [[nodiscard]] virtual engine::Result<std::unique_ptr<FileWriter>> create(const std::string& path) = 0;
  /// In the place of what was at `to`, at once.
  [[nodiscard]] virtual engine::Status rename(const std::string& from, const std::string& to) = 0;
  /// Gives the file at `from` a further name, in the place of what was at `to`. Not every file system can.
  [[nodiscard]] virtual engine::Status link(const std::string& from, const std::string& to) = 0;
  /// A file that is not there is fine.
  virtual void remove(const std::string& path) noexcept = 0;
  /// False when it was there already.
  [[nodiscard]] virtual engine::Result<bool> make_directory(const std::string& path) = 0;
  /// Makes the names in a directory durable.
  [[nodiscard]] virtual engine::Status sync_directory(const std::string& path) = 0;
  /// The whole content. not_found: there is no such file.
  [[nodiscard]] virtual engine::Result<std::vector<std::byte>> read(const std::string& path) = 0;
  /// Which file the path leads to now. not_found: none. May be called on any thread.
  [[nodiscard]] virtual engine::Result<FileIdentity> identity(const std::string& path) = 0;
  /// In bytes. not_found: there is no such file.
  [[nodiscard]] virtual engine::Result<std::uint64_t> size(const std::string& path) = 0;
  /// Of the files in a directory, in no order; nothing when it is absent.
  [[nodiscard]] virtual std::vector<std::string> names_in(const std::string& directory) = 0;

  /// StoreLock::take(), which makes the file if it is missing.
  [[nodiscard]] virtual engine::Result<StoreLock> lock_store(const std::string& path) = 0;

  /// The name under which SQLite knows this file system; nullptr: its own.
  [[nodiscard]] virtual const char* sqlite_name() const noexcept { return nullptr; }
};

/// The kernel's. Lives as long as the process.
[[nodiscard]] FileSystem& kernel_files() noexcept;

/// Puts a file with this content at `path`, in the place of what was there: whole and durable on return, or
/// as it was before. unavailable: why not.
[[nodiscard]] engine::Status write_file_durably(FileSystem& files, const std::string& path,
                                                std::span<const std::span<const std::byte>> parts);

}  // namespace hpsearch::daemon
