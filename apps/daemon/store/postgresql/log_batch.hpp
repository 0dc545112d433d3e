#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/store/event_group.hpp"
#include "daemon/store/postgresql/connection.hpp"

namespace hpsearch::daemon {

/// Events as the rows of one commit: those of the log, and those of the tables by trial.
class LogBatch {
 public:
  /// The record must follow the last one, and contain the event.
  void add(const RecordView& record, const engine::Event& event);

  /// Adds all rows, and moves the end of the log, in one statement, which is a transaction of its own outside
  /// of others. True if it did: false if the store belongs to another epoch than `epoch`, or its last event
  /// isn't `after`; then nothing was changed.
  [[nodiscard]] engine::Result<bool> store(Connection& connection, std::uint64_t epoch, engine::Lsn after);

  [[nodiscard]] engine::Lsn last() const noexcept { return last_; }
  [[nodiscard]] std::uint32_t chain() const noexcept { return chain_; }
  [[nodiscard]] std::size_t events() const noexcept { return events_; }

 private:
  void end_group();
  void remove_metrics(const engine::CurveThinned& event);
  void remove_rows(const engine::RowsRemoved& event);
  void erase_metrics(std::size_t index);

  GroupWriter group_;
  engine::Lsn last_;
  std::uint32_t chain_ = 0;
  std::size_t events_ = 0;
  struct {
    std::vector<std::uint64_t> first, last, epoch, chain;
    std::vector<std::string> events;
  } groups_;
  struct {
    std::vector<std::uint64_t> experiment, trial, lsn;
  } history_;
  struct {
    std::vector<std::uint64_t> experiment, trial, attempt, seq, step, at;
    std::vector<std::string> metrics;
  } metrics_;
  struct {
    std::vector<std::uint64_t> experiment, trial, attempt, first, last;
  } removed_;
  struct {
    std::vector<std::uint64_t> experiment, first, last;
  } removed_trials_;
};

}  // namespace hpsearch::daemon
