#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::workers {

/// A directory that the worker made for a training, as it was then. A training can put another directory or a
/// symbolic link in its place; what is there then belongs to the training.
struct OwnDirectory {
  std::filesystem::path path;
  std::uint64_t device = 0;  ///< The device number of its file system.
  std::uint64_t inode = 0;
};

/// Without the path, which the reader knows.
void spell(auto& fields, proto::Is<OwnDirectory> auto& made) {
  fields("device", made.device);
  fields("inode", made.inode);
}

/// The directory that is at `path` now. not_found, unavailable: none, or a link.
[[nodiscard]] engine::Result<OwnDirectory> own_directory_at(const std::filesystem::path& path);

/// Opens a directory that the worker made. wrong_state: another directory is in its place, a link is, or
/// nothing; nothing was touched. Whatever happens to its name afterwards, the result is that directory.
[[nodiscard]] engine::Result<files::Directory> open_own_directory(const OwnDirectory& made);

/// HPSEARCH_CHECKPOINT_DIR, emptied, for a training's own processes: they do not know its inode. It is made
/// when it is not there.
/// wrong_state, and nothing is removed: it is a symbolic link, or it is in a directory that was replaced by
/// one.
[[nodiscard]] engine::Result<files::Directory> emptied_checkpoint_directory(
    const std::filesystem::path& directory);

}  // namespace hpsearch::workers
