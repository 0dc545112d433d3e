#pragma once

#include <string>

#include "daemon/store/event_group.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/stored_record.hpp"

namespace hpsearch::daemon {

/// Writes events into the tables of a store: into the log itself, and what is found again by trial.
///
/// The caller begins and ends the transactions; within one, what was added counts after finish() only.
/// Fails:   as SqliteFile::problem() says; the transaction is to be given up then.
class LogWriter {
 public:
  /// The file must outlive this. `daemon_epoch`: of the start on whose behalf it writes.
  engine::Status open(SqliteFile& file, std::uint64_t daemon_epoch);

  /// The record follows the last one, and holds the event.
  engine::Status add(const RecordView& record, const engine::Event& event);
  /// Writes the row that is not full yet, and what the log ends with. wrong_state: another start has begun on
  /// this store meanwhile, and the log is that one's.
  engine::Status finish();
  /// Forgets what was added since finish(): its transaction was given up.
  void forget() noexcept { row_.clear(); }

 private:
  engine::Status add_row();
  engine::Status check_epoch();
  engine::Status add_metrics(const engine::Event& event);
  [[nodiscard]] engine::Status done(Use& use, const char* doing) const;

  SqliteFile* file_ = nullptr;
  Statement add_group_;
  Statement add_metric_;
  Statement add_to_history_;
  Statement read_epoch_;
  Statement set_head_;
  GroupWriter row_;
  engine::Lsn last_;
  std::uint64_t daemon_epoch_ = 0;
};

/// A report's metrics as the store keeps them beside the log: JSON that reads back as the same doubles.
[[nodiscard]] std::string metrics_text(const engine::Metrics& metrics);

}  // namespace hpsearch::daemon
