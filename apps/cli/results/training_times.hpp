#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// How long trials trained, of what the log tells: from an attempt's lease to each of its reports, summed up
/// over the attempts of a trial up to the last report of each. What lies between attempts does not count:
/// pauses, and waiting for a slot. What is trained again after a crash does.
class TrainingTimes {
 public:
  /// The next event, as the daemon spells them; those of one experiment, in order.
  void on_event(const engine::Value& event);

  /// Seconds of training until the trial last reported this step; nothing when it never did.
  [[nodiscard]] std::optional<double> until(std::uint64_t trial, std::uint64_t step) const;

 private:
  struct Trial {
    double before = 0;  // In attempts that are over.
    double leased_at = 0;
    double reported_at = 0;
    std::map<std::uint64_t, double> until;  // By step.
  };
  std::map<std::uint64_t, Trial> trials_;
};

}  // namespace hpsearch::cli
