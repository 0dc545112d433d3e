#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/store/files/store_lock.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/stored_record.hpp"

namespace hpsearch::daemon {

/// A store that no daemon has open, or a copy of one: read, and left as it is to the byte.
///
/// Owns:    the store's lock; no daemon starts on it meanwhile.
/// Threads: one at a time.
class ClosedStore {
 public:
  /// not_found: there is none; wrong_state: a daemon has it; corrupt: not a store, or damaged where it says
  /// what it is; version_mismatch: of another format than this build's.
  [[nodiscard]] static engine::Result<std::unique_ptr<ClosedStore>> open(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] std::uint64_t cluster() const noexcept { return cluster_; }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept { return daemon_epoch_; }
  /// What the store, or the seal beside it, says its last event is; the log may tell otherwise.
  [[nodiscard]] engine::Lsn last_lsn() const noexcept { return last_lsn_; }

  /// Hands out every record and the event in it, checked against the chain, until the log ends, is damaged,
  /// or `visit` says no. corrupt, version_mismatch: naming the event where it is not as it was written, or
  /// the place in the write-ahead log behind which more was stored.
  using Visit = std::function<engine::Status(const RecordView& record, const engine::Event& event)>;
  engine::Status read(const Visit& visit);

  /// What SQLite finds wrong with its pages; "" when nothing. O(file).
  [[nodiscard]] engine::Result<std::string> damaged_pages();

  /// Whether the tables beside the log hold what an event put there. corrupt: naming the event.
  engine::Status check_tables(const engine::Event& event);
  /// Whether they hold nothing else, after every event was checked.
  engine::Status check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events);

  /// Copies the store as it is now into a new file, whole and durable on return.
  /// wrong_state: something is at that path; unavailable: it cannot be written; corrupt: the write-ahead log
  /// is damaged.
  engine::Status copy_to(const std::string& path);

 private:
  ClosedStore() = default;

  StoreLock lock_;  // Before the file, which is closed first: see StoreLock.
  SqliteFile file_;
  Statement find_metric_;
  Statement find_in_history_;
  std::uint64_t cluster_ = 0;
  std::uint64_t daemon_epoch_ = 0;
  engine::Lsn last_lsn_;
  engine::Status write_ahead_log_ = engine::Done{};
};

}  // namespace hpsearch::daemon
