#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// Converts a harness's steps, which are batches for Trial classes and any unit for Core API scripts,
/// into the experiment's unit.
///
/// Exact if the configuration has the number of records of a batch and an epoch, or if the unit is the
/// user's own; otherwise learned from the progress that the harness reports.
class DeterminedSteps {
 public:
  /// `config`: determined_config(), for records_per_epoch; `hparams` for global_batch_size.
  DeterminedSteps(std::string_view unit, const engine::Value& config, const engine::Value& hparams);

  /// Until then at() is a guess: one step is one unit.
  [[nodiscard]] bool known() const noexcept { return exact_ || learned_; }

  /// The harness reports that `steps` of its own are `position` in the experiment's unit.
  void learn(std::uint64_t steps, double position) noexcept;

  /// Rounded down: an incomplete unit doesn't count.
  [[nodiscard]] engine::Units at(std::uint64_t steps) const noexcept;

 private:
  std::optional<double> exact_;  ///< Units per step.
  std::optional<double> learned_;
};

}  // namespace hpsearch::workers
