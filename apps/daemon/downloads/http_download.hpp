#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "daemon/http/http_lanes.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/archive/tar_archive.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// Content of known length, of which any part can be read.
struct Download {
  std::uint64_t bytes = 0;
  std::string tag;  ///< No other content has it.
  std::string content_type;
  /// At most `limit` bytes from `offset` on, at least one before the end. Called beside the loop, by one
  /// thread at a time.
  std::function<engine::Result<std::string>(std::uint64_t offset, std::size_t limit)> read;
  std::string file_name{};  ///< Under which browsers save it; "" = they choose one.
  Lane lane = Lane::none;   ///< Each piece waits for the client's turn in this lane.
};

/// All of a file.
[[nodiscard]] Download download_of(files::OpenFile file, std::string tag, std::string content_type);

/// An archive, which is read from its files meanwhile.
[[nodiscard]] Download download_of(files::TarArchive archive, std::string tag, std::string file_name);

/// The answer to a GET or HEAD: all of it, or the part that Range selects. All of it, too, if If-Range has
/// another tag. 416: no byte of the range is there. Memory: two MiB for each answer that is being sent.
[[nodiscard]] net::HttpResponse answer_with(RequestContext& context, const Call& call, Download download);

}  // namespace hpsearch::daemon
