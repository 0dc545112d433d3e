#pragma once

#include <cstdint>
#include <string_view>

#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::engine {

// Configurations that may lack hyperparameters, which are drawn: points_to_evaluate.

/// Whether it has every leaf that is active in it.
[[nodiscard]] bool is_whole(const Space& space, const Value& configuration);

/// Appends problems below `at`, as Space::check(), but not of leaves that are missing. A leaf with conditions
/// needs the values of its parents.
void check_part(const Space& space, const Value& configuration, std::string_view at, Problems& problems);

/// The configuration with what it lacks drawn as Space::sample() draws it for that trial. Where the space is
/// constrained, it is the first of at most 20,000 draws that satisfies `where`, or else the last.
[[nodiscard]] Value fill(const Space& space, const Value& configuration, std::uint64_t seed,
                         TrialNumber trial);

}  // namespace hpsearch::engine
