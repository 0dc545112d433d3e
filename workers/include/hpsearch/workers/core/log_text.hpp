#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// `line` without a terminal's escape sequences (ECMA-48: colours, cursor, titles); an incomplete one at the
/// end is removed, too.
[[nodiscard]] std::string without_escapes(std::string_view line);

/// The last whole lines that fit in `limit` bytes, as valid UTF-8; the end of the last line if it alone
/// doesn't fit.
[[nodiscard]] std::string last_lines(std::string_view text, std::size_t limit);

/// Splits a stream into lines, at LF and at CR (progress bars). Empty lines are left out. A line longer than
/// `longest` is dropped, so that memory is limited.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  /// Calls `line` for each line that ends within `bytes`. True if a line had to be dropped.
  bool feed(std::string_view bytes, const std::function<void(std::string_view)>& line);

  /// The same if only lines with `word` matter: others may be left out. Much faster if few lines have it,
  /// since the lines between them are not searched for.
  bool feed_lines_with(std::string_view word, std::string_view bytes,
                       const std::function<void(std::string_view)>& line);

  /// The stream has ended: the rest is a line, too.
  void finish(const std::function<void(std::string_view)>& line);

 private:
  std::size_t longest_;
  std::string held_;       ///< The incomplete line.
  bool too_long_ = false;  ///< The incomplete line is being dropped.
};

}  // namespace hpsearch::workers
