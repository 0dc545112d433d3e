#pragma once

#include <memory>

#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/sampler.hpp"

namespace hpsearch::searchers {

/// One bracket of asynchronous successive halving with num_rungs rungs.
[[nodiscard]] engine::SearcherKind async_halving_kind() noexcept;

/// The same with a sampler that the config need not know; without one, with random draws.
[[nodiscard]] std::unique_ptr<engine::Searcher> make_async_halving(const engine::ExperimentConfig& config,
                                                                   std::unique_ptr<Sampler> sampler);

}  // namespace hpsearch::searchers
