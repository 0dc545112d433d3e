#pragma once

#include "hpsearch/engine/base/result.hpp"

namespace re2 {
class RE2;
}

namespace hpsearch::patterns {

/// The groups of a metric's expression that hold its numbers.
struct MetricGroups {
  int value = 1;
  int step = 0;  ///< 0 = none.
};

/// bad_request: the rest of a sentence about the expression.
[[nodiscard]] engine::Result<MetricGroups> metric_groups(const re2::RE2& expression);

}  // namespace hpsearch::patterns
