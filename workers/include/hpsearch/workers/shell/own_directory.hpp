#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::workers {

/// A directory that the worker made for a program. A program can replace it by another directory or a
/// symbolic link; the replacement belongs to the program.
struct OwnDirectory {
  std::filesystem::path path;
  std::uint64_t device = 0;  ///< The number of its file system's device.
  std::uint64_t inode = 0;
};

/// Without the path, which the reader has.
void spell(auto& fields, proto::Is<OwnDirectory> auto& made) {
  fields("device", made.device);
  fields("inode", made.inode);
}

/// The directory at `path` now. not_found, unavailable: there is none, or it is a link.
[[nodiscard]] engine::Result<OwnDirectory> own_directory_at(const std::filesystem::path& path);

/// Opens a directory that the worker made. wrong_state: it was replaced by another directory or a link, or
/// removed; nothing was changed. The result stays that directory even if its name changes afterwards.
[[nodiscard]] engine::Result<files::Directory> open_own_directory(const OwnDirectory& made);

/// HPSEARCH_CHECKPOINT_DIR, emptied, for a program's own processes, which don't know its inode. It is made
/// if it doesn't exist.
/// wrong_state, and nothing is removed: it is a symbolic link, or a directory above it was replaced by
/// a link.
[[nodiscard]] engine::Result<files::Directory> emptied_checkpoint_directory(
    const std::filesystem::path& directory);

}  // namespace hpsearch::workers
