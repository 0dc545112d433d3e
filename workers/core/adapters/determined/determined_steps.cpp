#include "hpsearch/workers/core/adapters/determined/determined_steps.hpp"

#include <cmath>

namespace hpsearch::workers {

using engine::Units;
using engine::Value;

DeterminedSteps::DeterminedSteps(std::string_view unit, const Value& config, const Value& hparams) {
  const Value* batch = hparams.at_path("global_batch_size");
  const Value* epoch = config.at_path("records_per_epoch");
  const double records_per_batch = batch == nullptr ? 0 : batch->number_or(0);
  const double records_per_epoch = epoch == nullptr ? 0 : epoch->number_or(0);
  if (unit == "records") {
    exact_ = records_per_batch > 0 ? std::optional(records_per_batch) : std::nullopt;
  } else if (unit != "epochs") {
    exact_ = 1;
  } else if (records_per_batch > 0 && records_per_epoch > 0) {
    exact_ = records_per_batch / records_per_epoch;
  }
}

void DeterminedSteps::learn(std::uint64_t steps, double position) noexcept {
  if (steps > 0 && std::isfinite(position) && position > 0) {
    learned_ = position / static_cast<double>(steps);
  }
}

Units DeterminedSteps::at(std::uint64_t steps) const noexcept {
  // Adds half a millionth of a step, so that 3 · (1/3) is a whole unit.
  const double position = static_cast<double>(steps) * exact_.value_or(learned_.value_or(1)) + 5e-7;
  constexpr double most = 9.0e15;
  return Units{static_cast<std::uint64_t>(std::floor(std::fmin(position, most)))};
}

}  // namespace hpsearch::workers
