#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpsearch::cli {

/// Output of a program as people read it: of a line that was overwritten repeatedly (progress bars, by
/// carriage return) the last state; without escape sequences of terminals; other control characters are "?".
/// Tabs stay.
///
/// Cost: linear in the input; at most longest_line bytes of one line are kept.
class LogView {
 public:
  static constexpr std::size_t longest_line = 1024 * 1024;

  /// The lines that end within `bytes`, each with its line feed.
  [[nodiscard]] std::string take(std::string_view bytes);

  /// The present state of the unfinished line, without a line feed.
  [[nodiscard]] std::string unfinished() const;

  /// Call at the end of the output: an unfinished line is a line too.
  [[nodiscard]] std::string finish();

 private:
  enum class Escape : unsigned char { none, begun, control, text, text_end };

  [[nodiscard]] bool escapes(char byte) noexcept;

  std::string drawn_;    ///< The line before its last carriage return.
  std::string drawing_;  ///< The line since then.
  Escape escape_ = Escape::none;
};

}  // namespace hpsearch::cli
