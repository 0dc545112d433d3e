#include "hpsearch/engine/config/placeholders.hpp"

#include <cstddef>

namespace hpsearch::engine {
namespace {

bool starts_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) noexcept {
  return starts_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// The end of the name that begins at `at`; `at` when none does.
std::size_t end_of_name(std::string_view text, std::size_t at) {
  std::size_t end = at;
  if (end < text.size() && starts_name(text[end])) {
    while (end < text.size() && continues_name(text[end])) {
      ++end;
    }
  }
  return end;
}

}  // namespace

std::vector<EntrypointPiece> pieces_of(std::string_view text) {
  std::vector<EntrypointPiece> pieces;
  const auto add = [&pieces](char c) {
    if (pieces.empty() || pieces.back().is_name) {
      pieces.emplace_back();
    }
    pieces.back().text.push_back(c);
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if ((c == '{' || c == '}') && at + 1 < text.size() && text[at + 1] == c) {
      add(c);
      at += 2;
      continue;
    }
    const bool opens = c == '{' && (at == 0 || text[at - 1] != '$');
    const std::size_t end = opens ? end_of_name(text, at + 1) : at;
    if (!opens || end == at + 1 || end >= text.size() || text[end] != '}') {
      add(c);
      ++at;
      continue;
    }
    pieces.push_back({std::string(text.substr(at + 1, end - at - 1)), true});
    at = end + 1;
  }
  return pieces;
}

}  // namespace hpsearch::engine
