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

/// "No space left on device" and the like, for the current errno or a given one.
[[nodiscard]] std::string error_text(int error);

/// The sentence for a failed file operation; for a full disk it has the remedy.
[[nodiscard]] engine::Error file_error(std::string_view doing, const std::filesystem::path& path, int error);
[[nodiscard]] engine::Error file_error(std::string_view doing, const std::filesystem::path& path,
                                       const std::error_code& error);

/// Whether a sentence of file_error() means that the disk rejects writes: it is full, broken or read-only.
/// Recognized by its text, because a shim's journal has nothing else.
[[nodiscard]] bool reports_a_bad_disk(std::string_view sentence);
/// Whether the sentence means that the machine is short of processes, threads, open files or memory.
[[nodiscard]] bool reports_scarcity(std::string_view sentence);

/// Writes a small file below `directory` durably, and removes it.
engine::Status try_to_write_in(const std::filesystem::path& directory);

/// The whole content; not_found: there is no such file; corrupt: it is larger than `limit`.
[[nodiscard]] engine::Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit);

// Like those in hpsearch/io/files/replace_file.hpp, but failures are file_error()'s.
engine::Status write_file(const std::filesystem::path& path, std::string_view text, bool durable,
                          files::Readers readers = files::Readers::as_the_umask_says);

engine::Status make_directories(const std::filesystem::path& path);
engine::Status make_private_directory(const std::filesystem::path& path);
engine::Status sync_path(const std::filesystem::path& path);

}  // namespace hpsearch::workers
