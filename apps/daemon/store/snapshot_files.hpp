#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/store/file_system.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// The engine's state after one event of the log, from which a start goes on instead of replaying up to
/// there.
struct Snapshot {
  std::uint64_t cluster = 0;  ///< The store it is of.
  engine::Lsn lsn;            ///< The last event it knows.
  std::uint32_t chain = 0;    ///< Of that event's record: the same lsn of another history has another one.
  engine::Value state;        ///< What Engine::save() said.
};

/// The hash of a saved state. Equal states have equal hashes, whichever way they were reached: by decisions,
/// by replay, or from a snapshot. FNV-1a, 64 bits, over the state's msgpack: finds accidents, not forgeries.
[[nodiscard]] std::uint64_t state_hash(const engine::Value& state);

/// Snapshots as files of one directory, one each, named by lsn. They only save time: the log alone is enough,
/// so a snapshot that is damaged is named and passed over, and none is ever trusted against the log.
///
/// A file is a header of seven numbers (magic with version, cluster, lsn, chain, state hash, length of the
/// body, CRC-32C of header and body; eight bytes each, the lowest first) and the state in msgpack.
///
/// Threads: one at a time.
class SnapshotFiles {
 public:
  /// So many are kept: when the newest cannot be read, the one before it still can.
  static constexpr std::size_t kept = 2;

  /// The file system must outlive this.
  explicit SnapshotFiles(std::string directory, FileSystem& files = kernel_files())
      : directory_(std::move(directory)), files_(&files) {}

  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

  /// Durable on return; gone then are those of later events, which belong to a history the log does not have,
  /// and all but one of earlier ones. unavailable: the disk refuses, and what was there before is there
  /// still.
  engine::Status keep(const Snapshot& snapshot) const;

  /// Of the files that are there, newest first; nothing when the directory is absent.
  [[nodiscard]] std::vector<engine::Lsn> list() const;

  [[nodiscard]] std::string path_of(engine::Lsn lsn) const;

  /// What a file says of itself, with its hash. corrupt: it is damaged; version_mismatch: of a newer build;
  /// not_found, unavailable: as it says.
  struct Read {
    Snapshot snapshot;
    std::uint64_t hash = 0;
  };
  [[nodiscard]] engine::Result<Read> read(engine::Lsn lsn) const;

 private:
  std::string directory_;
  FileSystem* files_;
};

}  // namespace hpsearch::daemon
