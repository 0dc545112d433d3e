#pragma once

#include <string>

#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::proto {

/// A preview as JSON on several lines, with the fields of api::Preview. Its numbers are JSON integers
/// of any size: a grid may have more points than a Value can count. An uncountable length is null. Advice
/// comes after the warnings, after "advice: ".
[[nodiscard]] std::string to_json(const engine::Preview& preview);

}  // namespace hpsearch::proto
