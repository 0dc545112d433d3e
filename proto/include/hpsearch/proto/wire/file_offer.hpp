#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"

namespace hpsearch::proto {

// The files of a trial that a worker hands over, and the pieces that the daemon has of them.

/// The size of one piece of a file's content in transit.
inline constexpr std::size_t most_piece_bytes = std::size_t{1} << 20U;
/// The size of a FileOffer as JSON, which every route accepts as a body.
inline constexpr std::size_t most_offer_bytes = std::size_t{1000} * 1000;

struct OfferedFile {
  std::string path;  ///< Relative to the working directory.
  std::uint64_t bytes = 0;
  std::string digest;  ///< SHA-256 of its content; "" = it is a link.
  bool executable = false;
  std::string link;  ///< The target of the link.
};

void spell(auto& fields, Is<OfferedFile> auto& file) {
  fields("path", file.path);
  fields("bytes", file.bytes);
  fields.maybe("digest", file.digest);
  fields.maybe("executable", file.executable);
  fields.maybe("link", file.link);
}

/// All files of a trial on one worker.
struct FileOffer {
  std::vector<OfferedFile> files;
  DroppedFiles dropped;  ///< Neither handed over nor on the worker.
  DroppedFiles left;     ///< On the worker only, and why.
  std::optional<double> metric;
  bool larger_is_better = false;
};

void spell(auto& fields, Is<FileOffer> auto& offer) {
  fields("files", offer.files);
  fields("dropped", offer.dropped);
  fields("left", offer.left);
  fields.maybe("metric", offer.metric);
  fields.maybe("larger_is_better", offer.larger_is_better);
}

/// Whether a path stays below its directory for any content of it: relative, in parts that are
/// neither "", "." nor "..", none longer than file systems take, and UTF-8.
[[nodiscard]] bool leads_below(std::string_view path) noexcept;

/// bad_request, with the first problem: a path leaves its directory; two are the same, or one is a directory
/// of the other; a digest is invalid; a file has none.
[[nodiscard]] engine::Status check(const FileOffer& offer);

/// The bytes of all content; content that is named twice counts twice.
[[nodiscard]] std::uint64_t bytes_of(const FileOffer& offer) noexcept;

}  // namespace hpsearch::proto
