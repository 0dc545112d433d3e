#pragma once

#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/sim/simulation.hpp"
#include "hpsearch/engine/sim/yardstick.hpp"

namespace hpsearch::cli {

/// A finished simulation, with its input.
struct Simulation {
  const engine::ExperimentConfig& config;
  const engine::sim::Simulated& simulated;
  std::optional<engine::sim::Yardstick> yardstick;
  engine::sim::DurationModel duration;
  std::string curves;  ///< For users.
};

[[nodiscard]] std::string_view name_of(engine::sim::DurationModel duration) noexcept;

/// The document of `--output json`; docs/simulation.md lists its fields.
[[nodiscard]] engine::Value to_value(const Simulation& simulation);

/// The same as text. At most `most_trials` trials are listed one by one.
[[nodiscard]] std::string to_text(const Simulation& simulation, std::size_t most_trials, std::size_t width);

}  // namespace hpsearch::cli
