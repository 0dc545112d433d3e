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

/// A context as bytes: a tar archive of the files from context_files(), in that order, without times and
/// owners, with modes 0644 or 0755, so that equal contents give equal bytes. The SHA-256 of the bytes
/// identifies the context.
///
/// A file that grows meanwhile is packed with its size in `files`. unavailable: a file
/// can't be read, or becomes shorter meanwhile. Cost: as much memory as the size of the context.
[[nodiscard]] engine::Result<std::string> pack(const std::filesystem::path& context,
                                               const std::vector<ContextFile>& files);

/// The content of an archive. bad_request, with the name, unless pack() could have written it: names stay
/// inside, each below an earlier directory, only directories, files and links, no holes, no duplicate
/// names.
[[nodiscard]] engine::Result<std::vector<ContextFile>> contents_of(std::string_view archive);

/// Unpacks an archive into `directory`, which must exist and be empty. Makes the checks of contents_of()
/// meanwhile, and never writes through a link or over a file. unavailable: writing failed.
[[nodiscard]] engine::Status unpack(std::string_view archive, const files::Directory& directory);

}  // namespace hpsearch::context
