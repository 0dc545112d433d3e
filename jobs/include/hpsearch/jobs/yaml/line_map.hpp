#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::yaml {

/// Where in a text each value of a tree stands: the same tree, with a line in place of each value.
///
/// A tree and not a table of paths, because paths repeat their prefixes: a hostile file of 256 KiB would make
/// gigabytes of them.
class LineMap {
 public:
  /// Line (from 1) of the value under a path as problems spell it ("searcher.max_trials", "a.vals[2].b"); of
  /// its nearest ancestor when the text has no such value; 0 when nothing was read at all.
  [[nodiscard]] std::size_t line_of(std::string_view path) const;

  [[nodiscard]] std::size_t line() const noexcept { return line_; }

  /// Of a member of this map, or an item of this list; empty when there is none.
  [[nodiscard]] LineMap member(std::string_view key) const;
  [[nodiscard]] LineMap item(std::size_t at) const { return at < items_.size() ? items_[at] : LineMap(); }

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

inline void LineMap::add_item(LineMap lines) {
  items_.push_back(std::move(lines));
}

}  // namespace hpsearch::yaml
