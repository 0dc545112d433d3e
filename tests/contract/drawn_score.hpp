#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "contract/fault_plan.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// What a trial without a usable metric reports. `choice` is 0, 1 or 2.
[[nodiscard]] inline engine::Score odd_score(FaultPlan::Oddity oddity, engine::Goal goal,
                                             std::uint64_t choice) {
  constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
  switch (oddity) {
    case FaultPlan::Oddity::mixed:
      return engine::Score::from_metric(odd[choice], goal);
    case FaultPlan::Oddity::nan:
      return engine::Score::from_metric(odd[0], goal);
    case FaultPlan::Oddity::absent:
      return engine::Score::from_metric(std::nullopt, goal);
    case FaultPlan::Oddity::awful:
      break;
  }
  return engine::Score::from_metric(goal == engine::Goal::minimize ? 1e300 : -1e300, goal);
}

/// The next score of a trial.
[[nodiscard]] inline engine::Score drawn_score(const FaultPlan& faults, engine::Goal goal,
                                               engine::Draw& chance) {
  if (chance.below(100) < faults.without_metric) {
    return odd_score(faults.oddity, goal, chance.below(3));
  }
  const double metric =
      faults.metrics == 0 ? chance.unit() : static_cast<double>(chance.below(faults.metrics));
  return engine::Score::from_metric(metric, goal);
}

}  // namespace hpsearch::contract
