#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/store/files/store_lock.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/stored_record.hpp"

namespace hpsearch::daemon {

/// A store that no daemon has open, or a copy of one: read without changing a byte.
///
/// Owns:    the store's lock; no daemon can start on it meanwhile.
/// Threads: one at a time.
class ClosedStore {
 public:
  /// not_found: there is none; wrong_state: a daemon has it; corrupt: not a store, or its header is damaged;
  /// version_mismatch: another format than this build's.
  [[nodiscard]] static engine::Result<std::unique_ptr<ClosedStore>> open(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
  [[nodiscard]] std::uint64_t cluster() const noexcept { return cluster_; }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept { return daemon_epoch_; }
  /// The last event according to the store, or to the seal beside it; the log may differ.
  [[nodiscard]] engine::Lsn last_lsn() const noexcept { return last_lsn_; }

  /// Passes every record and its event, checked against the chain, to `visit`, until the log ends, is
  /// damaged, or `visit` fails. corrupt, version_mismatch: names the event that is not as it was written, or
  /// the place in the write-ahead log after which more was stored.
  using Visit = std::function<engine::Status(const RecordView& record, const engine::Event& event)>;
  engine::Status read(const Visit& visit);

  /// Damage that SQLite finds in its pages; "" if there is none. O(file).
  [[nodiscard]] engine::Result<std::string> damaged_pages();

  /// Checks that the tables beside the log have the rows of an event. corrupt: names the event.
  engine::Status check_tables(const engine::Event& event);
  /// Checks that they have no other rows, after every event was checked.
  engine::Status check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events);

  /// Copies the store as it is now into a new file, whole and durable on return. wrong_state: something is at
  /// that path; unavailable: it cannot be written; corrupt: the write-ahead log is damaged.
  engine::Status copy_to(const std::string& path);

 private:
  ClosedStore() = default;

  StoreLock lock_;  // Declared before the file, which must be closed first: see StoreLock.
  SqliteFile file_;
  Statement find_metric_;
  Statement find_in_history_;
  std::uint64_t cluster_ = 0;
  std::uint64_t daemon_epoch_ = 0;
  engine::Lsn last_lsn_;
  engine::Status write_ahead_log_ = engine::Done{};
};

}  // namespace hpsearch::daemon
