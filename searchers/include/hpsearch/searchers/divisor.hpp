#pragma once

#include <cstdint>

#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::searchers {

/// The number d > 1 by which halving thins its trials and stretches their lengths.
///
/// An integral d is worked with in integers, so floor(n / d) and its powers are exact for every 64-bit n. Any
/// other d is a double, and quotients and powers round as a double does: floor(11 / 1.1) is 10, as people
/// expect it. Where trials are shared out among brackets exact() is taken, which rounds nothing.
class Divisor {
 public:
  explicit Divisor(double value) noexcept;

  [[nodiscard]] double value() const noexcept { return value_; }

  /// d itself when it is an integer below 2^64, else 0.
  [[nodiscard]] std::uint64_t whole() const noexcept { return whole_; }

  /// d = odd · 2^twos.
  struct Exact {
    std::uint64_t odd = 1;
    int twos = 0;
  };
  [[nodiscard]] Exact exact() const noexcept;

  /// floor(n / d)
  [[nodiscard]] std::uint64_t part_of(std::uint64_t n) const noexcept;

  /// max(floor(length / d^power), 1)
  [[nodiscard]] engine::Units shorten(engine::Units length, std::uint64_t power) const noexcept;

  /// The largest k up to `most` with d^k <= n; of a d that is no integer, as doubles have it. Powers by
  /// multiplication: a logarithm in floating point puts log_3(243) below 5. O(most), as a divisor may be as
  /// close to 1 as a double can be.
  [[nodiscard]] std::uint64_t log_of(std::uint64_t n, std::uint64_t most) const noexcept;

 private:
  double value_;
  std::uint64_t whole_;
};

}  // namespace hpsearch::searchers
