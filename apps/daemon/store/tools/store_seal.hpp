#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::daemon {

/// How far a store has come.
struct StoreHead {
  std::uint64_t cluster = 0;  ///< Of which store; 0: of none yet.
  std::uint64_t epoch = 0;    ///< Its last start.
  engine::Lsn last;           ///< Its last durable event.
  bool closed = false;        ///< Nothing of it is in a write-ahead log: its daemon has ended cleanly.
  friend bool operator==(const StoreHead&, const StoreHead&) = default;
};

/// The record of how far a store has come, in a file apart from it. It is what tells a store whose
/// write-ahead log was removed, or that was replaced by an older copy, from a whole one: both look sound by
/// themselves.
///
/// A record is written when what it says is durable, and not synced: it outlives the process, not a power
/// failure, after which it may say less than the store holds, never more.
///
/// Layout: records of 40 bytes, little-endian: "hpseal01", cluster, epoch, lsn, 1 for closed (4 bytes),
/// CRC-32C of these 36 bytes. The highest whole one counts. The file is begun anew when it has 2,000. Owns:
/// the open file. Threads: one at a time.
class StoreSeal {
 public:
  /// Where it lies: in a directory of its own, which no pattern for the database's files matches.
  [[nodiscard]] static std::string directory_of(const std::string& database);
  [[nodiscard]] static std::string path_of(const std::string& database);

  /// Nothing where there is none. corrupt: no record in it is whole; unavailable: it cannot be read.
  [[nodiscard]] static engine::Result<std::optional<StoreHead>> read(FileSystem& files,
                                                                     const std::string& database);

  /// Puts a new one in the place of what was there, durable on return. `files` must outlive it. unavailable:
  /// it cannot be written.
  [[nodiscard]] static engine::Result<StoreSeal> begin(FileSystem& files, const std::string& database,
                                                       const StoreHead& head);

  /// What is durable now. Where it cannot be written, the next call tries again with a new file: until then
  /// the seal says less than it could, which is no loss by itself.
  void note(const StoreHead& head);
  /// The same, durable on return, or unavailable.
  engine::Status note_durably(const StoreHead& head);

 private:
  StoreSeal(FileSystem& files, std::string path) : files_(&files), path_(std::move(path)) {}
  engine::Status begin_anew(const StoreHead& head);
  engine::Status sync_name();

  FileSystem* files_;
  std::string path_;
  std::unique_ptr<FileWriter> file_;
  std::size_t records_ = 0;
  bool renamed_ = false;  ///< Since its directory was synced.
};

}  // namespace hpsearch::daemon
