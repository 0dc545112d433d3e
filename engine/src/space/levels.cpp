#include "hpsearch/engine/space/levels.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/space/numbers.hpp"

namespace hpsearch::engine {
namespace {

constexpr double most_exact = 0x1p53;  // Whole numbers up to here are doubles.
constexpr int most_decimals = 22;      // 10^22 is the last power of ten that is a double.
constexpr double slack_of_steps =
    1e-9;  // As a part of a step: how far a written value may be from its level.

/// How many decimals the shortest text of a number has: 2 for 0.25, 0 for 1e5, 5 for 1e-5.
int decimals_of(double number) noexcept {
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t e = written.find('e');
  const std::size_t point = written.find('.');
  const int digits = point < e ? static_cast<int>(e - point) - 1 : 0;
  const std::size_t sign = written[e + 1] == '+' ? e + 2 : e + 1;  // from_chars takes no plus.
  int exponent = 0;
  std::from_chars(written.data() + sign, written.data() + written.size(), exponent);
  return std::max(0, digits - exponent);
}

double power_of_ten(int exponent) noexcept {
  double power = 1;
  for (int i = 0; i < exponent; ++i) {
    power *= 10;  // Exact up to 10^22.
  }
  return power;
}

double clamped(double coordinate) noexcept {
  return coordinate > 0 ? std::min(coordinate, 1.0) : 0.0;
}

}  // namespace

std::optional<Levels> Levels::of(const Parameter& parameter) {
  if (const auto* whole = std::get_if<IntParameter>(&parameter)) {
    return Levels(*whole);
  }
  if (const auto* real = std::get_if<DoubleParameter>(&parameter); real != nullptr && real->step) {
    return Levels(*real);
  }
  return std::nullopt;
}

Levels::Levels(const IntParameter& parameter) noexcept
    : is_whole_(true),
      scale_(parameter.scale),
      lowest_(parameter.minval),
      stride_(parameter.step.value_or(1)),
      minval_(static_cast<double>(parameter.minval)),
      maxval_(static_cast<double>(parameter.maxval)),
      step_(static_cast<double>(stride_)) {
  last_ =
      (static_cast<std::uint64_t>(parameter.maxval) - static_cast<std::uint64_t>(parameter.minval)) / stride_;
  set_cells();
}

Levels::Levels(const DoubleParameter& parameter) noexcept
    : is_whole_(false),
      scale_(parameter.scale),
      minval_(parameter.minval),
      maxval_(parameter.maxval),
      step_(parameter.step.value_or(0)) {
  HPSEARCH_CHECK(step_ > 0, "only a double with a step has levels");
  last_ = static_cast<std::uint64_t>((maxval_ - minval_) / step_ * (1 + 0x1p-50) + slack_of_steps);
  const int decimals = std::max(decimals_of(minval_), decimals_of(step_));
  if (decimals <= most_decimals) {
    const double power = power_of_ten(decimals);
    const double first = std::round(minval_ * power);
    const double units = std::round(step_ * power);
    if (std::abs(first) + static_cast<double>(last_) * units < most_exact) {
      first_ = first;
      units_ = units;
      power_ = power;
    }
  }
  set_cells();
}

void Levels::set_cells() noexcept {
  if (scale_ == Scale::log) {
    log_min_ = std::log(minval_);
    log_max_ = std::log(maxval_);
    log_low_ = std::log(std::max(minval_ - step_ / 2, minval_ / 2));
    log_high_ = std::log(maxval_ + step_ / 2);
  }
}

double Levels::number(std::uint64_t level) const noexcept {
  const auto steps = static_cast<double>(level);
  if (power_ > 0) {
    return (first_ + steps * units_) / power_;
  }
  return std::min(minval_ + steps * step_, maxval_);
}

Value Levels::value(std::uint64_t level) const noexcept {
  if (is_whole_) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(lowest_) + level * stride_);
  }
  return number(level);
}

std::optional<std::uint64_t> Levels::find(const Value& value) const noexcept {
  if (is_whole_) {
    const std::optional<std::int64_t> number = whole_number(value);
    if (!number || *number < lowest_) {
      return std::nullopt;
    }
    const std::uint64_t offset = static_cast<std::uint64_t>(*number) - static_cast<std::uint64_t>(lowest_);
    return offset % stride_ == 0 && offset / stride_ <= last_ ? std::optional(offset / stride_)
                                                              : std::nullopt;
  }
  const std::optional<double> number = finite_number(value);
  if (!number) {
    return std::nullopt;
  }
  const std::uint64_t level = nearest(*number);
  const double slack = std::max(slack_of_steps * step_, 0x1p-50 * std::abs(*number));
  return std::abs(*number - this->number(level)) <= slack ? std::optional(level) : std::nullopt;
}

std::uint64_t Levels::nearest(double number) const noexcept {
  const double steps = std::round((number - minval_) / step_);
  if (!(steps > 0)) {
    return 0;
  }
  return steps < static_cast<double>(last_) ? static_cast<std::uint64_t>(steps) : last_;
}

double Levels::place(std::uint64_t level) const noexcept {
  if (scale_ == Scale::log) {
    return log_place(minval_ + static_cast<double>(level) * step_);
  }
  return (static_cast<double>(level) + 0.5) / (static_cast<double>(last_) + 1);
}

std::uint64_t Levels::at(double place) const noexcept {
  const double inside = clamped(place);
  if (scale_ == Scale::log) {
    return nearest(std::exp(log_low_ + inside * (log_high_ - log_low_)));
  }
  const double level = std::floor(inside * (static_cast<double>(last_) + 1));
  return level < static_cast<double>(last_) ? static_cast<std::uint64_t>(level) : last_;
}

Levels::Cell Levels::cell(std::uint64_t level) const noexcept {
  if (scale_ == Scale::log) {
    const double middle = minval_ + static_cast<double>(level) * step_;
    return {level == 0 ? 0 : log_place(middle - step_ / 2),
            level == last_ ? 1 : log_place(middle + step_ / 2)};
  }
  const double count = static_cast<double>(last_) + 1;
  return {static_cast<double>(level) / count, (static_cast<double>(level) + 1) / count};
}

double Levels::log_place(double number) const noexcept {
  return (std::log(number) - log_low_) / (log_high_ - log_low_);
}

double Levels::unit(std::uint64_t level) const noexcept {
  if (last_ == 0) {
    return 0;
  }
  if (scale_ == Scale::log) {
    return clamped((std::log(minval_ + static_cast<double>(level) * step_) - log_min_) /
                   (log_max_ - log_min_));
  }
  return static_cast<double>(level) / static_cast<double>(last_);
}

std::uint64_t Levels::at_unit(double coordinate) const noexcept {
  const double inside = clamped(coordinate);
  if (scale_ == Scale::log) {
    return nearest(std::exp(log_min_ + inside * (log_max_ - log_min_)));
  }
  const double level = std::round(inside * static_cast<double>(last_));
  return level < static_cast<double>(last_) ? static_cast<std::uint64_t>(level) : last_;
}

}  // namespace hpsearch::engine
