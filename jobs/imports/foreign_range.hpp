#pragma once

#include <string>

#include "hpsearch/engine/space/parameter.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"

namespace hpsearch::jobs {

using engine::Scale;

/// A hyperparameter in our words, and what of the original it cannot say ("" = nothing).
struct ForeignRange {
  Value value;
  std::string remark = {};
};

// Each makes one kind of range. Ends that are equal make a constant; ends that are turned are turned back.

[[nodiscard]] ForeignRange real_range(double low, double high);
/// Rounded; ends beyond 2^53 are that.
[[nodiscard]] ForeignRange whole_range(double low, double high);
/// Even in the logarithm, between values above 0.
[[nodiscard]] ForeignRange logarithmic_range(double low, double high, bool whole = false);
/// Even in the exponent, between powers of `base`.
[[nodiscard]] ForeignRange exponent_range(double base, double low, double high);
/// low, low + step, … up to high.
[[nodiscard]] ForeignRange stepped_range(double low, double high, double step, bool whole,
                                         Scale scale = Scale::linear);
/// The multiples of `step` from low to high.
[[nodiscard]] ForeignRange multiples_in(double low, double high, double step, bool whole,
                                        Scale scale = Scale::linear);
/// A bell curve has no ends; it is searched evenly within two deviations.
[[nodiscard]] ForeignRange normal_range(double mean, double deviation, bool of_exponent);
/// The multiples of `step` in it.
[[nodiscard]] ForeignRange normal_multiples(double mean, double deviation, bool of_exponent, double step,
                                            bool whole);
[[nodiscard]] ForeignRange choices(Value::List values);
/// A map is no constant of its own when it looks like a range.
[[nodiscard]] ForeignRange constant(Value value);

}  // namespace hpsearch::jobs
