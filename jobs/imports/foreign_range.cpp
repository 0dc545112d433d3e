#include "imports/foreign_range.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "fields/sections.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::jobs {
namespace {

constexpr double e = 2.718281828459045;

Value number(double value) {
  const auto whole = engine::whole_number(Value(value));
  return whole && std::abs(value) < 1e6 ? Value(*whole) : Value(value);
}

std::int64_t whole_of(double value) {
  constexpr double most = 0x1p53;
  return std::llround(std::clamp(value, -most, most));
}

/// Rounds away errors in the last digits: 0.1 + 2 * 0.1 becomes 0.3.
double rounded(double value) {
  return std::abs(value) < 1e3 ? std::round(value * 1e12) / 1e12 : value;
}

Value range(const char* type, Value low, Value high) {
  return Value::Map{{"type", type}, {"minval", std::move(low)}, {"maxval", std::move(high)}};
}

bool has_logarithms(double low, double high) {
  return low > 0 && std::isfinite(high);
}

void make_logarithmic(ForeignRange& range, double low, double high) {
  if (!has_logarithms(low, high)) {
    range.remark = "was logarithmic, with an end that is not above 0: searched evenly";
  } else if (range.value.as_map() != nullptr) {
    (*range.value.as_map())["scale"] = "log";
  }
}

std::string was_normal(double mean, bool of_exponent) {
  return "was a normal distribution around " + short_number(mean) + (of_exponent ? " of the logarithm" : "") +
         ": searched evenly within two deviations";
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

ForeignRange logarithmic_range(double low, double high, bool whole) {
  ForeignRange made = whole ? whole_range(low, high) : real_range(low, high);
  if (low != high) {
    const double least = std::min(low, high);
    make_logarithmic(made, whole ? std::round(least) : least, std::max(low, high));
  }
  return made;
}

ForeignRange exponent_range(double base, double low, double high) {
  if (low == high) {
    return {Value(std::pow(base, low))};
  }
  Value made = range("log", number(std::min(low, high)), number(std::max(low, high)));
  (*made.as_map())["base"] = number(base);
  return {std::move(made)};
}

ForeignRange stepped_range(double low, double high, double step, bool whole, Scale scale) {
  if (low > high) {
    std::swap(low, high);
  }
  const double steps = step > 0 ? std::floor((high - low) / step + 1e-9) : 0;
  ForeignRange made;
  if (!(step > 0) || !(steps < 0x1p53)) {
    made = whole ? whole_range(low, high) : real_range(low, high);
    made.remark = "was in steps of " + short_number(step) + ": the values between them are searched, too";
  } else if (steps == 0) {
    return {whole ? Value(whole_of(low)) : Value(low)};
  } else {
    const double last = low + steps * step;
    made = whole ? whole_range(low, last) : real_range(low, rounded(last));
    if (Value::Map* map = made.value.as_map(); map != nullptr && !(whole && step == 1)) {
      (*map)["step"] = whole ? Value(whole_of(step)) : Value(step);
    }
  }
  if (scale == Scale::log) {
    make_logarithmic(made, low, high);
  }
  return made;
}

ForeignRange multiples_in(double low, double high, double step, bool whole, Scale scale) {
  if (low > high) {
    std::swap(low, high);
  }
  if (!(step > 0)) {
    return stepped_range(low, high, step, whole, scale);
  }
  const double first = rounded(std::ceil(low / step - 1e-9) * step);
  const double last = rounded(std::floor(high / step + 1e-9) * step);
  if (first > last) {  // No multiple lies inside.
    const double near = rounded(std::round(low / step) * step);
    return {whole ? Value(whole_of(near)) : Value(near)};
  }
  if (scale == Scale::log && first <= 0 && last > step) {  // 0 has no logarithm.
    return stepped_range(step, last, step, whole, scale);
  }
  return stepped_range(first, last, step, whole, scale);
}

ForeignRange normal_range(double mean, double deviation, bool of_exponent) {
  const double low = rounded(mean - 2 * std::abs(deviation));
  const double high = rounded(mean + 2 * std::abs(deviation));
  ForeignRange made = of_exponent ? exponent_range(e, low, high) : real_range(low, high);
  made.remark = was_normal(mean, of_exponent);
  return made;
}

ForeignRange normal_multiples(double mean, double deviation, bool of_exponent, double step, bool whole) {
  const double low = rounded(mean - 2 * std::abs(deviation));
  const double high = rounded(mean + 2 * std::abs(deviation));
  ForeignRange made = of_exponent ? multiples_in(std::exp(low), std::exp(high), step, whole, Scale::log)
                                  : multiples_in(low, high, step, whole);
  made.remark = was_normal(mean, of_exponent) + (made.remark.empty() ? "" : "; it " + made.remark);
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
