#pragma once

#include <string>

#include "hpsearch/engine/space/parameter.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

using engine::Scale;

/// A hyperparameter in our format, and a note about what the format can't express ("" if nothing).
struct ForeignRange {
  Value value;
  std::string remark = {};
};

// Each function makes one kind of range. Equal ends make a constant; ends in the wrong order are swapped.

[[nodiscard]] ForeignRange real_range(double low, double high);
/// The ends are rounded, and limited to ±2^53.
[[nodiscard]] ForeignRange whole_range(double low, double high);
/// Uniform in the logarithm, between values above 0.
[[nodiscard]] ForeignRange logarithmic_range(double low, double high, bool whole = false);
/// Uniform in the exponent, between powers of `base`.
[[nodiscard]] ForeignRange exponent_range(double base, double low, double high);
/// low, low + step, … up to high.
[[nodiscard]] ForeignRange stepped_range(double low, double high, double step, bool whole,
                                         Scale scale = Scale::linear);
/// The multiples of `step` from low to high.
[[nodiscard]] ForeignRange multiples_in(double low, double high, double step, bool whole,
                                        Scale scale = Scale::linear);
/// A normal distribution has no ends; the range is uniform over two deviations to each side of the mean.
[[nodiscard]] ForeignRange normal_range(double mean, double deviation, bool of_exponent);
/// The multiples of `step` in that range.
[[nodiscard]] ForeignRange normal_multiples(double mean, double deviation, bool of_exponent, double step,
                                            bool whole);
[[nodiscard]] ForeignRange choices(Value::List values);
/// A constant. A map that looks like a range is wrapped in a const.
[[nodiscard]] ForeignRange constant(Value value);

}  // namespace hpsearch::jobs
