#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::cli {

/// Turns the daemon's events, in order, into lines for people, and keeps the few facts that only events
/// carry.
class EventStory {
 public:
  /// `unit` and `metric` as the experiment names them.
  EventStory(std::string unit, std::string metric) : unit_(std::move(unit)), metric_(std::move(metric)) {}

  struct Line {
    std::string text;      ///< "12:03:44  trial 3 paused at 4 epochs with val_acc 0.91: ..."; "" = not shown.
    bool trouble = false;  ///< Somebody should look at it.
  };
  Line tell(const engine::Event& event);
  /// The same for an event as the daemon sends it. One that this program cannot read is a line of trouble.
  Line tell(const engine::Value& event);

  /// Seconds during which nothing could run because the experiment was paused (and, between two commands, not
  /// even there): from the last attempt's end in the pause to the next lease.
  [[nodiscard]] double idle_seconds() const noexcept { return idle_seconds_; }

  /// True once experiment_ended was told.
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  // One for each kind of event; a new kind does not compile without one.
  Line line_of(const engine::ExperimentCreated& event);
  Line line_of(const engine::ExperimentPaused& event);
  Line line_of(const engine::ExperimentResumed& event);
  Line line_of(const engine::ExperimentStopping& event);
  Line line_of(const engine::ExperimentEnded& event);
  Line line_of(const engine::LimitsChanged& event);
  Line line_of(const engine::TrialCreated& event);
  Line line_of(const engine::TrialPromoted& event);
  Line line_of(const engine::LengthReached& event);
  Line line_of(const engine::TrialPaused& event);
  Line line_of(const engine::TrialQueued& event);
  Line line_of(const engine::TrialExitedEarly& event);
  Line line_of(const engine::TrialEnded& event);
  Line line_of(const engine::LeaseGranted& event);
  Line line_of(const engine::AttemptStarted& event);
  Line line_of(const engine::ReportTaken& event);
  Line line_of(const engine::AttemptLost& event);
  Line line_of(const engine::AttemptAdopted& event);
  Line line_of(const engine::AttemptDisowned& event);
  Line line_of(const engine::MemberExited& event);
  Line line_of(const engine::MemberLost& event);
  Line line_of(const engine::GangEnded& event);
  Line line_of(const engine::StartDelayed& event);
  Line line_of(const engine::CheckpointsCollected& event);
  Line line_of(const engine::CheckpointsDeleted& event);
  Line line_of(const engine::WorkerJoined& event);
  Line line_of(const engine::WorkerLost& event);
  Line line_of(const engine::WorkerQuarantined& event);
  Line line_of(const engine::WorkerReleased& event);
  Line line_of(const engine::SlotsQuarantined& event);
  Line line_of(const engine::SlotsReleased& event);
  Line line_of(const engine::SlotWithdrawn& event);
  Line line_of(const engine::SlotRestored& event);
  Line line_of(const engine::StoreRestored& event);

  [[nodiscard]] std::string amount(engine::Units length) const;
  /// " at 4 epochs with val_acc 0.91", of the length that the trial reached last, if it was not shown yet.
  [[nodiscard]] std::string where(engine::TrialNumber trial);

  using Attempt = std::pair<std::uint64_t, std::uint64_t>;  // Trial and number.
  void begins(const Attempt& attempt);
  void is_over(const Attempt& attempt);

  struct Reached {
    engine::Units step{};
    std::optional<double> metric;
  };
  std::string unit_;
  std::string metric_;
  std::map<engine::TrialNumber, Reached> reached_;  // Lengths reached and not shown yet.
  double now_ = 0;                                  // Of the event that is being told, in seconds.
  std::set<Attempt> live_;
  std::set<Attempt> gangs_;  // Those of them on several workers: over when their last member is gone.
  bool paused_ = false;
  std::optional<double> idle_from_;
  double idle_seconds_ = 0;
  bool ended_ = false;
};

}  // namespace hpsearch::cli
