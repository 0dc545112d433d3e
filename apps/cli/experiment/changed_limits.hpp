#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Fields of an experiment file that can be changed after the submission; the short name is the last part.
inline constexpr std::array<std::string_view, 11> changeable_limits = {
    "searcher.max_trials",
    "searcher.max_concurrent_trials",
    "budget.max_time",
    "budget.max_slot_hours",
    "budget.target",
    "budget.max_failed_trials",
    "resources.max_slots",
    "resources.weight",
    "resources.priority",
    "searcher.on_duplicate",
    "searcher.points_to_evaluate",
};

/// The request that changes an experiment from `before` to `after`, {section: {limit: value}}, if only such
/// limits differ; null values restore defaults. Null if other fields differ, too.
[[nodiscard]] std::optional<engine::Value> changed_limits(const engine::Value& before,
                                                          const engine::Value& after);

}  // namespace hpsearch::cli
