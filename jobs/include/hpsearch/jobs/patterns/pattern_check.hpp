#pragma once

#include <span>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/jobs/fields/patterns.hpp"

namespace hpsearch::patterns {

/// What is wrong with the regular expressions of an experiment or a component: those that RE2 does not take,
/// those of metrics that do not say where the number stands, and texts in which their parameter's pattern is
/// not found. A pattern may be found anywhere in a text; `^` and `$` hold it to the ends. Pure; all problems
/// at once. Cost: at most about 0.3 s, whatever the patterns are: a pattern has at most 1,024 bytes, and
/// those behind 100,000 instructions of RE2's are refused unread.
[[nodiscard]] engine::Problems problems_of(std::span<const jobs::PatternUse> uses);

}  // namespace hpsearch::patterns
