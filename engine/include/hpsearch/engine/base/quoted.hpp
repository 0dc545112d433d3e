#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {

/// A value as a message quotes it: compact JSON, cut when it is long.
[[nodiscard]] inline std::string quoted(const Value& value) {
  constexpr std::size_t longest = 60;
  std::string text = compact_json(value);
  if (text.size() <= longest) {
    return text;
  }
  std::size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) {
    --cut;  // Not in the middle of a letter.
  }
  text.resize(cut);
  return text += "…";
}

/// "a, b or c": the ends of sentences about what is allowed.
[[nodiscard]] inline std::string any_of(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) {
      text += i + 1 == names.size() ? " or " : ", ";
    }
    text += names[i];
  }
  return text;
}

}  // namespace hpsearch::engine
