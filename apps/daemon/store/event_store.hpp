#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// One metrics report, as curves need it.
struct MetricPoint {
  engine::AttemptNumber attempt;
  std::uint64_t seq = 0;
  engine::Units step{};
  engine::Metrics metrics;
  engine::Instant at{};  ///< The time of the report.
};

/// One value of one metric.
struct CurvePoint {
  engine::TrialNumber trial;
  engine::AttemptNumber attempt;
  engine::Units step{};
  engine::Instant at;
  double value = 0;  ///< May be NaN or infinite.
};

/// A position after one of a trial's metrics reports; {} = before the first.
struct MetricPosition {
  engine::AttemptNumber attempt;
  std::uint64_t seq = 0;
};

/// A position after one of an experiment's metrics reports; {} = before the first.
struct CurvePosition {
  engine::TrialNumber trial;
  MetricPosition report;
};

/// Values of one metric, and the position of the next ones.
struct CurvePage {
  std::vector<CurvePoint> points;
  std::optional<CurvePosition> next;  ///< Null: there are no more.
};

/// Where events are stored durably: an append-only log, chained record to record, and a copy of the metrics
/// in it, in an order in which curves can be read.
///
/// Owns:    its files, or its connections to a database.
/// Threads: one at a time, except for check_ours(); recovery may use one more of its own.
/// Fails:   a failed append leaves the log as it was before the group. If only room was missing, or a
/// database
///          was away, the same group may be given again; after any other failure the store accepts nothing
///          more.
class EventStore {
 public:
  EventStore() = default;
  EventStore(const EventStore&) = delete;
  EventStore& operator=(const EventStore&) = delete;
  virtual ~EventStore() = default;

  /// Random, chosen once when the store was made. Never 0.
  [[nodiscard]] virtual std::uint64_t cluster() const noexcept = 0;
  /// Counts how often this store was opened; already durable.
  [[nodiscard]] virtual std::uint64_t daemon_epoch() const noexcept = 0;

  /// Reads the log from its beginning, checks the chain, and passes each event to `visit`, on the caller's
  /// thread and in order; an error of `visit` ends it. Must be called once, before any function below.
  /// corrupt: a record fails its checks; the message names its lsn; nothing is skipped or repaired.
  /// version_mismatch: written by a newer build than this one.
  using Visit = std::function<engine::Status(engine::Event&&)>;
  virtual engine::Status recover(const Visit& visit) = 0;

  /// Adds events that follow the last one without a gap; all durable on return, or none of them. unavailable:
  /// no room is left for them, or their database is away. corrupt: the disk failed, and it is unknown which
  /// of them it has. wrong_state: another daemon has taken the store over.
  virtual engine::Status append(std::span<const engine::Event> group) = 0;

  /// Lsn of the last durable event; 0 if there is none.
  [[nodiscard]] virtual engine::Lsn last_lsn() const noexcept = 0;
  /// The last event of the log, also before recovery; 0 if it cannot be read.
  [[nodiscard]] virtual engine::Lsn stored_lsn() const { return last_lsn(); }

  /// Checks that a start would find what this writes, and that no other daemon has taken it over. A daemon
  /// without requests commits nothing, and would not notice otherwise. On any thread. corrupt: names what is
  /// wrong; wrong_state: another daemon has the store.
  [[nodiscard]] virtual engine::Status check_ours() const { return engine::Done{}; }

  /// Events after `after`, at most `limit` of them.
  [[nodiscard]] virtual engine::Result<std::vector<engine::Event>> read(engine::Lsn after,
                                                                        std::size_t limit) = 0;

  /// The events of one trial, in order, without the reports of its programs: created, leased, reached,
  /// promoted, paused, ended, lost. O(events of the trial · log events).
  [[nodiscard]] virtual engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                           engine::TrialNumber trial) = 0;

  /// Metrics reports of one trial after `after`, in order of (attempt, seq), until they have `enough_numbers`
  /// together. O(log metrics + their number).
  [[nodiscard]] virtual engine::Result<std::vector<MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                         engine::TrialNumber trial,
                                                                         MetricPosition after,
                                                                         std::size_t enough_numbers) = 0;

  /// Values of the metric of that name in the reports after `after` of trials up to `last`, in order of
  /// (trial, attempt, seq); reads at most `most_reports` reports. O(log metrics + their number).
  [[nodiscard]] virtual engine::Result<CurvePage> curves(engine::ExperimentId experiment,
                                                         const std::string& metric, CurvePosition after,
                                                         engine::TrialNumber last,
                                                         std::size_t most_reports) = 0;
};

}  // namespace hpsearch::daemon
