#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/files/replace_file.hpp"

namespace hpsearch::workers {

using files::Descriptor;
using files::write_all;

/// "No space left on device" and its kin, for the present errno or a given one.
[[nodiscard]] std::string error_text(int error);

/// A failed file operation as a sentence; a full disk gets its remedy.
[[nodiscard]] engine::Error file_error(std::string_view doing, const std::filesystem::path& path, int error);
[[nodiscard]] engine::Error file_error(std::string_view doing, const std::filesystem::path& path,
                                       const std::error_code& error);

/// Whether a sentence of file_error() tells that a disk takes nothing: it is full, broken or read-only.
/// Recognized by its text, since a shim's journal has nothing else.
[[nodiscard]] bool reports_a_bad_disk(std::string_view sentence);
/// The same of a machine that is short of processes, threads, open files or memory.
[[nodiscard]] bool reports_scarcity(std::string_view sentence);

/// Writes a small file below `directory` durably, and removes it.
engine::Status try_to_write_in(const std::filesystem::path& directory);

/// Whole content; not_found when there is no such file, corrupt when it is larger than `limit`.
[[nodiscard]] engine::Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// As in hpsearch/io/files/replace_file.hpp; failures are file_error()'s.
engine::Status write_file(const std::filesystem::path& path, std::string_view text, bool durable,
                          files::Readers readers = files::Readers::as_the_umask_says);

engine::Status make_directories(const std::filesystem::path& path);
engine::Status make_private_directory(const std::filesystem::path& path);
engine::Status sync_path(const std::filesystem::path& path);

}  // namespace hpsearch::workers
