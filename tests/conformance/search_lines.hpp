#pragma once

#include "conformance/table.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"

namespace hpsearch::conformance {

/// The experiment that a case's lines describe: its hyperparameters (one real when there are none), `given
/// path=value …` for each point to evaluate, and `search NAME field=value …`.
[[nodiscard]] engine::ExperimentConfig config_of(const Case& one);

}  // namespace hpsearch::conformance
