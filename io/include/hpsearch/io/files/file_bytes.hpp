#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// False, with errno set, when not everything could be written.
bool write_all(int file, std::string_view bytes);

/// At most `limit` bytes of an open file from `offset` on; fewer where the file ends. `directory` and `name`
/// are for the message of a failure. unavailable: it cannot be read. Cost: O(limit).
[[nodiscard]] engine::Result<std::string> read_at(const Directory& directory, const Descriptor& file,
                                                  const std::filesystem::path& name, std::uint64_t offset,
                                                  std::size_t limit);

}  // namespace hpsearch::files
