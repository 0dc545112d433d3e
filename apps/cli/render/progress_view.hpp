#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

/// Shows a running search: a few lines redrawn in place on a terminal, otherwise a line now and then. Events
/// have lines of their own; on a terminal only important ones.
class ProgressView {
 public:
  explicit ProgressView(const Output& output) : output_(output) {}

  /// The present experiment (GET .../experiments/ID). Draws it, or prints a line if the last one is old.
  void show(const api::Experiment& detail);

  /// Prints a line that stays, above the view. On a terminal only `important` lines are shown.
  void say(const std::string& line, bool important);

  /// Removes the view from the terminal; printed lines stay.
  void clear();

 private:
  [[nodiscard]] std::string lines_of(const api::Experiment& detail, std::size_t width) const;
  [[nodiscard]] std::string one_line(const api::Experiment& detail) const;
  [[nodiscard]] std::string time_left(const api::Experiment& detail) const;
  void note_progress(double progress);
  void write(const std::string& text) const;

  const Output& output_;
  std::string drawn_;  // The text that is on the terminal now.
  std::size_t drawn_lines_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> last_line_at_;
  std::optional<double> first_progress_;
};

/// The estimated remaining time, from the duration of the first part; null while that is too short.
[[nodiscard]] std::optional<double> seconds_left(double progress_at_begin, double progress,
                                                 double seconds_so_far);

/// "[######------]", `width` columns wide.
[[nodiscard]] std::string bar_text(double fraction, std::size_t width);

}  // namespace hpsearch::cli
