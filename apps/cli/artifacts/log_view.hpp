#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpsearch::cli {

/// What a program wrote, as people read it: a line that was drawn again and again (progress bars, by carriage
/// return) is its last state, escape sequences of terminals are left out, other control characters are "?".
/// Tabs stay.
///
/// Cost: linear in what is taken; of one line at most longest_line bytes are kept.
class LogView {
 public:
  static constexpr std::size_t longest_line = 1024 * 1024;

  /// The lines that end within `bytes`, each with its line feed.
  [[nodiscard]] std::string take(std::string_view bytes);

  /// The present state of the line that has not ended, without a line feed.
  [[nodiscard]] std::string unfinished() const;

  /// The output is over: what has not ended is a line too.
  [[nodiscard]] std::string finish();

 private:
  enum class Escape : unsigned char { none, begun, control, text, text_end };

  [[nodiscard]] bool escapes(char byte) noexcept;

  std::string drawn_;    ///< What the line was before its last carriage return.
  std::string drawing_;  ///< What it is since then.
  Escape escape_ = Escape::none;
};

}  // namespace hpsearch::cli
