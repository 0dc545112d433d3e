#pragma once

#include <span>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/jobs/fields/patterns.hpp"

namespace hpsearch::patterns {

/// Checks the regular expressions of an experiment or a component. Problems are: RE2 rejects a pattern,
/// a metric's pattern has no group for the number, a parameter's pattern doesn't match
/// its texts. A pattern may match anywhere in a text; `^` and `$` anchor it. Pure; reports all problems
/// at once. Cost: at most about 0.3 s for all patterns: a pattern has at most 1,024 bytes, and after
/// 100,000 instructions of RE2's the remaining patterns are refused unread.
[[nodiscard]] engine::Problems problems_of(std::span<const jobs::PatternUse> uses);

}  // namespace hpsearch::patterns
