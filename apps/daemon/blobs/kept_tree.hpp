#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/blobs/kept_store.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

// The directory of KeptStore, for its sources only.

inline constexpr const char* list_file = "list.json";
inline constexpr const char* removed_logs_file = "removed";
inline constexpr std::string_view log_ending = ".zst";
inline constexpr std::string_view problem_ending = ".problem";
inline constexpr std::uint32_t kept_file_mode = 0600;

/// Whether a file of a set belongs to its logs.
[[nodiscard]] bool is_about_logs(std::string_view name) noexcept;

[[nodiscard]] engine::Result<files::Directory> open_set(const std::string& directory, const KeptSet& set);
/// Opens the directory of the set, and makes missing parts of its path.
[[nodiscard]] engine::Result<files::Directory> make_set(const std::string& directory, const KeptSet& set);

/// Empty if the directory cannot be read.
[[nodiscard]] std::vector<files::Entry> entries_of(const files::Directory& directory);
/// Calls it with each directory whose name is a number.
void each_numbered(const files::Directory& directory,
                   const std::function<void(std::uint64_t number, const files::Directory& inside)>& take);

/// Null if there is no such file.
[[nodiscard]] std::optional<std::uint64_t> size_of(const files::Directory& directory,
                                                   const std::string& name);

[[nodiscard]] engine::Result<StoredFiles> list_in(const files::Directory& set);
engine::Status write_list(const files::Directory& set, const StoredFiles& stored);

/// The body of a request, which is in a file if large bodies of its type go to the disk. corrupt: it is
/// longer than `limit`.
[[nodiscard]] engine::Result<std::string> body_of(const std::string& body,
                                                  const std::shared_ptr<const net::UploadedFile>& upload,
                                                  std::uint64_t limit);

}  // namespace hpsearch::daemon
