#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Where a command's words go. In table mode data are for eyes; in JSON mode standard output carries exactly
/// one JSON document per command (or, followed, one per line) and nothing else: the data, or {"error": ...}.
/// Messages always go to standard error.
class Output {
 public:
  enum class Format { table, json };

  /// Looks at the terminal and at NO_COLOR, TERM and COLUMNS once.
  explicit Output(Format format);

  [[nodiscard]] bool json() const noexcept { return format_ == Format::json; }
  [[nodiscard]] bool colored() const noexcept { return colored_; }
  /// Standard output is a terminal that can be redrawn.
  [[nodiscard]] bool live() const noexcept { return live_; }
  /// Columns of the terminal now; 0 when there is none, and nothing should be cut.
  [[nodiscard]] std::size_t width() const noexcept;

  void data(const engine::Value& value) const;  ///< Pretty JSON on standard output.
  void line(const engine::Value& value) const;  ///< Compact JSON on one line.
  void print(std::string_view text) const;      ///< As it is, on standard output.
  void message(std::string_view text) const;    ///< One line on standard error.

  /// Something meant for standard output is lost, and not because its reader went away; `loss` says why.
  [[nodiscard]] bool lost_data() const noexcept { return write_error_ != 0; }
  [[nodiscard]] std::string loss() const;

  /// Says the failure in the format's way; returns what the program ends with.
  [[nodiscard]] int fail(const Failure& failure) const;

  enum class Color { plain, bold, dim, red, green, yellow, cyan };
  /// The text in that color where colors are shown, else as it is.
  [[nodiscard]] std::string paint(Color color, std::string_view text) const;
  /// A state's name in its color.
  [[nodiscard]] std::string paint_state(std::string_view state) const;

 private:
  Format format_;
  bool live_ = false;
  bool colored_ = false;
  mutable int write_error_ = 0;  // errno of the first failed write.
};

}  // namespace hpsearch::cli
