#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/divisor.hpp"
#include "hpsearch/searchers/sampler.hpp"
#include "hpsearch/searchers/tournament.hpp"

namespace hpsearch::searchers {

/// Several brackets of asynchronous successive halving with different numbers of rungs, side by side: early
/// stopping pays most where short training tells much, and the brackets with few rungs insure against the
/// opposite (the hedge of Li et al., "Hyperband", JMLR 2018).
[[nodiscard]] engine::SearcherKind adaptive_asha_kind() noexcept;

/// The same with a sampler that the config need not know, one for all brackets; without one, with random
/// draws.
[[nodiscard]] std::unique_ptr<engine::Searcher> make_adaptive_asha(const engine::ExperimentConfig& config,
                                                                   std::unique_ptr<Sampler> sampler);

/// How many rungs the deepest bracket has when `bracket_rungs` does not say: as many as max_rungs, the
/// lengths and the number of trials allow. Counted up to 101, one more than a config may have.
[[nodiscard]] std::uint64_t deepest_bracket(const engine::SearcherConfig& searcher, std::uint64_t trials);

/// Divides `trials` among brackets with so many rungs each, most rungs first, so that each gets about the
/// same training: bracket b has weight d^(R_b-1)/R_b. Exact integers for integral d. The shares add up to
/// `trials`, and every bracket has at least one: there are at least as many trials as brackets.
[[nodiscard]] std::vector<std::uint64_t> share_out(std::uint64_t trials, const Divisor& divisor,
                                                   const std::vector<std::uint64_t>& rungs);

/// The brackets of a search for `trials` trials: as many as were asked for, or one for each trial if that is
/// less.
[[nodiscard]] std::vector<BracketPlan> plan_brackets(const engine::SearcherConfig& searcher,
                                                     std::uint64_t trials);

}  // namespace hpsearch::searchers
