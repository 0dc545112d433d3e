#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::yaml {

/// The text as it fits into a message: its first letters and "..." if it has more than `most`.
inline std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view dots = "...";
  std::size_t letters = 0;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (letters + dots.size() <= most) {
      end = at;
    }
    if (letters == most) {
      return std::string(text.substr(0, end)).append(dots);
    }
    at += std::max<std::size_t>(proto::utf8_length(text.substr(at, 4)), 1);
    ++letters;
  }
  return std::string(text);
}

}  // namespace hpsearch::yaml
