#pragma once

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// What is wrong with `searcher.stopping`.
void check_stopping(const engine::ExperimentConfig& config, engine::Problems& problems);

/// A rule that can stop no trial. `preview` knows the number of trials.
void warn_of_stopping(engine::Preview& preview, const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
