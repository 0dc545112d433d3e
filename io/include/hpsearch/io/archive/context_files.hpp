#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::context {

/// One thing in a context directory that its trials get.
struct ContextFile {
  enum class Kind : std::uint8_t { directory, file, link };
  Kind kind = Kind::file;
  std::string path;         ///< Below the context, with / between names.
  std::uint64_t bytes = 0;  ///< The size of a file.
  bool executable = false;  ///< A file its owner may run.
  /// The target of a link: as it stands when it leads to something inside, absolute when it leads out.
  std::string target = {};
  [[nodiscard]] bool leads_out() const noexcept { return !target.empty() && target.front() == '/'; }
};

/// What is nobody's source code, or nobody else's business, in the form of an ignore file. A line of
/// .hpsearchignore that begins with ! takes it in.
inline constexpr std::string_view left_out_by_default =
    "__pycache__/\n.git\n.venv\nvenv\nnode_modules\n.env\n.ssh\n*.pem\nid_rsa*\nid_ecdsa*\nid_ed25519*\n";

/// A context directory.
struct ContextListing {
  std::vector<ContextFile> files;     ///< What its trials get, directories before what is in them.
  std::vector<std::string> left_out;  ///< By default, but for __pycache__; directories end in /.
};

/// Lists a context directory by path: everything but what is left_out_by_default, .hpsearch, the state
/// directories of hpsearch, what .hpsearchignore (or else .detignore) names, and what is no directory, file
/// or link.
///
/// not_found: it is no directory. unavailable: something in it cannot be read.
[[nodiscard]] engine::Result<ContextListing> context_files(const std::filesystem::path& context);

/// As users of Determined know it.
inline constexpr std::uint64_t default_limit_megabytes = 95;
/// The most that --context-limit may be.
inline constexpr std::uint64_t largest_limit_megabytes = 1'000'000;

/// No archive of a context within that limit is larger: files are rounded up to blocks, and names take room.
[[nodiscard]] constexpr std::uint64_t most_archive_bytes(std::uint64_t limit_megabytes) noexcept {
  constexpr std::uint64_t names = 16'000'000;
  return 2 * limit_megabytes * 1'000'000 + names;
}

/// bad_request, naming the largest files, when all of them hold more than `megabytes` (of 10^6 bytes).
/// `whose` begins the sentence: "the context directory /home/ann/digits".
[[nodiscard]] engine::Status check_size(std::string_view whose, std::vector<ContextFile> files,
                                        std::uint64_t megabytes);

}  // namespace hpsearch::context
