#include "hpsearch/proto/sentences/uncertain_number.hpp"

#include <charconv>
#include <cmath>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::sentences {
namespace {

constexpr int most_decimals = 12;
constexpr double largest_written_out = 1e15;

}  // namespace

std::string fixed(double number, int decimals) {
  if (!(std::abs(number) < largest_written_out)) {
    return engine::short_number(number);
  }
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed, decimals).ptr;
  return std::string(buffer, end);
}

std::string with_deviation(double mean, double deviation) {
  const double digits = deviation > 0 ? 1 - std::floor(std::log10(deviation)) : most_decimals + 1;
  if (!std::isfinite(deviation) || !(digits <= most_decimals)) {
    return engine::short_number(mean) + " ± " + engine::short_number(deviation);
  }
  const int decimals = digits > 0 ? static_cast<int>(digits) : 0;
  return fixed(mean, decimals) + " ± " + fixed(deviation, decimals);
}

}  // namespace hpsearch::sentences
