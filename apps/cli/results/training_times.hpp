#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// How long trials trained, from the log: from an attempt's lease to each of its reports, summed over the
/// attempts of a trial up to the last report of each. Time between attempts does not count: pauses, and
/// waiting for a slot. Training that is repeated after a crash counts.
class TrainingTimes {
 public:
  /// The next event, as the daemon spells it; events of one experiment, in order.
  void on_event(const engine::Value& event);

  /// Seconds of training until the trial last reported this step; null if it never did.
  [[nodiscard]] std::optional<double> until(std::uint64_t trial, std::uint64_t step) const;

 private:
  struct Trial {
    double before = 0;  // In attempts that have ended.
    double leased_at = 0;
    double reported_at = 0;
    std::map<std::uint64_t, double> until;  // Times by step.
  };
  std::map<std::uint64_t, Trial> trials_;
};

}  // namespace hpsearch::cli
