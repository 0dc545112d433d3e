#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

namespace hpsearch::daemon {

/// The list of files of an open checkpoint. wrong_state: there is none, it is damaged, it names a path that
/// leaves the directory, or it belongs to another trial. Cost: O(length of the list).
[[nodiscard]] engine::Result<proto::CheckpointManifest> read_manifest_of(const files::Directory& checkpoint,
                                                                         engine::ExperimentId experiment,
                                                                         engine::TrialNumber trial);

/// A checkpoint as a tar archive that can be read from any offset.
///
/// It contains the files that the manifest lists, in its order, and then the manifest, all below one
/// directory. Only regular files are opened, and no link is followed. A link is in the archive if its target
/// lies in the checkpoint; other links are left out, so that unpacking the archive writes and reads nothing
/// elsewhere. The same checkpoint always gives the same bytes.
///
/// Threads: any, one at a time.
class CheckpointArchive {
 public:
  /// `top` is the name of the directory in the archive. wrong_state: a file is missing, or is longer or
  /// shorter than the manifest says. Cost: a few system calls for each file.
  [[nodiscard]] static engine::Result<CheckpointArchive> of(files::Directory checkpoint,
                                                            const proto::CheckpointManifest& manifest,
                                                            std::string top);

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// At most `limit` bytes from `offset` on, at least one before the end. unavailable: a file can no longer
  /// be read, or became shorter. Cost: O(limit + log files).
  [[nodiscard]] engine::Result<std::string> read(std::uint64_t offset, std::size_t limit) const;

 private:
  /// A header, the content of its file, and zeros up to a multiple of 512.
  struct Part {
    std::uint64_t begin = 0;  ///< Offset in the archive.
    std::string head;
    std::string path{};  ///< "" = the part has no content.
    std::uint64_t size = 0;
    [[nodiscard]] std::uint64_t end() const noexcept;
  };
  CheckpointArchive(files::Directory checkpoint, std::string top)
      : checkpoint_(std::move(checkpoint)), top_(std::move(top)) {}
  engine::Status add_file(const std::string& path, std::uint64_t size);
  void add(Part part);

  files::Directory checkpoint_;
  std::string top_;
  std::int64_t written_at_ = 0;  ///< The time of all entries, in seconds since the epoch.
  std::vector<Part> parts_;      ///< Sorted by `begin`, without gaps. The last one is the end mark.
  std::uint64_t bytes_ = 0;
};

}  // namespace hpsearch::daemon
