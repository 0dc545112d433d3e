#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/composed_searcher.hpp"

namespace hpsearch::searchers {

// What the kinds of searchers share in reading their settings and foretelling their course.

/// max_trials, or the whole of a finite space if that is less and no configuration may be started twice.
[[nodiscard]] std::uint64_t trials_to_run(const engine::ExperimentConfig& config);

/// The limits of a search whose max_trials may change.
[[nodiscard]] ComposedSearcher::Limits changeable_limits(const engine::ExperimentConfig& config);

/// "3", "2.5"
[[nodiscard]] std::string quoted(const Divisor& divisor);

/// "52 epochs"
[[nodiscard]] std::string in_unit(engine::Units length, const engine::ExperimentConfig& config);

/// A preview of trials that all train to the full length.
[[nodiscard]] engine::Preview preview_flat(engine::Cardinality trials, engine::Units max_length,
                                           std::uint64_t share);

/// Adds one bracket of halving with its warnings, which call it `bracket`.
void preview_bracket(engine::Preview& preview, const AshaSettings& settings, std::uint64_t rungs_asked,
                     bool stop_once, std::uint64_t share, std::string_view bracket);

/// Warns of rungs that no report falls on, of training that is lost at a pause, and of a first rung that is
/// too short to tell anything. The bracket with the most rungs stands first in the preview.
void warn_of_rungs(engine::Preview& preview, const engine::ExperimentConfig& config);

/// Warns when a finite space has fewer configurations than trials were asked for.
void warn_of_small_space(engine::Preview& preview, const engine::ExperimentConfig& config);

/// Both stop at past_counting.
[[nodiscard]] engine::Cardinality plus(engine::Cardinality a, engine::Cardinality b) noexcept;
[[nodiscard]] engine::Cardinality times(engine::Cardinality a, engine::Cardinality b) noexcept;

}  // namespace hpsearch::searchers
