#pragma once

#include "daemon/store/event_group.hpp"
#include "daemon/store/sqlite_file.hpp"
#include "daemon/store/stored_record.hpp"

namespace hpsearch::daemon {

/// Writes events into the tables of a store: into the log itself, and into the indexes by trial.
///
/// The caller begins and ends the transactions; what was added in one counts only after finish().
/// Fails:   as SqliteFile::problem(); then roll the transaction back.
class LogWriter {
 public:
  /// The file must outlive this. `daemon_epoch`: the start on whose behalf it writes.
  engine::Status open(SqliteFile& file, std::uint64_t daemon_epoch);

  /// The record must follow the last one, and contain the event.
  engine::Status add(const RecordView& record, const engine::Event& event);
  /// Writes the row that is not full yet, and the end of the log. wrong_state: another start has begun to use
  /// this store meanwhile, and owns the log.
  engine::Status finish();
  /// Drops what was added since finish(): its transaction was rolled back.
  void forget() noexcept { row_.clear(); }

 private:
  engine::Status add_row();
  engine::Status check_epoch();
  engine::Status add_metrics(const engine::Event& event);
  engine::Status remove_metrics(const engine::CurveThinned& event);
  engine::Status remove_rows(const engine::RowsRemoved& event);
  [[nodiscard]] engine::Status done(Use& use, const char* doing) const;

  SqliteFile* file_ = nullptr;
  Statement add_group_;
  Statement add_metric_;
  Statement remove_metrics_;
  Statement remove_trials_metrics_;
  Statement remove_trials_histories_;
  Statement add_to_history_;
  Statement read_epoch_;
  Statement set_head_;
  GroupWriter row_;
  engine::Lsn last_;
  std::uint64_t daemon_epoch_ = 0;
};

}  // namespace hpsearch::daemon
