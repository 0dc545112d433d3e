#include "imports/foreign_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "hpsearch/engine/space/numbers.hpp"
#include "sections.hpp"

namespace hpsearch::jobs {
namespace {

constexpr std::size_t most_choices = 100;
constexpr double e = 2.718281828459045;

/// Exponents of round ends are round: log10(0.001) is -3.
Value exponent_of(double value) {
  const double exponent = std::log10(value);
  const double nearest = std::round(exponent);
  return std::abs(exponent - nearest) < 1e-12 ? Value(static_cast<std::int64_t>(nearest)) : Value(exponent);
}

Value number(double value) {
  const auto whole = engine::whole_number(Value(value));
  return whole && std::abs(value) < 1e6 ? Value(*whole) : Value(value);
}

std::int64_t whole_of(double value) {
  constexpr double most = 0x1p53;
  return std::llround(std::clamp(value, -most, most));
}

/// 0.1 + 2 * 0.1 is to be 0.3.
double rounded(double value) {
  return std::abs(value) < 1e3 ? std::round(value * 1e12) / 1e12 : value;
}

Value range(const char* type, Value low, Value high) {
  return Value::Map{{"type", type}, {"minval", std::move(low)}, {"maxval", std::move(high)}};
}

}  // namespace

ForeignRange real_range(double low, double high) {
  if (low == high) {
    return {Value(low)};
  }
  return {range("double", number(std::min(low, high)), number(std::max(low, high)))};
}

ForeignRange whole_range(double low, double high) {
  const std::int64_t first = whole_of(std::min(low, high));
  const std::int64_t last = whole_of(std::max(low, high));
  if (first == last) {
    return {Value(first)};
  }
  return {range("int", Value(first), Value(last))};
}

ForeignRange logarithmic_range(double low, double high) {
  if (low > high) {
    std::swap(low, high);
  }
  if (low == high || !(low > 0) || !std::isfinite(high)) {
    ForeignRange even = real_range(low, high);
    even.remark = low == high ? "" : "was logarithmic, with an end that is not above 0: searched evenly";
    return even;
  }
  return {range("log", exponent_of(low), exponent_of(high))};
}

ForeignRange exponent_range(double base, double low, double high) {
  if (low == high) {
    return {Value(std::pow(base, low))};
  }
  Value made = range("log", number(std::min(low, high)), number(std::max(low, high)));
  (*made.as_map())["base"] = number(base);
  return {std::move(made)};
}

ForeignRange stepped_range(double low, double high, double step, bool whole) {
  if (low > high) {
    std::swap(low, high);
  }
  const double steps = step > 0 ? std::floor((high - low) / step + 1e-9) : 0;
  if (whole && step == 1) {
    return whole_range(low, high);
  }
  if (!(step > 0) || !(steps < static_cast<double>(most_choices))) {
    ForeignRange even = whole ? whole_range(low, high) : real_range(low, high);
    even.remark = "was in steps of " + short_number(step) + ": the values between them are searched, too";
    return even;
  }
  Value::List values;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(steps); ++i) {
    const double value = low + static_cast<double>(i) * step;
    values.push_back(whole ? Value(whole_of(value)) : Value(rounded(value)));
  }
  return choices(std::move(values));
}

ForeignRange normal_range(double mean, double deviation, bool of_exponent) {
  const double low = rounded(mean - 2 * std::abs(deviation));
  const double high = rounded(mean + 2 * std::abs(deviation));
  ForeignRange made = of_exponent ? exponent_range(e, low, high) : real_range(low, high);
  made.remark = "was a normal distribution around " + short_number(mean) +
                (of_exponent ? " of the logarithm" : "") + ": searched evenly within two deviations";
  return made;
}

ForeignRange choices(Value::List values) {
  if (values.size() == 1) {
    return constant(std::move(values.front()));
  }
  return {Value::Map{{"type", "categorical"}, {"vals", std::move(values)}}};
}

ForeignRange constant(Value value) {
  if (value.as_map() != nullptr) {
    return {Value::Map{{"type", "const"}, {"val", std::move(value)}}};
  }
  return {std::move(value)};
}

}  // namespace hpsearch::jobs
