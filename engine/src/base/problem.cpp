#include "hpsearch/engine/base/problem.hpp"

#include <algorithm>

namespace hpsearch::engine {

std::string describe(const Problem& problem) {
  std::string text;
  if (!problem.path.empty()) {
    text += problem.path;
    text += ": ";
  }
  text += problem.what;
  if (!problem.allowed.empty()) {
    text += " (";
    text += problem.allowed;
    text += ')';
  }
  // Names come from users; a message is one line without control characters.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  return text;
}

}  // namespace hpsearch::engine
