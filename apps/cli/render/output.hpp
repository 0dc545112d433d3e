#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// The output of a command. In table mode, standard output has text for people; in JSON mode, it has exactly
/// one JSON document per command (or, with follow, one per line): the data, or {"error": ...}. Messages
/// always go to standard error.
class Output {
 public:
  enum class Format { table, json };

  /// Reads the terminal and NO_COLOR, TERM and COLUMNS once.
  explicit Output(Format format);

  [[nodiscard]] bool json() const noexcept { return format_ == Format::json; }
  [[nodiscard]] bool colored() const noexcept { return colored_; }
  /// Standard output is a terminal that can be redrawn.
  [[nodiscard]] bool live() const noexcept { return live_; }
  /// Columns of the terminal now; 0 if there is none, and nothing should be cut.
  [[nodiscard]] std::size_t width() const noexcept;

  void data(const engine::Value& value) const;  ///< Pretty JSON on standard output.
  void line(const engine::Value& value) const;  ///< Compact JSON on one line.
  void print(std::string_view text) const;      ///< Unchanged, on standard output.
  void sentences(std::string_view text) const;  ///< The same, folded at the width of the terminal.
  void message(std::string_view text) const;    ///< On standard error, folded at the width of its terminal.

  /// A write to standard output failed, and not because its reader closed the pipe; `loss` describes it.
  [[nodiscard]] bool lost_data() const noexcept { return write_error_ != 0; }
  [[nodiscard]] std::string loss() const;

  /// Asks on the terminal. Null where no one can answer: JSON is wanted, there is no terminal, or the command
  /// runs in the background, where reading would stop it.
  [[nodiscard]] std::optional<bool> ask(std::string_view question) const;

  /// Prints the failure in the present format; returns the exit code.
  [[nodiscard]] int fail(const Failure& failure) const;

  enum class Color { plain, bold, dim, red, green, yellow, cyan };
  /// The text in that color if colors are shown, otherwise unchanged.
  [[nodiscard]] std::string paint(Color color, std::string_view text) const;
  /// errno of the first failed write.
  [[nodiscard]] std::string paint_state(std::string_view state) const;

 private:
  Format format_;
  bool live_ = false;
  bool colored_ = false;
  mutable int write_error_ = 0;  // errno of the first failed write.
};

}  // namespace hpsearch::cli
