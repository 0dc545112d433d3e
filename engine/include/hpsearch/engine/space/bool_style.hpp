#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace hpsearch::engine {

/// How a program wants a boolean as text. argparse's `type=bool` takes every text that is not empty for true,
/// so no single spelling suits all programs.
enum class BoolStyle : std::uint8_t {
  python,       ///< True, False
  lower,        ///< true, false
  integer,      ///< 1, 0
  flag,         ///< In arguments: --name, or nothing at all. Elsewhere as `python`.
  empty_false,  ///< True, or the empty text
};

/// As experiment files spell them, in the enumerators' order.
inline constexpr std::array<std::string_view, 5> bool_style_names = {"python", "lower", "int", "flag",
                                                                     "empty_false"};

[[nodiscard]] constexpr std::string_view name_of(BoolStyle style) noexcept {
  return bool_style_names[static_cast<std::size_t>(style)];
}

[[nodiscard]] constexpr std::optional<BoolStyle> bool_style_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < bool_style_names.size(); ++i) {
    if (bool_style_names[i] == name) {
      return static_cast<BoolStyle>(i);
    }
  }
  return std::nullopt;
}

}  // namespace hpsearch::engine
