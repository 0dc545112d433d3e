#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::sentences {

/// Turns events, in order, into lines for users, and keeps the few facts that only events have.
class EventStory {
 public:
  /// `unit` and `metric` as the experiment names them.
  EventStory(std::string unit, std::string metric) : unit_(std::move(unit)), metric_(std::move(metric)) {}

  struct Line {
    std::string text;      ///< "trial 3 paused at 4 epochs with val_acc 0.91: ..."; "" = not shown. Names and
                           ///< messages are as users and programs wrote them, control characters included.
    bool trouble = false;  ///< A user should look at it.
  };
  Line tell(const engine::Event& event);

  /// Seconds during which nothing could run because the experiment was paused (and, between two commands, not
  /// even there): from the last attempt's end in the pause to the next lease.
  [[nodiscard]] double idle_seconds() const noexcept { return idle_seconds_; }

  /// True after the experiment's end.
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  struct LineOf;  // One line for each kind of event.

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
  double now_ = 0;                                  // Time of the present event, in seconds.
  std::set<Attempt> live_;
  std::set<Attempt> gangs_;  // Those of them on several workers: over when their last member is gone.
  bool paused_ = false;
  std::optional<double> idle_from_;
  double idle_seconds_ = 0;
  bool ended_ = false;
};

}  // namespace hpsearch::sentences
