#pragma once

#include <string>

#include "hpsearch/jobs/engine_types.hpp"

namespace hpsearch::jobs {

/// A hyperparameter in our words, and what of the original it cannot say ("" = nothing).
struct ForeignRange {
  Value value;
  std::string remark = {};
};

// Each makes one kind of range. Ends that are equal make a constant; ends that are turned are turned back.

[[nodiscard]] ForeignRange real_range(double low, double high);
/// Rounded; ends beyond 2^53 are that.
[[nodiscard]] ForeignRange whole_range(double low, double high);
/// Even in the exponent, between values above 0.
[[nodiscard]] ForeignRange logarithmic_range(double low, double high);
/// The same between powers of `base`.
[[nodiscard]] ForeignRange exponent_range(double base, double low, double high);
/// low, low + step, … up to high; as choices where they are few, else as a range with a remark.
[[nodiscard]] ForeignRange stepped_range(double low, double high, double step, bool whole);
/// A bell curve has no ends; it is searched evenly within two deviations.
[[nodiscard]] ForeignRange normal_range(double mean, double deviation, bool of_exponent);
[[nodiscard]] ForeignRange choices(Value::List values);
/// A map is no constant of its own when it looks like a range.
[[nodiscard]] ForeignRange constant(Value value);

}  // namespace hpsearch::jobs
