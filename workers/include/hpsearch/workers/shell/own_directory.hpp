#pragma once

#include <cstdint>
#include <filesystem>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/spell.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// A directory that the worker made for a training, as it was then. A training can put another directory or a
/// symbolic link in its place; what is there then belongs to the training.
struct OwnDirectory {
  std::filesystem::path path;
  std::uint64_t device = 0;  ///< Of the file system it is on.
  std::uint64_t inode = 0;
};

/// Without the path: whoever reads it looks at a place he knows.
void spell(auto& fields, proto::Is<OwnDirectory> auto& made) {
  fields("device", made.device);
  fields("inode", made.inode);
}

/// The directory that is at `path` now. not_found, unavailable: none, or a link.
[[nodiscard]] engine::Result<OwnDirectory> own_directory_at(const std::filesystem::path& path);

/// An own directory that is open. Whatever happens to its name afterwards, path() leads to this directory.
class OpenedDirectory {
 public:
  OpenedDirectory(Descriptor descriptor, std::filesystem::path name);

  /// By its descriptor, below /proc.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The same error, with the directory's name where it has path().
  [[nodiscard]] engine::Error with_name(engine::Error error) const;

 private:
  Descriptor descriptor_;
  std::filesystem::path name_;
  std::filesystem::path path_;
};

/// Opens a directory that the worker made. wrong_state: another directory is in its place, a link is, or
/// nothing; nothing was touched.
[[nodiscard]] engine::Result<OpenedDirectory> open_own_directory(const OwnDirectory& made);

/// Removes everything in HPSEARCH_CHECKPOINT_DIR, for a training's own processes: they do not know its inode.
/// wrong_state, and nothing is removed: it is a symbolic link, or it is in a directory that was replaced by
/// one.
[[nodiscard]] engine::Status empty_checkpoint_directory(const std::filesystem::path& directory);

}  // namespace hpsearch::workers
