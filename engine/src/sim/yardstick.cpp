#include "hpsearch/engine/sim/yardstick.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hpsearch::engine::sim {

std::optional<Yardstick> yardstick(const Simulated& simulated, Curves& curves) {
  if (const std::optional<double> best = curves.best()) {
    return Yardstick{*best, true};
  }
  std::optional<double> best;
  const auto consider = [&](double metric) {
    if (std::isfinite(metric) && (!best || regret(*best, metric, simulated.goal) > 0)) {
      best = metric;
    }
  };
  for (std::size_t i = 0; i < simulated.trials.size(); ++i) {
    const SimulatedTrial& trial = simulated.trials[i];
    if (!trial.has_curve || trial.invalid) {
      continue;
    }
    const std::uint64_t op = trial.lengths.empty() ? 0 : trial.lengths.size() - 1;
    consider(curves.metric(Training{TrialNumber(i), trial.hparams, op}, simulated.max_length));
  }
  for (const Improvement& improvement : simulated.improvements) {  // The last need not be the best of these.
    if (!simulated.trials[improvement.trial.number()].invalid) {
      consider(improvement.metric);
    }
  }
  return best ? std::optional(Yardstick{*best, false}) : std::nullopt;
}

double regret(double metric, double yardstick, Goal goal) noexcept {
  return std::max(0.0, goal == Goal::minimize ? metric - yardstick : yardstick - metric);
}

}  // namespace hpsearch::engine::sim
