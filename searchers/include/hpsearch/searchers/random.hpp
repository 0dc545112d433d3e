#pragma once

#include <memory>

#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers {

/// max_trials configurations, each trained to max_length; independent draws unless `sampler` says otherwise.
[[nodiscard]] engine::SearcherKind random_kind() noexcept;

/// The same with a sampler that the config need not know; without one, with random draws.
[[nodiscard]] std::unique_ptr<engine::Searcher> make_random(const engine::ExperimentConfig& config,
                                                            std::unique_ptr<Sampler> sampler);

}  // namespace hpsearch::searchers
