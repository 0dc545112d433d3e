#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Turns the daemon's events, in order, into lines for people, and keeps the few facts that only events tell.
class EventStory {
 public:
  /// `unit` and `metric` as the experiment names them.
  EventStory(std::string unit, std::string metric) : unit_(std::move(unit)), metric_(std::move(metric)) {}

  struct Line {
    std::string
        text;  ///< "12:03:44  trial 3 paused at 4 epochs with val_acc 0.91: ..."; "" = not worth telling.
    bool trouble = false;  ///< Somebody should look at it.
  };
  Line tell(const engine::Value& event);

  /// Seconds during which nothing could run because the experiment was paused (and, between two commands, not
  /// even there): from the last attempt's end in the pause to the next lease.
  [[nodiscard]] double idle_seconds() const noexcept { return idle_seconds_; }

  /// True once experiment_ended was told.
  [[nodiscard]] bool ended() const noexcept { return ended_; }

 private:
  void keep_time(const std::string& type, const engine::Value& event);
  Line exit_line(const engine::Value& event, const char* name, const std::string& trial) const;
  [[nodiscard]] std::string where(
      std::uint64_t trial);  ///< " at 4 epochs with val_acc 0.91", of its last length.

  struct Reached {
    std::uint64_t step = 0;
    std::optional<double> metric;
  };
  std::string unit_;
  std::string metric_;
  std::map<std::uint64_t, Reached> reached_;                // Lengths reached and not told yet.
  using Attempt = std::pair<std::uint64_t, std::uint64_t>;  // Trial and number.
  std::set<Attempt> live_;
  std::set<Attempt> gangs_;  // Those of them on several workers.
  bool paused_ = false;
  std::optional<double> idle_from_;
  double idle_seconds_ = 0;
  bool ended_ = false;
};

}  // namespace hpsearch::cli
