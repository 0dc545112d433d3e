#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::files {

/// False, with errno set, when not everything could be written.
bool write_all(int file, std::string_view bytes);

/// A regular file that is open for reading. Its bytes can be read after its name was removed, too.
///
/// Threads: any, also several at once.
class OpenFile {
 public:
  /// Fails as Directory::file() does.
  [[nodiscard]] static engine::Result<OpenFile> of(const Directory& directory,
                                                   const std::filesystem::path& name);

  /// Its size when it was opened.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// At most `limit` bytes from `offset` on; fewer where the file ends. unavailable: it cannot be read. Cost:
  /// O(limit).
  [[nodiscard]] engine::Result<std::string> read(std::uint64_t offset, std::size_t limit) const;

 private:
  OpenFile(Descriptor descriptor, std::filesystem::path path, std::uint64_t bytes)
      : descriptor_(std::move(descriptor)), path_(std::move(path)), bytes_(bytes) {}

  Descriptor descriptor_;
  std::filesystem::path path_;  ///< For messages.
  std::uint64_t bytes_;
};

}  // namespace hpsearch::files
