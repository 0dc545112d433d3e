#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::workers {

/// Turns a harness's steps, which are batches for Trial classes and whatever a Core API script counts
/// otherwise, into the experiment's unit.
///
/// Exact where the configuration says how many records a batch and an epoch have, and where the unit is the
/// user's own word; else learned from what the harness says about its progress.
class DeterminedSteps {
 public:
  /// `config`: determined_config(), for records_per_epoch; `hparams` for global_batch_size.
  DeterminedSteps(std::string_view unit, const engine::Value& config, const engine::Value& hparams);

  /// Until then at() is a guess: one step for one unit.
  [[nodiscard]] bool known() const noexcept { return exact_ || learned_; }

  /// The harness has done `steps` of its own and calls that `position`, in the experiment's unit.
  void learn(std::uint64_t steps, double position) noexcept;

  /// Rounded down: a unit that is not over does not count.
  [[nodiscard]] engine::Units at(std::uint64_t steps) const noexcept;

 private:
  std::optional<double> exact_;  ///< Units per step.
  std::optional<double> learned_;
};

}  // namespace hpsearch::workers
