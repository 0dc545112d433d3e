#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/metrics/bounds.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// Counts the events since the store was created. A restart replays them, so the counts continue and agree
/// with the log.
///
/// Cost: O(log trials that wait, start or run) per event; memory for those, and 16 bytes for each trial.
class EventCounts {
 public:
  EventCounts() = default;
  EventCounts(const EventCounts&) = delete;
  EventCounts& operator=(const EventCounts&) = delete;

  /// Decisions of searchers of one kind.
  struct Decisions {
    std::uint64_t promoted = 0;
    std::uint64_t paused = 0;
    std::uint64_t stopped = 0;
  };

  /// Counts of the trials that run on the workers of one pool.
  struct OfPool {
    Histogram<wait_bounds.size()> schedule_wait{wait_bounds};  ///< From ready to leased, seconds.
    double slot_seconds_saved = 0;
  };

  void note(const engine::Event& event);
  /// The pool where trials of the experiment run, also if it was deleted; "default" if it is not known.
  [[nodiscard]] std::string_view pool_of(engine::ExperimentId experiment) const;

  std::uint64_t trials_created = 0;
  std::map<engine::TrialState, std::uint64_t> trials_ended{};
  std::uint64_t attempts_started = 0;
  std::map<std::string_view, std::uint64_t> attempts_ended{};  ///< By cause.
  std::map<std::string, Decisions> decisions{};                ///< By searcher.
  std::uint64_t reports = 0;
  std::uint64_t nonfinite_reports = 0;  ///< Reports with a metric that is NaN or infinite.
  std::uint64_t checkpoint_bytes = 0;   ///< Sizes as programs saved them.
  std::uint64_t checkpoints_deleted = 0;
  std::uint64_t experiments_removed = 0;   ///< By the retention.
  std::uint64_t logs_removed = 0;          ///< Trials whose kept logs had to make room.
  std::uint64_t curves_thinned = 0;        ///< Trials whose curve lost reports.
  std::uint64_t self_pauses = 0;           ///< Experiments that paused themselves.
  std::uint64_t failure_quarantines = 0;   ///< Workers where trials failed; a longer time counts again.
  std::uint64_t operator_quarantines = 0;  ///< Workers, by operators.
  std::uint64_t slots_quarantined = 0;     ///< Slots where processes survived SIGKILL.
  std::uint64_t slots_withdrawn = 0;       ///< Slots with a broken device.
  std::map<std::string, OfPool, std::less<>> pools{};         ///< By name.
  Histogram<wait_bounds.size()> lease_to_start{wait_bounds};  ///< From leased to started, seconds.

 private:
  using Trial = std::pair<engine::ExperimentId, engine::TrialNumber>;
  /// How fast a trial trained.
  struct Training {
    double slot_seconds = 0;    ///< From the starts of its programs to their last reports.
    std::uint64_t reached = 0;  ///< The highest step of those reports, in units.
  };
  struct Experiment {
    Decisions* decisions = nullptr;                ///< Points into `decisions`, whose elements don't move.
    std::pair<const std::string, OfPool>* pool{};  ///< Points into `pools`, likewise.
    std::uint64_t max_length = 0;                  ///< Units.
    std::vector<Training> trials{};                ///< By number.
  };
  struct Lease {
    engine::Instant at;
    std::size_t slots = 0;
  };

  template <class Event>
  void count(const Event& event, engine::Instant at);
  void take(const engine::ReportTaken& event, engine::Instant at);
  void create(const engine::ExperimentCreated& event);
  void measure(const Trial& trial, engine::Units step, engine::Instant at);
  /// Adds what a trial did not train of its maximum length.
  void save(const Trial& trial);
  void begin_wait(engine::ExperimentId experiment, engine::TrialNumber trial, engine::Instant at);
  void forget(const Trial& trial);
  Decisions& of_searcher(engine::ExperimentId experiment);

  std::map<engine::ExperimentId, Experiment> experiments_;
  std::map<Trial, engine::Instant> ready_;  ///< Trials that wait for a slot.
  std::map<Trial, Lease> leased_;           ///< Trials whose program has not started yet.
  std::map<Trial, Lease> running_;          ///< Trials whose program runs: time since their last report.
};

/// All causes that attempts_ended may have.
[[nodiscard]] std::span<const std::string_view> attempt_end_causes() noexcept;

}  // namespace hpsearch::daemon
