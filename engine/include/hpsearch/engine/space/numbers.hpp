#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// An integer, or a real that is one (`1e3`), as an integer; nothing for everything else.
[[nodiscard]] inline std::optional<std::int64_t> whole_number(const Value& value) noexcept {
  if (const auto* integer = value.as_integer()) {
    return *integer;
  }
  // Beyond 2^53 a real no longer says which integer was meant.
  if (const auto* real = value.as_real();
      real != nullptr && std::abs(*real) <= 0x1p53 && *real == std::trunc(*real)) {
    return static_cast<std::int64_t>(*real);
  }
  return std::nullopt;
}

/// A finite number as a double; nothing for everything else.
[[nodiscard]] inline std::optional<double> finite_number(const Value& value) noexcept {
  const double number = value.number_or(std::nan(""));
  return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

}  // namespace hpsearch::engine
