#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// `line` without a terminal's escape sequences (ECMA-48: colours, cursor, titles); what is cut off at the
/// end of the line goes too.
[[nodiscard]] std::string without_escapes(std::string_view line);

/// The last whole lines that fit in `limit` bytes, clean UTF-8; the end of the last line when not even that
/// fits.
[[nodiscard]] std::string last_lines(std::string_view text, std::size_t limit);

/// Cuts a stream into lines, at LF and at CR (progress bars). Empty lines are left out. A line longer than
/// `longest` is dropped as a whole; its length is not limited by memory then.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  /// Calls `line` for each line that ends within `bytes`. True if a line had to be dropped.
  bool feed(std::string_view bytes, const std::function<void(std::string_view)>& line);

  /// The same if only lines with `word` matter: others may be left out. Much cheaper if few lines have it,
  /// since the lines between them are not searched for.
  bool feed_lines_with(std::string_view word, std::string_view bytes,
                       const std::function<void(std::string_view)>& line);

  /// The stream is over: what is left is a line too.
  void finish(const std::function<void(std::string_view)>& line);

 private:
  std::size_t longest_;
  std::string held_;       ///< The begun line.
  bool too_long_ = false;  ///< The begun line is being dropped.
};

}  // namespace hpsearch::workers
