#pragma once

#include <string>

namespace hpsearch::sentences {

/// With that many digits after the point; numbers that would need very many digits as short_number() has
/// them. `decimals` is at most 12.
[[nodiscard]] std::string fixed(double number, int decimals);

/// "0.931 ± 0.012": the deviation with two significant digits, and as many decimals of the mean.
[[nodiscard]] std::string with_deviation(double mean, double deviation);

}  // namespace hpsearch::sentences
