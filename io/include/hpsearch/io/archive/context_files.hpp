#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::context {

/// An entry of a context directory that its trials get.
struct ContextFile {
  enum class Kind : std::uint8_t { directory, file, link };
  Kind kind = Kind::file;
  std::string path;         ///< Relative to the context, with / between names.
  std::uint64_t bytes = 0;  ///< The size of a file.
  bool executable = false;  ///< The owner may execute the file.
  /// The target of a link: unchanged if it is inside, absolute if it is outside.
  std::string target = {};
  [[nodiscard]] bool leads_out() const noexcept { return !target.empty() && target.front() == '/'; }
};

/// Files that are no source code, or private, as an ignore file. A line of
/// .hpsearchignore that begins with ! includes them.
inline constexpr std::string_view left_out_by_default =
    "__pycache__/\n.git\n.venv\nvenv\nnode_modules\n.env\n.ssh\n*.pem\nid_rsa*\nid_ecdsa*\nid_ed25519*\n";

/// A context directory.
struct ContextListing {
  std::vector<ContextFile> files;     ///< For its trials; directories come before their content.
  std::vector<std::string> left_out;  ///< By default, except __pycache__; directories end with /.
};

/// Lists a context directory by path, except left_out_by_default, .hpsearch, the state
/// directories of hpsearch, files ignored by .hpsearchignore (or else .detignore), and entries that are no
/// directory, file or link.
///
/// not_found: it is no directory. unavailable: something in it can't be read.
[[nodiscard]] engine::Result<ContextListing> context_files(const std::filesystem::path& context);

/// The same as Determined's.
inline constexpr std::uint64_t default_limit_megabytes = 95;
/// The maximum of --context-limit.
inline constexpr std::uint64_t largest_limit_megabytes = 1'000'000;

/// The largest archive of a context within the limit: files are padded to blocks, and names take space.
[[nodiscard]] constexpr std::uint64_t most_archive_bytes(std::uint64_t limit_megabytes) noexcept {
  constexpr std::uint64_t names = 16'000'000;
  return 2 * limit_megabytes * 1'000'000 + names;
}

/// bad_request, with the largest files, if all files have more than `megabytes` (of 10^6 bytes).
/// `whose` is the beginning of the sentence: "the context directory /home/ann/digits".
[[nodiscard]] engine::Status check_size(std::string_view whose, std::vector<ContextFile> files,
                                        std::uint64_t megabytes);

}  // namespace hpsearch::context
