#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "hpsearch/proto/api/experiments.hpp"

namespace hpsearch::cli {

/// How a running search is shown: a few lines redrawn in place on a terminal, else a line now and then.
/// Events are lines of their own; on a terminal only those somebody should look at are.
class ProgressView {
 public:
  explicit ProgressView(const Output& output) : output_(output) {}

  /// The experiment as it stands (GET .../experiments/ID). Draws, or prints a line if the last one is old.
  void show(const api::Experiment& detail);

  /// A line that stays, above the view. `important` ones are also shown on a terminal.
  void say(const std::string& line, bool important);

  /// Takes the view off the terminal; what was said stays.
  void clear();

 private:
  [[nodiscard]] std::string lines_of(const api::Experiment& detail, std::size_t width) const;
  [[nodiscard]] std::string one_line(const api::Experiment& detail) const;
  [[nodiscard]] std::string time_left(double progress) const;
  void note_progress(double progress);
  void write(const std::string& text) const;

  const Output& output_;
  std::string drawn_;  // What is on the terminal now.
  std::size_t drawn_lines_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<std::chrono::steady_clock::time_point> last_line_at_;
  std::optional<double> first_progress_;
};

/// How long the rest may take, from how long the first part took; nothing while that says too little.
[[nodiscard]] std::optional<double> seconds_left(double progress_at_begin, double progress,
                                                 double seconds_so_far);

/// "[######------]", `width` columns wide.
[[nodiscard]] std::string bar_text(double fraction, std::size_t width);

}  // namespace hpsearch::cli
