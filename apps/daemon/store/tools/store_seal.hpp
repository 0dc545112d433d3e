#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/store/files/file_system.hpp"
#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::daemon {

/// The progress of a store.
struct StoreHead {
  std::uint64_t cluster = 0;  ///< Identity of the store; 0: no store yet.
  std::uint64_t epoch = 0;    ///< Its last start.
  engine::Lsn last;           ///< Its last durable event.
  bool closed = false;        ///< Its write-ahead log is empty: its daemon has ended cleanly.
  friend bool operator==(const StoreHead&, const StoreHead&) = default;
};

/// The record of a store's progress, in a separate file. It distinguishes a whole store from one whose
/// write-ahead log was removed, or that was replaced by an older copy: each of these looks sound by itself.
///
/// A record is written when the progress in it is durable, and is not synced: it outlives the process, but
/// not a power failure. After that it may be behind the store, but never ahead.
///
/// Layout: records of 40 bytes, little-endian: "hpseal01", cluster, epoch, lsn, 1 for closed (4 bytes),
/// CRC-32C of these 36 bytes. The highest whole one counts. The file is begun anew when it has 2,000. Owns:
/// the open file. Threads: one at a time.
class StoreSeal {
 public:
  /// The directory of the seal, which no pattern for the database's files matches.
  [[nodiscard]] static std::string directory_of(const std::string& database);
  [[nodiscard]] static std::string path_of(const std::string& database);

  /// Null if there is none. corrupt: no record in it is whole; unavailable: it cannot be read.
  [[nodiscard]] static engine::Result<std::optional<StoreHead>> read(FileSystem& files,
                                                                     const std::string& database);

  /// Replaces the seal, durable on return. `files` must outlive it. unavailable: it cannot be written.
  [[nodiscard]] static engine::Result<StoreSeal> begin(FileSystem& files, const std::string& database,
                                                       const StoreHead& head);

  /// Records what is durable now. If it cannot be written, the next call tries again with a new file: until
  /// then the seal is behind, which loses nothing by itself.
  void note(const StoreHead& head);
  /// Like note(), durable on return, or unavailable.
  engine::Status note_durably(const StoreHead& head);

 private:
  StoreSeal(FileSystem& files, std::string path) : files_(&files), path_(std::move(path)) {}
  engine::Status begin_anew(const StoreHead& head);
  engine::Status sync_name();

  FileSystem* files_;
  std::string path_;
  std::unique_ptr<FileWriter> file_;
  std::size_t records_ = 0;
  bool renamed_ = false;  ///< Renamed since its directory was synced.
};

}  // namespace hpsearch::daemon
