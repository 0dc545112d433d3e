#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/backup/backup_place.hpp"
#include "daemon/core/backups.hpp"
#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop.hpp"

namespace hpsearch::daemon {

struct BackupPlan {
  std::string to;            ///< A directory that exists, or an address in an object store; "" = no backups.
  engine::Duration every{};  ///< From the begin of one backup to that of the next.
  std::uint64_t keep = 1;    ///< Number of this store's backups that stay there.
  std::string key_file;      ///< Seals the keys; "" = backups don't have them.
  std::string endpoint_url{};  ///< Where the object store is reached; "" = at its provider.
};

/// Makes backups of a running daemon's store, as `hpsearch store backup` does: TO/hpsearch-STORE-TIME. For an
/// object store, a backup is made below the state directory and uploaded.
///
/// Older backups are removed only after a newer one was read again and found whole, and only those with a
/// name of this store and a record. After a restart, the next backup is due when it was due before. A backup
/// that fails is tried again after an hour, or after `every` if that is shorter.
///
/// Threads: the loop's. Files are written beside it.
class ScheduledBackups {
 public:
  /// Runtime, loop and backups must outlive this.
  ScheduledBackups(Runtime& runtime, net::Loop& loop, Backups& backups, std::string state_directory,
                   BackupPlan plan);
  ScheduledBackups(const ScheduledBackups&) = delete;
  ScheduledBackups& operator=(const ScheduledBackups&) = delete;
  ~ScheduledBackups() { stop(); }

  /// A backup that is being made is finished as it was planned.
  void follow(BackupPlan plan);
  /// Begins no backup any more; one that is being made ends soon, without a result.
  void stop() noexcept;

  /// How many failed since the daemon started.
  [[nodiscard]] std::uint64_t failures() const noexcept { return failures_; }

 private:
  struct Job;

  [[nodiscard]] BackupPlace::Settings place() const;
  void find_last();
  void found_last(const engine::Result<std::optional<BackupRecord>>& record);
  void begin_if_due();
  void write(const std::string& copy);
  void end(const std::optional<std::string>& copy, const engine::Result<std::string>& outcome);

  Runtime& runtime_;
  Backups& backups_;
  std::string state_directory_;
  BackupPlan plan_;
  bool busy_ = false;
  engine::Instant begun_;                 ///< When the present or last backup was begun.
  std::optional<engine::Instant> due_{};  ///< Null: the last backup is not known yet, or none are made.
  std::uint64_t failures_ = 0;
  std::shared_ptr<std::atomic<bool>> stopped_ = std::make_shared<std::atomic<bool>>(false);
  net::Watch clock_;
  net::Background disk_;
};

}  // namespace hpsearch::daemon
