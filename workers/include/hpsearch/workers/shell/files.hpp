#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::workers {

/// Owns an open file descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  void reset() noexcept;
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// "No space left on device" and its kin, for the present errno or a given one.
[[nodiscard]] std::string error_text(int error);

/// A failed file operation as a sentence; a full disk gets its remedy.
[[nodiscard]] engine::Error file_error(std::string_view doing, const std::filesystem::path& path, int error);
[[nodiscard]] engine::Error file_error(std::string_view doing, const std::filesystem::path& path,
                                       const std::error_code& error);

/// Whether a sentence of file_error() tells that a disk takes nothing: it is full, broken or read-only. Told
/// by its words, since they are what comes through a shim's journal.
[[nodiscard]] bool reports_a_bad_disk(std::string_view sentence);
/// The same of a machine that is short of processes, threads, open files or memory.
[[nodiscard]] bool reports_scarcity(std::string_view sentence);

/// Writes a little below `directory`, for good, and takes it away again.
engine::Status try_to_write_in(const std::filesystem::path& directory);

/// Whole content; not_found when there is no such file, corrupt when it is larger than `limit`.
[[nodiscard]] engine::Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

/// False, with errno set, when not everything could be written.
bool write_all(int file, std::string_view bytes);

enum class Readers { as_the_umask_says, owner };

/// The new content or the old one, never a mixture; `durable` survives a power failure.
engine::Status write_file(const std::filesystem::path& path, std::string_view text, bool durable,
                          Readers readers = Readers::as_the_umask_says);

/// Copies one file with its mode. Unlike the standard library's, it tells a full disk from a broken one.
engine::Status copy_one_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// Copies directories, files and links.
engine::Status copy_tree(const std::filesystem::path& from, const std::filesystem::path& to);

engine::Status make_directories(const std::filesystem::path& path);

/// Flushes a file's or a directory's content to the disk.
engine::Status sync_path(const std::filesystem::path& path);

/// Removes a tree as far as possible; what cannot be removed is left.
void remove_tree(const std::filesystem::path& path) noexcept;

}  // namespace hpsearch::workers
