#pragma once

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

/// The effective config with `changes` laid over it, checked as at submission. bad_request names every field
/// that may not change, and everything that would be wrong afterwards.
[[nodiscard]] Result<Value> changed_config(const Value& effective, const Value& changes,
                                           SearcherRegistry registry);

}  // namespace hpsearch::engine
