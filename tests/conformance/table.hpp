#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::conformance {

/// A line of a table: something that is so (`int a minval=0 maxval=9`), or a question and what must be
/// answered (`point 0 -> a=0`). README.md in this folder says what each family of tables can ask.
struct Line {
  std::string where;  ///< file:line
  std::vector<std::string> words;
  std::optional<std::string> answer;  ///< The answer to a question; single blanks between its words.
};

/// Everything below one `case NAME`.
struct Case {
  std::string name;  ///< With the table's before it: IntAxesEveryInteger.
  std::vector<Line> lines;
};

/// How GoogleTest shows a case.
void PrintTo(const Case& one, std::ostream* out);

/// All cases of all tables (*.txt) of a folder, files in order of their names. Throws std::runtime_error with
/// file and line for what is no table, when there is none, and for a table without a case or a case without a
/// question.
[[nodiscard]] std::vector<Case> read_tables(const std::string& folder);

/// null, true, false, a number, "text" or [value,value]; no blanks inside.
[[nodiscard]] engine::Value value_from(std::string_view text);

/// name=value words from the `first` on; throws std::runtime_error for others.
[[nodiscard]] std::vector<std::pair<std::string, engine::Value>> assignments(
    const std::vector<std::string>& words, std::size_t first = 0);

[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

/// Into a tree of maps; dots in `path` nest.
void put(engine::Value& tree, std::string_view path, engine::Value value);

}  // namespace hpsearch::conformance
