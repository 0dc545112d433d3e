#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/metrics/histogram.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// What has happened since the store was created, counted from its events. A restart replays them, so the
/// counts continue and agree with the log.
///
/// Cost: O(log trials that wait or start) per event; memory for each of those.
class EventCounts {
 public:
  EventCounts() = default;
  EventCounts(const EventCounts&) = delete;
  EventCounts& operator=(const EventCounts&) = delete;

  /// Decisions of one kind of searcher.
  struct Decisions {
    std::uint64_t promoted = 0;
    std::uint64_t paused = 0;
    std::uint64_t stopped = 0;
  };

  void note(const engine::Event& event);

  std::uint64_t trials_created = 0;
  std::map<engine::TrialState, std::uint64_t> trials_ended{};
  std::uint64_t attempts_started = 0;
  std::map<std::string_view, std::uint64_t> attempts_ended{};  ///< By cause.
  std::map<std::string, Decisions> decisions{};                ///< By searcher.
  std::uint64_t reports = 0;
  std::uint64_t nonfinite_reports = 0;  ///< With a metric that is NaN or infinite.
  std::uint64_t checkpoint_bytes = 0;   ///< As programs saved them.
  std::uint64_t checkpoints_deleted = 0;
  Histogram<wait_bounds.size()> schedule_wait{wait_bounds};   ///< From ready to leased, seconds.
  Histogram<wait_bounds.size()> lease_to_start{wait_bounds};  ///< From leased to started, seconds.

 private:
  using Trial = std::pair<engine::ExperimentId, engine::TrialNumber>;

  template <class Event>
  void count(const Event& event, engine::Instant at);
  void take(const engine::Report& report);
  void begin_wait(engine::ExperimentId experiment, engine::TrialNumber trial, engine::Instant at);
  void forget(const Trial& trial);
  Decisions& of_searcher(engine::ExperimentId experiment);

  std::map<engine::ExperimentId, Decisions*> searchers_;  ///< Into `decisions`, whose places stay.
  std::map<Trial, engine::Instant> ready_;                ///< Trials that wait for a slot.
  std::map<Trial, engine::Instant> leased_;               ///< Those whose program has not started yet.
};

/// All causes that attempts_ended may have.
[[nodiscard]] std::span<const std::string_view> attempt_end_causes() noexcept;

}  // namespace hpsearch::daemon
