#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::sentences {

/// Turns events, in order, into lines for users, and counts what only the events have.
class EventStory {
 public:
  /// `unit` and `metric` are named as in the experiment.
  EventStory(std::string unit, std::string metric) : unit_(std::move(unit)), metric_(std::move(metric)) {}

  struct Line {
    std::string text;      ///< "trial 3 paused at 4 epochs with val_acc 0.91: ..."; "" = not shown. Names and
                           ///< messages are unchanged, with their control characters.
    bool trouble = false;  ///< A user should check it.
  };
  Line tell(const engine::Event& event);

  /// Seconds in which nothing ran because the experiment was paused: each from the end of the last attempt
  /// to the next lease. Includes the time from a resume to that lease.
  [[nodiscard]] double idle_seconds() const noexcept { return idle_seconds_; }

  /// True after the experiment's end.
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  struct LineOf;  // One line for each kind of event.

  [[nodiscard]] std::string amount(engine::Units length) const;
  /// " at 4 epochs with val_acc 0.91", for the latest length of the trial, if it wasn't shown yet.
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
  double now_ = 0;                                  // Time of the current event, in seconds.
  std::set<Attempt> live_;
  std::set<Attempt> gangs_;  // The live attempts on several workers: each ends with its last member.
  bool paused_ = false;
  std::optional<double> idle_from_;
  double idle_seconds_ = 0;
  bool ended_ = false;
};

}  // namespace hpsearch::sentences
