#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::yaml {

/// The line of each value of a tree in its text: the same tree, with a line in place of each value.
///
/// It is a tree and no table of paths, because paths repeat their prefixes: for a hostile file of 256 KiB the
/// table would have gigabytes.
class LineMap {
 public:
  /// The line (from 1) of the value at a path as problems spell it ("searcher.max_trials", "a.vals[2].b"), or
  /// of its nearest ancestor if the text has no such value; 0 if nothing was read.
  [[nodiscard]] std::size_t line_of(std::string_view path) const;

  [[nodiscard]] std::size_t line() const noexcept { return line_; }

  /// The lines of a member of this map, or of an item of this list; empty if there is none.
  [[nodiscard]] LineMap member(std::string_view key) const;
  [[nodiscard]] LineMap item(std::size_t at) const;

  // --- for the reader that builds it ---

  void set_line(std::size_t line) noexcept { line_ = line; }
  void add_member(std::string key, LineMap lines);  ///< In ascending order of keys.
  void add_item(LineMap lines);

 private:
  struct Member;
  std::size_t line_ = 0;
  std::vector<Member> members_;  // Sorted by key.
  std::vector<LineMap> items_;
};

struct LineMap::Member {
  std::string key;
  LineMap lines;
};

inline LineMap LineMap::item(std::size_t at) const {
  return at < items_.size() ? items_[at] : LineMap();
}

inline void LineMap::add_item(LineMap lines) {
  items_.push_back(std::move(lines));
}

}  // namespace hpsearch::yaml
