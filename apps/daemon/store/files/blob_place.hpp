#pragma once

#include <cstdint>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// STATE/blobs.json: where contexts, kept logs and kept files are, if not in the state directory.
struct BlobPlace {
  std::string directory;
};

void spell(auto& fields, proto::Is<BlobPlace> auto& record) {
  fields("directory", record.directory);
}

/// In the directory of blobs: the store that they are of.
inline constexpr const char* blob_mark_name = "hpsearch-blobs.json";

/// The directory that has contexts/ and kept/. unavailable: its file system isn't mounted, or it was removed;
/// corrupt: blobs.json can't be read as such a record.
[[nodiscard]] engine::Result<std::string> blobs_of(const std::string& state_directory);

/// Prepares the directory of blobs, and returns it: `given`, made (0700) and marked as the store's if
/// necessary, or the state directory if `given` is "". Writes blobs.json. Only for the daemon that has the
/// store. Each message has the remedy.
///
/// bad_request: `given` isn't absolute or is another store's, or the blobs are elsewhere and must be moved.
/// unavailable: it cannot be read or written, or it had this store's blobs and has no mark now.
[[nodiscard]] engine::Result<std::string> prepare_blobs(const std::string& given,
                                                        const std::string& state_directory,
                                                        std::uint64_t cluster);

}  // namespace hpsearch::daemon
