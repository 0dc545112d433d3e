#include "daemon/store/log_writer.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "daemon/store/metrics_text.hpp"
#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {

using engine::Done;
using engine::Status;

Status LogWriter::open(SqliteFile& file, std::uint64_t daemon_epoch) {
  file_ = &file;
  daemon_epoch_ = daemon_epoch;
  const std::pair<Statement*, const char*> wanted[] = {
      {&add_group_, "INSERT INTO event_group (first, count, epoch, events) VALUES (?, ?, ?, ?)"},
      {&add_metric_,
       "INSERT INTO metric (experiment, trial, attempt, seq, step, at, metrics) VALUES (?, ?, ?, ?, ?, ?, "
       "?)"},
      {&remove_metrics_,
       "DELETE FROM metric WHERE experiment = ? AND trial = ? AND attempt = ? AND seq BETWEEN ? AND ?"},
      {&remove_trials_metrics_, "DELETE FROM metric WHERE experiment = ? AND trial BETWEEN ? AND ?"},
      {&remove_trials_histories_, "DELETE FROM trial_event WHERE experiment = ? AND trial BETWEEN ? AND ?"},
      {&add_to_history_, "INSERT INTO trial_event (experiment, trial, lsn) VALUES (?, ?, ?)"},
      {&read_epoch_, "SELECT value FROM meta WHERE name = 'daemon_epoch'"},
      {&set_head_, "UPDATE meta SET value = ? WHERE name = 'last_lsn'"},
  };
  for (const auto& [place, sql] : wanted) {
    auto statement = file.prepare(sql);
    if (!statement) {
      return statement.error();
    }
    *place = std::move(statement).value();
  }
  return Done{};
}

Status LogWriter::add(const RecordView& record, const engine::Event& event) {
  if (!row_.add(record)) {
    if (auto added = add_row(); !added) {
      return added;
    }
    HPSEARCH_CHECK(row_.add(record), "an empty group takes any event");
  }
  last_ = record.lsn;
  if (const std::optional<TrialPlace> place = history_of(event)) {
    Use mark(add_to_history_);
    mark.bind(1, place->experiment.number());
    mark.bind(2, place->trial.number());
    mark.bind(3, event.lsn.number());
    if (auto marked = done(mark, "cannot store events in"); !marked) {
      return marked;
    }
  }
  if (const auto* thinned = std::get_if<engine::CurveThinned>(&event.body)) {
    return remove_metrics(*thinned);
  }
  const auto* removed = std::get_if<engine::RowsRemoved>(&event.body);
  return removed == nullptr ? add_metrics(event) : remove_rows(*removed);
}

Status LogWriter::add_metrics(const engine::Event& event) {
  const engine::MetricsReport* report = metrics_in(event);
  if (report == nullptr) {
    return Done{};
  }
  const auto& taken = *std::get_if<engine::ReportTaken>(&event.body);
  const std::string json = metrics_text(report->metrics);
  Use point(add_metric_);
  point.bind(1, taken.key.experiment.number());
  point.bind(2, taken.key.trial.number());
  point.bind(3, taken.key.attempt.number());
  point.bind(4, taken.seq);
  point.bind(5, engine::count(report->step));
  point.bind(6, static_cast<std::uint64_t>(event.at.micros()));
  point.bind_text(7, json);
  return done(point, "cannot store metrics in");
}

Status LogWriter::remove_metrics(const engine::CurveThinned& event) {
  for (const RemovedReports& row : removed_reports(event)) {
    Use reports(remove_metrics_);
    reports.bind(1, event.experiment.number());
    reports.bind(2, event.trial.number());
    reports.bind(3, row.attempt.number());
    reports.bind(4, row.first);
    reports.bind(5, row.last);
    if (auto removed = done(reports, "cannot remove metrics from"); !removed) {
      return removed;
    }
  }
  return Done{};
}

Status LogWriter::remove_rows(const engine::RowsRemoved& event) {
  for (const Statement* statement : {&remove_trials_metrics_, &remove_trials_histories_}) {
    Use trials(*statement);
    trials.bind(1, event.experiment.number());
    trials.bind(2, event.first.number());
    trials.bind(3, event.last.number());
    if (auto removed = done(trials, "cannot remove rows from"); !removed) {
      return removed;
    }
  }
  return Done{};
}

Status LogWriter::finish() {
  if (!row_.empty()) {
    if (auto added = add_row(); !added) {
      return added;
    }
  }
  if (auto ours = check_epoch(); !ours) {
    return ours;
  }
  Use head(set_head_);
  head.bind(1, last_.number());
  return done(head, "cannot store events in");
}

/// In the transaction that writes: no other process can begin to write this log between this check and the
/// commit.
Status LogWriter::check_epoch() {
  Use epoch(read_epoch_);
  const Use::Step step = epoch.step();
  if (step == Use::Step::failed) {
    return file_->problem("cannot store events in");
  }
  if (step == Use::Step::done || epoch.number_at(0) != daemon_epoch_) {
    return engine::Error{engine::Errc::wrong_state, "another daemon has started on " + file_->path() +
                                                        " since start " + std::to_string(daemon_epoch_) +
                                                        ", which this one is; it stores nothing more"};
  }
  return Done{};
}

Status LogWriter::add_row() {
  const EventGroup group = row_.group();
  Use row(add_group_);
  row.bind(1, group.first.number());
  row.bind(2, group.count);
  row.bind(3, group.epoch);
  row.bind_bytes(4, group.bytes);
  if (auto added = done(row, "cannot store events in"); !added) {
    return added;
  }
  row_.clear();
  return Done{};
}

Status LogWriter::done(Use& use, const char* doing) const {
  return use.step() == Use::Step::done ? Status(Done{}) : file_->problem(doing);
}

}  // namespace hpsearch::daemon
