#pragma once

#include "hpsearch/searchers/divisor.hpp"

namespace hpsearch::searchers {

/// How many of so many trials a rung of the stopping type is expected to let pass when chance alone orders
/// their results. The m-th to report ranks anywhere among the m with equal chance, and goes on if it is among
/// the best max(floor(m / d), 1) of them, so it is Σ max(floor(m / d), 1) / m: the early ones pass easily,
/// and few trials are therefore thinned much less than by d.
///
/// `trials` may be an expectation itself, with a fraction. Within 0.1 % of the sum, at once for any number.
[[nodiscard]] double expected_to_pass(double trials, const Divisor& divisor) noexcept;

}  // namespace hpsearch::searchers
