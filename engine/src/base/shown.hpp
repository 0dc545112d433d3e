#pragma once

#include <string>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {

/// A value as a message quotes it: compact JSON, cut when it is long.
[[nodiscard]] inline std::string shown(const Value& value) {
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

}  // namespace hpsearch::engine
