#pragma once

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/section.hpp"

namespace hpsearch::engine {

/// The `searcher` section with names that other platforms use for what is here a searcher with a sampler, and
/// with their names of its fields, turned into the names here; notes what was read as what. Other sections
/// stay as they are.
[[nodiscard]] Value with_names_of_here(const Value::Map& searcher, Findings& findings);

}  // namespace hpsearch::engine
