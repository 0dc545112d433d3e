#pragma once

#include <string>

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::proto {

/// A preview as JSON text over several lines, with the fields of api::Preview. Its numbers are JSON integers
/// of any size: a grid may have more points than a Value can count. A length past counting is null. Advice
/// stands behind the warnings, after "advice: ".
[[nodiscard]] std::string to_json(const engine::Preview& preview);

}  // namespace hpsearch::proto
