#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/backup/backup_address.hpp"
#include "daemon/backup/backup_set.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// "hpsearch-0123456789abcdef-": so backups of several stores can be in one place.
[[nodiscard]] std::string backup_prefix(std::uint64_t store);
/// "PREFIX20310504T113000Z": names in their order are in the order of time.
[[nodiscard]] std::string backup_name(const std::string& prefix, engine::Instant at);
[[nodiscard]] bool is_backup_name(const std::string& prefix, std::string_view name);

/// Where the scheduled backups of one store are kept: a directory, or an object store (rclone). A backup
/// counts only if it has its record, which is written last and removed first.
///
/// Only what has a name of this store is touched.
/// Threads: all functions block; don't call them on the loop's.
class BackupPlace {
 public:
  struct Settings {
    std::string to;            ///< A directory that exists, or an address in an object store.
    std::string endpoint_url;  ///< As BackupAddress::read() takes it.
    std::string prefix;        ///< The beginning of the names, of backup_prefix().
    std::string staging;       ///< A private directory, for backups on their way to an object store.
    std::shared_ptr<const std::atomic<bool>> stopped;  ///< Gives up what waits for an object store.
  };
  /// bad_request: as BackupAddress::read().
  [[nodiscard]] static engine::Result<std::unique_ptr<BackupPlace>> of(Settings settings);

  BackupPlace() = default;
  BackupPlace(const BackupPlace&) = delete;
  BackupPlace& operator=(const BackupPlace&) = delete;
  virtual ~BackupPlace() = default;

  /// The record of the newest backup; null if there is none. unavailable, corrupt: it can't be read.
  [[nodiscard]] virtual engine::Result<std::optional<BackupRecord>> newest() = 0;
  /// Removes what interrupted backups and removals have left. unavailable: no backup can be made there now.
  [[nodiscard]] virtual engine::Status prepare() = 0;
  /// The path for NewBackup, on this machine.
  [[nodiscard]] virtual std::string path_of(const std::string& name) const = 0;
  /// Takes the whole backup at that path; returns where it is. unavailable: it doesn't count.
  [[nodiscard]] virtual engine::Result<std::string> take(const std::string& name) = 0;
  /// Removes all but the newest; logs what can't be removed.
  virtual void keep_newest(std::uint64_t count) = 0;
};

/// The record of the backup at an address. not_found: there is no whole backup; the message names the newest
/// one below the address, if there is one. unavailable, corrupt: it can't be read.
[[nodiscard]] engine::Result<BackupRecord> read_stored_record(const BackupAddress& address);
/// Downloads that backup into an empty directory. It isn't checked. unavailable: a file can't be fetched.
[[nodiscard]] engine::Status fetch_backup(const BackupAddress& address, const std::string& directory);

}  // namespace hpsearch::daemon
