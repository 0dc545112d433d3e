#pragma once

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::daemon {

/// The section `searcher` of an experiment file as JSON Schema: fields that all searchers read, and those
/// that this one reads.
[[nodiscard]] engine::Value searcher_json_schema(const engine::SearcherKind& kind,
                                                 engine::SearcherRegistry registry);

}  // namespace hpsearch::daemon
