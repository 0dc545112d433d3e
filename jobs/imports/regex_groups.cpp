#include "imports/regex_groups.hpp"

#include <algorithm>

namespace hpsearch::jobs {

std::vector<RegexGroup> capture_groups(std::string_view regex) {
  constexpr std::size_t not_capturing = std::string_view::npos;
  std::vector<RegexGroup> groups;
  std::vector<std::size_t> open;  // The index of each open group in `groups`.
  bool in_class = false;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const char c = regex[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(') {
      const std::string_view behind = regex.substr(i + 1);
      const bool captures = !behind.starts_with('?') || behind.starts_with("?P<") || behind.starts_with("?<");
      open.push_back(captures ? groups.size() : not_capturing);
      if (captures) {
        groups.push_back({i, 0});
      }
    } else if (c == ')' && !open.empty()) {
      if (open.back() != not_capturing) {
        groups[open.back()].end = i + 1;
      }
      open.pop_back();
    }
  }
  groups.erase(
      std::remove_if(groups.begin(), groups.end(), [](const RegexGroup& group) { return group.end == 0; }),
      groups.end());
  return groups;
}

std::string matching_exactly(std::string_view text) {
  std::string regex;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) {
      regex += '\\';
    }
    regex += c;
  }
  return regex;
}

}  // namespace hpsearch::jobs
