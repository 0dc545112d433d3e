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

// What a worker hands over of a trial's kept files, and what the daemon then has of them.

/// Of one piece of a file's content on its way.
inline constexpr std::size_t most_piece_bytes = std::size_t{1} << 20U;
/// Of a FileOffer as JSON: a body that every route takes.
inline constexpr std::size_t most_offer_bytes = std::size_t{1000} * 1000;

struct OfferedFile {
  std::string path;  ///< In the working directory.
  std::uint64_t bytes = 0;
  std::string digest;  ///< SHA-256 of its content; "" = it is a link.
  bool executable = false;
  std::string link;  ///< Where the link leads.
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
  DroppedFiles dropped;  ///< Neither here nor on the worker.
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

/// Whether a path leads to one place below a directory, whatever lies there: relative, in parts that are
/// neither "", "." nor "..", none longer than file systems take, and UTF-8.
[[nodiscard]] bool leads_below(std::string_view path) noexcept;

/// bad_request, with the first of them: a path does not lead below; two are the same, or one is a directory
/// of the other; a digest is none; what is no link has none.
[[nodiscard]] engine::Status check(const FileOffer& offer);

/// Bytes of all content, each as often as it is named.
[[nodiscard]] std::uint64_t bytes_of(const FileOffer& offer) noexcept;

}  // namespace hpsearch::proto
