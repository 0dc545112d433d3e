#pragma once

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::engine {

/// Notes what can be searched so, but is hardly meant: nothing varies, or the direction contradicts the
/// metric's name.
void note_odd_searches(const ExperimentConfig& config, Findings& findings);

}  // namespace hpsearch::engine
