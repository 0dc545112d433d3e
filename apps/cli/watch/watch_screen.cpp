#include "cli/watch/watch_screen.hpp"

#include <algorithm>

#include "cli/render/braille_plot.hpp"
#include "cli/render/progress_view.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/amount.hpp"

namespace hpsearch::cli {
namespace {

using Look = ScreenLine::Look;

constexpr std::size_t least_plot_rows = 5;
constexpr std::size_t most_plot_rows = 12;
constexpr std::size_t between_columns = 2;

std::string padded(const std::string& text, std::size_t width) {
  const std::string cut = cut_to_width(text, width);
  return cut + std::string(width - std::min(width, display_width(cut)), ' ');
}

std::string with_right(const std::string& left, const std::string& right, std::size_t width) {
  const std::size_t taken = display_width(right);
  return taken + 10 > width ? cut_to_width(left, width) : padded(left, width - taken) + right;
}

std::string title(const api::Experiment& detail, double now) {
  const std::string name = printable(detail.name);
  return "experiment " + std::to_string(detail.id.number()) + (name.empty() ? "" : "  " + name) + "  " +
         std::string(engine::name_of(detail.state)) + "  " +
         duration_text(std::max(0.0, detail.ended_at.value_or(now) - detail.created_at));
}

std::string best_line(const api::Experiment& detail) {
  if (!detail.best) {
    return "best    none yet";
  }
  return "best    " + printable(detail.metric) + " " + metric_text(detail.best->metric) + ", trial " +
         std::to_string(detail.best->trial.number()) + " at " +
         engine::amount(detail.best->step, printable(detail.unit));
}

/// One row for each length of trials, with the number of trials that reached it.
std::vector<std::string> rung_rows(const api::Experiment& detail, std::size_t width, std::size_t most) {
  const std::vector<api::ReachedLength>& rungs = detail.rungs;
  std::uint64_t largest = 1;
  std::size_t digits = 1;
  for (const api::ReachedLength& rung : rungs) {
    largest = std::max(largest, rung.reached);
    digits = std::max(digits, std::to_string(engine::count(rung.length)).size());
  }
  std::vector<std::string> rows{"RUNGS  (" + printable(detail.unit) + ": trials that got there)"};
  const std::size_t first = rungs.size() > most ? rungs.size() - most : 0;
  for (std::size_t i = first; i < rungs.size(); ++i) {
    const std::uint64_t reached = rungs[i].reached;
    const std::string length = std::to_string(engine::count(rungs[i].length));
    const std::size_t room = width > digits + 12 ? width - digits - 12 : 1;
    const std::size_t bar = std::max<std::size_t>(reached > 0 ? 1 : 0, reached * room / largest);
    rows.push_back(std::string(digits - length.size() + 2, ' ') + length + "  " + std::string(bar, '#') +
                   (bar > 0 ? " " : "") + std::to_string(reached));
  }
  if (rungs.empty()) {
    rows.emplace_back("  none yet");
  }
  return rows;
}

std::vector<std::string> curve_rows(const WatchedSearch& search, std::size_t width, std::size_t height) {
  if (!search.detail.best || search.curve.empty()) {
    return {"BEST TRIAL", "  no reports yet"};
  }
  std::vector<std::string> rows{"BEST TRIAL  (trial " + std::to_string(search.detail.best->trial.number()) +
                                ", " + printable(search.detail.metric) + ")"};
  const auto [least, most] =
      std::minmax_element(search.curve.begin(), search.curve.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string top = metric_text(most->second);
  const std::string bottom = metric_text(least->second);
  const std::size_t labels = std::max(display_width(top), display_width(bottom));
  const std::vector<std::string> plot =
      width > labels + 4 ? braille_plot(search.curve, width - labels - 2, height > 2 ? height - 2 : 1)
                         : std::vector<std::string>();
  for (std::size_t i = 0; i < plot.size(); ++i) {
    const std::string label = i == 0 ? top : i + 1 == plot.size() ? bottom : "";
    rows.push_back(std::string(labels - display_width(label), ' ') + label + " " + plot[i]);
  }
  rows.push_back(std::string(labels + 1, ' ') + with_right(metric_text(search.curve.front().first),
                                                           metric_text(search.curve.back().first),
                                                           width > labels + 2 ? width - labels - 2 : 1));
  return rows;
}

std::string worker_state(const api::Worker& worker) {
  return worker.quarantined  ? "quarantined"
         : !worker.connected ? "away"
         : worker.suspect    ? "suspect"
         : worker.resting    ? "resting"
                             : "ready";
}

std::vector<ScreenLine> worker_lines(const WatchedSearch& search, std::size_t width, std::size_t most) {
  std::vector<const api::Worker*> present;
  std::uint64_t slots = 0;
  for (const api::Worker& worker : search.workers) {
    if (worker.present) {
      present.push_back(&worker);
      slots += worker.slots;
    }
  }
  std::vector<ScreenLine> lines{
      {cut_to_width("WORKERS  (" + counted(present.size(), "worker") + ", " + counted(slots, "slot") + ")",
                    width),
       Look::dim}};
  for (std::size_t i = 0; i < present.size() && lines.size() < most; ++i) {
    if (lines.size() + 1 == most && i + 1 < present.size()) {
      lines.push_back({"  and " + std::to_string(present.size() - i) + " more", Look::plain});
      break;
    }
    const api::Worker& worker = *present[i];
    const std::string state = worker_state(worker);
    lines.push_back({cut_to_width("  " + padded(printable(worker.name), 20) + " " + padded(state, 12) +
                                      counted(worker.slots, "slot") + ", " +
                                      counted(worker.attempts.size(), "trial") + " running",
                                  width),
                     state == "ready" ? Look::plain : Look::trouble});
  }
  return lines;
}

}  // namespace

std::vector<ScreenLine> watch_screen(const WatchedSearch& search, std::size_t width, std::size_t height,
                                     double now) {
  const api::Experiment& detail = search.detail;
  std::vector<ScreenLine> lines;
  const double progress = detail.progress.value_or(0);
  lines.push_back({with_right(title(detail, now), search.away ? "the daemon is away" : "q quits", width),
                   search.away ? Look::trouble : Look::title});
  lines.push_back({cut_to_width(
      bar_text(progress, std::clamp<std::size_t>(width / 2, 12, 60)) + " " + percent_text(progress), width)});
  lines.push_back({cut_to_width("trials  " + states_text(detail.trials), width)});
  lines.push_back({cut_to_width(best_line(detail), width), Look::good});
  if (const std::string why = detail.waits_for.value_or(""); !why.empty()) {
    lines.push_back({cut_to_width("waits   " + printable(why), width), Look::trouble});
  }
  lines.push_back({});

  // The rungs at the left, the curve at the right; then workers and, in the remaining lines, decisions.
  const std::size_t left = height > lines.size() ? height - lines.size() : 0;
  const std::size_t plot = std::clamp(left * 2 / 5, least_plot_rows, most_plot_rows);
  const std::size_t half = width / 2 > between_columns ? width / 2 - between_columns : width;
  const std::vector<std::string> rungs = rung_rows(detail, half, plot - 1);
  const std::vector<std::string> curve = curve_rows(search, width - half - between_columns, plot);
  for (std::size_t i = 0; i < std::max(rungs.size(), curve.size()); ++i) {
    const std::string at_left = i < rungs.size() ? rungs[i] : "";
    const std::string at_right = i < curve.size() ? curve[i] : "";
    lines.push_back({padded(at_left, half) + std::string(between_columns, ' ') +
                         cut_to_width(at_right, width - half - between_columns),
                     i == 0 ? Look::dim : Look::plain});
  }
  lines.push_back({});
  for (ScreenLine& line : worker_lines(search, width, std::max<std::size_t>(3, left / 5))) {
    lines.push_back(std::move(line));
  }
  lines.push_back({});
  lines.push_back({"LAST DECISIONS", Look::dim});
  const std::size_t room = height > lines.size() ? height - lines.size() : 0;
  const std::size_t first = search.decisions.size() > room ? search.decisions.size() - room : 0;
  for (std::size_t i = first; i < search.decisions.size(); ++i) {
    lines.push_back({cut_to_width("  " + search.decisions[i].text, width),
                     search.decisions[i].trouble ? Look::trouble : Look::plain});
  }
  lines.resize(std::min(lines.size(), height));
  return lines;
}

}  // namespace hpsearch::cli
