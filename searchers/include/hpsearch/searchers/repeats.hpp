#pragma once

#include <memory>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// `search`, and after it the repeats of its finalists (searcher.repeats): the best `finalists`
/// configurations of those that reached max_length are trained again, each until it has that many trainings
/// at full length. Trials that share a configuration count together. The order is by mean metric; every
/// finalist has its next training before one of them has the one after it.
///
/// A repeat is a trial with the finalist's configuration, and no trial of `search`, which neither hears of it
/// nor numbers it. One that fails is not replaced. If a user raises max_trials, `search` continues; repeats
/// that run go on, and at its end finalists are chosen anew: those that have their trainings need no more.
///
/// `search` itself where the config asks for no repeats. `preview` is that of its kind, repeats included.
///
/// Cost: O(log trials + finalists) per call, and memory for the configurations of the trials that are open or
///       reached max_length.
[[nodiscard]] std::unique_ptr<engine::Searcher> with_repeats(
    const engine::ExperimentConfig& config, std::unique_ptr<engine::Searcher> search,
    engine::Preview (*preview)(const engine::ExperimentConfig& config));

/// Adds the repeats to a preview of the search: the most there can be, and to its expected length those of as
/// many finalists as are expected.
void preview_repeats(engine::Preview& preview, const engine::ExperimentConfig& config);

}  // namespace hpsearch::searchers
