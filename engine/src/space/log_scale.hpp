#pragma once

#include <algorithm>
#include <cmath>

#include "hpsearch/engine/space/parameter.hpp"

namespace hpsearch::engine {

/// The number at a place in [0, 1] of a double with a log scale; never outside its bounds, which are exact.
[[nodiscard]] inline double log_at_place(const DoubleParameter& parameter, double place) noexcept {
  if (place <= 0 || place >= 1) {
    return place <= 0 ? parameter.minval : parameter.maxval;
  }
  // To the base 10, so that powers of ten between powers of ten come out as such.
  const double low = std::log10(parameter.minval);
  const double high = std::log10(parameter.maxval);
  return std::clamp(std::pow(10, low + place * (high - low)), parameter.minval, parameter.maxval);
}

/// Its inverse; what lies outside the bounds is at their ends, and what has no logarithm at the lower one.
[[nodiscard]] inline double log_place_of(const DoubleParameter& parameter, double number) noexcept {
  const double low = std::log10(parameter.minval);
  const double place = (std::log10(number) - low) / (std::log10(parameter.maxval) - low);
  return place > 0 ? std::min(place, 1.0) : 0.0;
}

}  // namespace hpsearch::engine
