#pragma once

#include <string>

namespace hpsearch::sentences {

/// The number with this many decimals; short_number() is used if that needs too many digits.
/// `decimals` is at most 12.
[[nodiscard]] std::string fixed(double number, int decimals);

/// "0.931 ± 0.012": the deviation has two significant digits, and the mean as many decimals.
[[nodiscard]] std::string with_deviation(double mean, double deviation);

}  // namespace hpsearch::sentences
