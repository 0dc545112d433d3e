#include "cli/render/progress_view.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/render/fold.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/amount.hpp"

namespace hpsearch::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds between_lines{10};

std::string rungs_text(const api::Experiment& detail) {
  std::string out;
  for (const api::ReachedLength& rung : detail.rungs) {
    out += (out.empty() ? "" : "  ") + std::to_string(engine::count(rung.length)) + ": " +
           std::to_string(rung.reached);
  }
  return out;
}

std::string best_text(const api::Experiment& detail) {
  return detail.best ? printable(detail.metric) + " " + metric_text(detail.best->metric) + ", trial " +
                           std::to_string(detail.best->trial.number()) + " at " +
                           engine::amount(detail.best->step, printable(detail.unit))
                     : "none yet";
}

}  // namespace

std::optional<double> seconds_left(double progress_at_begin, double progress, double seconds_so_far) {
  const double done = progress - progress_at_begin;
  if (done < 0.01 || seconds_so_far < 3 || progress >= 1) {
    return std::nullopt;
  }
  return seconds_so_far / done * (1 - progress);
}

std::string bar_text(double fraction, std::size_t width) {
  if (width < 3) {
    return "";
  }
  const std::size_t inside = width - 2;
  const double filled = std::floor(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(inside));
  const auto marks = static_cast<std::size_t>(filled);
  return "[" + std::string(marks, '#') + std::string(inside - marks, '-') + "]";
}

void ProgressView::note_progress(double progress) {
  if (!first_progress_) {
    first_progress_ = progress;
    begin_ = steady_clock::now();
  }
}

std::string ProgressView::time_left(const api::Experiment& detail) const {
  if (!detail.best) {
    return "";  // Failed trials are no pace.
  }
  const double so_far = std::chrono::duration<double>(steady_clock::now() - begin_).count();
  const auto left = seconds_left(first_progress_.value_or(0), detail.progress.value_or(0), so_far);
  return left ? "about " + duration_text(*left) + " left" : "";
}

std::string ProgressView::lines_of(const api::Experiment& detail, std::size_t width) const {
  const double progress = detail.progress.value_or(0);
  const double so_far = std::chrono::duration<double>(steady_clock::now() - begin_).count();
  const std::string left = time_left(detail);
  const std::size_t columns = width > 1 ? width - 1 : 1;  // A full last column would wrap.
  std::string head = bar_text(progress, std::clamp<std::size_t>(columns / 3, 12, 40)) + " " +
                     percent_text(progress) + "  " + duration_text(so_far);
  head += left.empty() ? "" : ", " + left;
  if (detail.state != engine::ExperimentState::active) {
    head.append("  ").append(engine::name_of(detail.state));
  }
  std::vector<std::string> lines{head, "trials  " + states_text(detail.trials)};
  if (const std::string rungs = rungs_text(detail); !rungs.empty()) {
    lines.push_back("reached " + rungs);
  }
  lines.push_back("best    " + best_text(detail));
  if (const std::string failures = failures_text(detail); !failures.empty()) {
    lines.push_back(failures);
  }
  std::string out;
  for (const std::string& line : lines) {
    out += "\x1b[K" + cut_to_width(line, columns) + "\n";
  }
  return out;
}

std::string ProgressView::one_line(const api::Experiment& detail) const {
  const double progress = detail.progress.value_or(0);
  const std::string left = time_left(detail);
  return "progress " + percent_text(progress) + (left.empty() ? "" : ", " + left) + "; " +
         states_text(detail.trials) + "; best " + best_text(detail) +
         (detail.common_failure ? "; " + failures_text(detail) : "");
}

void ProgressView::write(const std::string& text) const {
  if (output_.json()) {
    // Standard output is then only for data.
    std::string line = text;
    if (!line.empty() && line.back() == '\n') {
      line.pop_back();
    }
    output_.message(line);
  } else {
    output_.print(text);
  }
}

void ProgressView::show(const api::Experiment& detail) {
  note_progress(detail.progress.value_or(0));
  if (output_.live()) {
    const std::string now = lines_of(detail, output_.width());
    const std::string up = drawn_lines_ == 0 ? "" : "\x1b[" + std::to_string(drawn_lines_) + "A";
    output_.print(up + now);
    drawn_ = now;
    drawn_lines_ = static_cast<std::size_t>(std::count(now.begin(), now.end(), '\n'));
    return;
  }
  const auto now = steady_clock::now();
  if (!last_line_at_) {
    last_line_at_ = now;  // The first events suffice.
  } else if (now - *last_line_at_ >= between_lines) {
    last_line_at_ = now;
    write(one_line(detail) + "\n");
  }
}

void ProgressView::say(const std::string& line, bool important) {
  if (!output_.live()) {
    write(line + "\n");
    return;
  }
  if (!important) {
    return;
  }
  // The line replaces the view, and the view is drawn again below it.
  const std::string up = drawn_lines_ == 0 ? "" : "\x1b[" + std::to_string(drawn_lines_) + "A";
  output_.print(up + "\x1b[J" + fold(line, output_.width()) + "\n" + drawn_);
}

void ProgressView::clear() {
  if (drawn_lines_ > 0) {
    output_.print("\x1b[" + std::to_string(drawn_lines_) + "A\x1b[J");
    drawn_.clear();
    drawn_lines_ = 0;
  }
}

}  // namespace hpsearch::cli
