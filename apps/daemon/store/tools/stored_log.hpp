#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/store/event_group.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// A store as tools read it, without changing anything: its log, and the tables beside the log.
///
/// Threads: one at a time.
class StoredLog {
 public:
  StoredLog(const StoredLog&) = delete;
  StoredLog& operator=(const StoredLog&) = delete;
  virtual ~StoredLog() = default;

  /// The path or the address of the log, which messages name.
  [[nodiscard]] virtual const std::string& path() const noexcept = 0;
  [[nodiscard]] std::uint64_t cluster() const noexcept { return cluster_; }
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept { return daemon_epoch_; }
  /// The last event that was stored; the log may end before it if it is damaged.
  [[nodiscard]] engine::Lsn last_lsn() const noexcept { return last_lsn_; }

  /// Passes every record and its event, checked against the chain, to `visit`, until the log ends, is
  /// damaged, or `visit` fails. corrupt, version_mismatch: names the event that is not as it was written.
  using Visit = std::function<engine::Status(const RecordView& record, const engine::Event& event)>;
  virtual engine::Status read(const Visit& visit) = 0;

  /// Damage of the database below the log; "" if there is none. O(store).
  [[nodiscard]] virtual engine::Result<std::string> damaged_pages() = 0;

  /// Checks that the tables beside the log have the rows of an event. The error names the event: not_found,
  /// its row is missing, which is right if it was removed later (CurveThinned, RowsRemoved); corrupt, any
  /// other.
  virtual engine::Status check_tables(const engine::Event& event) = 0;
  /// Checks that they have no other rows, after every event was checked.
  virtual engine::Status check_table_sizes(std::uint64_t metrics, std::uint64_t trial_events) = 0;

  /// Copies the store as it is now into a new SQLite file, whole and durable on return. wrong_state:
  /// something is at that path; unavailable: it cannot be written; corrupt: the log is damaged.
  virtual engine::Status copy_to(const std::string& path) = 0;

 protected:
  StoredLog() = default;

  std::uint64_t cluster_ = 0;
  std::uint64_t daemon_epoch_ = 0;
  engine::Lsn last_lsn_;
};

/// Reads a log group by group, in order.
class LogWalk {
 public:
  explicit LogWalk(std::uint64_t cluster) : chain_(chain_start(cluster)) {}

  /// Checks the events of the next group, and passes each to `visit`. As StoredLog::read().
  engine::Status take(const EventGroup& group, const StoredLog::Visit& visit);
  /// Checks that the log ends with the event `stored`. corrupt.
  [[nodiscard]] engine::Status check_end(engine::Lsn stored) const;

  [[nodiscard]] engine::Lsn last() const noexcept { return last_; }

 private:
  proto::EventDecoder decoder_;
  engine::Event event_;
  engine::Lsn last_;
  std::uint32_t chain_;
};

/// The error of a report that the table metric has otherwise. corrupt.
[[nodiscard]] engine::Error other_metrics(engine::Lsn report);
/// The error of a report that the table metric doesn't have. not_found.
[[nodiscard]] engine::Error missing_metrics(engine::Lsn report);
/// The error of an event that the table trial_event lacks. not_found.
[[nodiscard]] engine::Error not_in_history(engine::Lsn event);
/// Checks the sizes of both tables against those that the log's events make. corrupt.
[[nodiscard]] engine::Status same_sizes(std::uint64_t metric_rows, std::uint64_t history_rows,
                                        std::uint64_t metrics, std::uint64_t trial_events);

}  // namespace hpsearch::daemon
