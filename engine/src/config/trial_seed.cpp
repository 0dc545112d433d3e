#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"

namespace hpsearch::engine {

std::uint32_t trial_seed(std::uint64_t experiment_seed, TrialNumber trial) noexcept {
  return static_cast<std::uint32_t>(Draw(experiment_seed, trial, "trial_seed").bits() >> 33U);
}

}  // namespace hpsearch::engine
