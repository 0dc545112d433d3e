#pragma once

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

// What a preview says for other settings: warnings, where something is likely wrong, and advice, where
// something else measured better (docs/benchmarks.md). Each is one line at most, and its proposal, should
// there be one, is a valid experiment whose preview does not say it again.

/// Warns of a first rung that is too short to tell anything. The bracket with the most rungs is the preview's
/// first.
void warn_of_short_rung(engine::Preview& preview, const engine::ExperimentConfig& config);

/// Warns when adaptive_asha is left with one rung, where more were allowed, by too few trials or too short
/// ones.
void warn_of_one_rung(engine::Preview& preview, const engine::ExperimentConfig& config);

/// Advises one bracket instead of several.
void advise_one_bracket(engine::Preview& preview, const engine::ExperimentConfig& config);

/// Advises halving instead of random search.
void advise_halving(engine::Preview& preview, const engine::ExperimentConfig& config);

/// Advises a model instead of random draws, where two parameters are searched and there is enough training to
/// learn from, as expected of results in random order: as many full trainings as it took to be better in the
/// measurements with this searcher.
void advise_model(engine::Preview& preview, const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
