#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::searchers {

/// Several brackets of asynchronous successive halving with different numbers of rungs, side by side: early
/// stopping pays most where short training tells much, and the brackets with few rungs insure against the
/// opposite (the hedge of Li et al., "Hyperband", JMLR 2018).
[[nodiscard]] engine::SearcherKind adaptive_asha_kind() noexcept;

/// One bracket of a plan.
struct BracketPlan {
  std::uint64_t rungs = 0;  ///< As asked for; equal lengths may leave fewer.
  std::uint64_t trials = 0;
};

/// How many rungs the deepest bracket has when `bracket_rungs` does not say: as many as max_rungs, the
/// lengths and the number of trials allow.
[[nodiscard]] std::uint64_t deepest_bracket(const engine::SearcherConfig& searcher, std::uint64_t trials);

/// Divides `trials` among the brackets, most rungs first, so that each gets about the same training: bracket
/// b has weight d^(R_b-1)/R_b. Exact integers for integral d. The trials add up to `trials`, and every
/// bracket has at least one.
[[nodiscard]] std::vector<BracketPlan> plan_brackets(const engine::SearcherConfig& searcher,
                                                     std::uint64_t trials);

}  // namespace hpsearch::searchers
