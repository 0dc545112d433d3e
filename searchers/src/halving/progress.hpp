#pragma once

#include <algorithm>

namespace hpsearch::searchers {

/// Progress that has come to `now` after `before`: it never goes back, and only the end itself is 1.
[[nodiscard]] inline double advanced(double before, double now) noexcept {
  constexpr double just_below_one = 1.0 - 0x1p-53;
  return std::max(before, std::min(now, just_below_one));
}

}  // namespace hpsearch::searchers
