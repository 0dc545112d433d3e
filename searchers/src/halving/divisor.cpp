#include "hpsearch/searchers/divisor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

namespace {

constexpr double two_to_64 = 18446744073709551616.0;

std::uint64_t floor_below_64_bits(double number) noexcept {
  return number < two_to_64 ? static_cast<std::uint64_t>(number) : UINT64_MAX;
}

}  // namespace

Divisor::Divisor(double value) noexcept
    : value_(value),
      whole_(value < two_to_64 && std::floor(value) == value ? static_cast<std::uint64_t>(value) : 0) {
  HPSEARCH_CHECK(value > 1, "a divisor is above 1");
}

Divisor::Exact Divisor::exact() const noexcept {
  constexpr int digits = std::numeric_limits<double>::digits;
  int exponent = 0;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::frexp(value_, &exponent), digits));
  const int even = std::countr_zero(mantissa);
  return {mantissa >> even, exponent - digits + even};
}

std::uint64_t Divisor::part_of(std::uint64_t n) const noexcept {
  return whole_ != 0 ? n / whole_ : floor_below_64_bits(static_cast<double>(n) / value_);
}

engine::Units Divisor::shorten(engine::Units length, std::uint64_t power) const noexcept {
  std::uint64_t left = engine::count(length);
  if (whole_ != 0) {
    // floor(floor(a / b) / c) is floor(a / (b·c)): no power is ever formed, so none overflows.
    for (; power > 0 && left > 0; --power) {
      left /= whole_;
    }
  } else if (power > 0) {
    double stretch = 1;
    for (; power > 0 && stretch <= two_to_64; --power) {
      stretch *= value_;
    }
    left = std::min(left, floor_below_64_bits(static_cast<double>(left) / stretch));
  }
  return engine::Units{std::max<std::uint64_t>(left, 1)};
}

std::uint64_t Divisor::log_of(std::uint64_t n, std::uint64_t most) const noexcept {
  std::uint64_t k = 0;
  if (whole_ != 0) {
    for (; n >= whole_ && k < most; n /= whole_) {
      ++k;
    }
    return k;
  }
  for (double power = value_; power <= static_cast<double>(n) && k < most; power *= value_) {
    ++k;
  }
  return k;
}

}  // namespace hpsearch::searchers
