#pragma once

#include <optional>

#include "hpsearch/engine/base/score.hpp"
#include "hpsearch/engine/sim/curves.hpp"
#include "hpsearch/engine/sim/simulation.hpp"

namespace hpsearch::engine::sim {

/// What the search could have come to: the best known metric where the curves know it, else the best that a
/// trial it created measured or would have had at full length. Nothing when no metric is finite. O(trials)
/// curve calls.
struct Yardstick {
  double metric = 0;
  bool known_optimum = false;  ///< From Curves::best().
};
[[nodiscard]] std::optional<Yardstick> yardstick(const Simulated& simulated, Curves& curves);

/// How far behind the yardstick a metric is; 0 when it is as good or better.
[[nodiscard]] double regret(double metric, double yardstick, Goal goal) noexcept;

}  // namespace hpsearch::engine::sim
