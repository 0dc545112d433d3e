#pragma once

#include <compare>
#include <cstdint>

namespace hpsearch::engine {

/// A length of time in microseconds.
class Duration {
 public:
  constexpr Duration() = default;
  [[nodiscard]] static constexpr Duration micros(std::int64_t n) noexcept { return Duration(n); }
  [[nodiscard]] static constexpr Duration millis(std::int64_t n) noexcept { return Duration(n * 1'000); }
  [[nodiscard]] static constexpr Duration seconds(std::int64_t n) noexcept { return Duration(n * 1'000'000); }
  [[nodiscard]] constexpr std::int64_t in_micros() const noexcept { return micros_; }
  [[nodiscard]] constexpr double in_seconds() const noexcept { return static_cast<double>(micros_) / 1e6; }
  friend constexpr auto operator<=>(Duration, Duration) noexcept = default;
  friend constexpr Duration operator+(Duration a, Duration b) noexcept {
    return Duration(a.micros_ + b.micros_);
  }
  friend constexpr Duration operator-(Duration a, Duration b) noexcept {
    return Duration(a.micros_ - b.micros_);
  }

 private:
  constexpr explicit Duration(std::int64_t n) noexcept : micros_(n) {}
  std::int64_t micros_ = 0;
};

/// What the shell says the time is: microseconds since the Unix epoch, never going back, not even over a
/// restart. The engine owns no clock; an Instant is always an argument.
class Instant {
 public:
  constexpr Instant() = default;
  [[nodiscard]] static constexpr Instant from_micros(std::int64_t n) noexcept { return Instant(n); }
  [[nodiscard]] constexpr std::int64_t micros() const noexcept { return micros_; }
  friend constexpr auto operator<=>(Instant, Instant) noexcept = default;
  friend constexpr Duration operator-(Instant a, Instant b) noexcept {
    return Duration::micros(a.micros_ - b.micros_);
  }
  friend constexpr Instant operator+(Instant a, Duration d) noexcept {
    return Instant(a.micros_ + d.in_micros());
  }
  friend constexpr Instant operator-(Instant a, Duration d) noexcept {
    return Instant(a.micros_ - d.in_micros());
  }

 private:
  constexpr explicit Instant(std::int64_t n) noexcept : micros_(n) {}
  std::int64_t micros_ = 0;
};

}  // namespace hpsearch::engine
