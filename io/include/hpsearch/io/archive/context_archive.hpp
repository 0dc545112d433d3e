#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/archive/context_files.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::context {

/// A context as bytes: a tar archive of what context_files() lists, in that order, without times and owners,
/// files either 0644 or 0755: equal contents give equal bytes. The SHA-256 of the bytes is the context's
/// name.
///
/// A file that grows meanwhile is packed as long as it was when `files` were listed. unavailable: a file
/// cannot be read, or becomes shorter while it is. Cost: as much memory as the context is large.
[[nodiscard]] engine::Result<std::string> pack(const std::filesystem::path& context,
                                               const std::vector<ContextFile>& files);

/// What an archive holds. bad_request, with the name, unless it is one as pack() makes them: names that stay
/// inside, each below a directory that came before, nothing but directories, files and links, no holes, none
/// twice.
[[nodiscard]] engine::Result<std::vector<ContextFile>> contents_of(std::string_view archive);

/// Puts an archive's content into `directory`, which must be there and empty. The checks of contents_of() are
/// made on the way, and nothing is ever written through a link or over a file. unavailable: the disk said no.
[[nodiscard]] engine::Status unpack(std::string_view archive, const files::Directory& directory);

}  // namespace hpsearch::context
