#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::jobs {

/// A capturing group of a regular expression: its text from `(` to behind `)`.
struct RegexGroup {
  std::size_t begin;
  std::size_t end;
};

/// The capturing groups in the order of their numbers. A group that is not closed is left out. O(length).
[[nodiscard]] std::vector<RegexGroup> capture_groups(std::string_view regex);

/// A regular expression that matches only this text.
[[nodiscard]] std::string matching_exactly(std::string_view text);

}  // namespace hpsearch::jobs
