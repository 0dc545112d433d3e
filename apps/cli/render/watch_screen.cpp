#include "cli/render/watch_screen.hpp"

#include <algorithm>

#include "cli/render/braille_plot.hpp"
#include "cli/render/progress_view.hpp"
#include "cli/render/shapes.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/amount.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
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

std::string title(const Value& detail, double now) {
  const double ended = number_at(detail, "ended_at", now);
  const std::string name = printable(text_at(detail, "name"));
  return "experiment " + std::to_string(count_at(detail, "id")) + (name.empty() ? "" : "  " + name) + "  " +
         text_at(detail, "state") + "  " +
         duration_text(std::max(0.0, ended - number_at(detail, "created_at", now)));
}

std::string best_line(const Value& detail) {
  const Value& best = member(detail, "best");
  if (best.is_null()) {
    return "best    none yet";
  }
  return "best    " + printable(text_at(detail, "metric")) + " " + metric_or_dash(member(best, "metric")) +
         ", trial " + std::to_string(count_at(best, "trial")) + " at " +
         engine::amount(engine::Units{count_at(best, "step")}, printable(text_at(detail, "unit")));
}

/// One row for each length that trials were asked for, with how many reached it.
std::vector<std::string> rung_rows(const Value& detail, std::size_t width, std::size_t most) {
  const Value::List& rungs = list_at(detail, "rungs");
  std::uint64_t largest = 1;
  std::size_t digits = 1;
  for (const Value& rung : rungs) {
    largest = std::max(largest, count_at(rung, "reached"));
    digits = std::max(digits, std::to_string(count_at(rung, "length")).size());
  }
  std::vector<std::string> rows{"RUNGS  (" + printable(text_at(detail, "unit")) + ": trials that got there)"};
  const std::size_t first = rungs.size() > most ? rungs.size() - most : 0;
  for (std::size_t i = first; i < rungs.size(); ++i) {
    const std::uint64_t reached = count_at(rungs[i], "reached");
    const std::string length = std::to_string(count_at(rungs[i], "length"));
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
  const Value& best = member(search.detail, "best");
  if (best.is_null() || search.curve.empty()) {
    return {"BEST TRIAL", "  no reports yet"};
  }
  std::vector<std::string> rows{"BEST TRIAL  (trial " + std::to_string(count_at(best, "trial")) + ", " +
                                printable(text_at(search.detail, "metric")) + ")"};
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

bool is_true(const Value& value) {
  const bool* flag = value.as_bool();
  return flag != nullptr && *flag;
}

std::string worker_state(const Value& worker) {
  return !text_at(worker, "quarantined").empty() ? "quarantined"
         : !is_true(member(worker, "connected")) ? "away"
         : is_true(member(worker, "suspect"))    ? "suspect"
         : !text_at(worker, "resting").empty()   ? "resting"
                                                 : "ready";
}

std::vector<ScreenLine> worker_lines(const WatchedSearch& search, std::size_t width, std::size_t most) {
  std::vector<const Value*> present;
  std::uint64_t slots = 0;
  for (const Value& worker : search.workers) {
    if (is_true(member(worker, "present"))) {
      present.push_back(&worker);
      slots += count_at(worker, "slots");
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
    const Value& worker = *present[i];
    const std::string state = worker_state(worker);
    lines.push_back({cut_to_width("  " + padded(printable(text_at(worker, "name")), 20) + " " +
                                      padded(state, 12) + counted(count_at(worker, "slots"), "slot") + ", " +
                                      counted(list_at(worker, "attempts").size(), "trial") + " running",
                                  width),
                     state == "ready" ? Look::plain : Look::trouble});
  }
  return lines;
}

}  // namespace

std::vector<ScreenLine> watch_screen(const WatchedSearch& search, std::size_t width, std::size_t height,
                                     double now) {
  const Value& detail = search.detail;
  std::vector<ScreenLine> lines;
  const double progress = number_at(detail, "progress");
  lines.push_back({with_right(title(detail, now), search.away ? "the daemon is away" : "q quits", width),
                   search.away ? Look::trouble : Look::title});
  lines.push_back({cut_to_width(
      bar_text(progress, std::clamp<std::size_t>(width / 2, 12, 60)) + " " + percent_text(progress), width)});
  lines.push_back({cut_to_width("trials  " + states_text(member(detail, "trials")), width)});
  lines.push_back({cut_to_width(best_line(detail), width), Look::good});
  if (const std::string why = text_at(detail, "waits_for"); !why.empty()) {
    lines.push_back({cut_to_width("waits   " + printable(why), width), Look::trouble});
  }
  lines.push_back({});

  // The rungs at the left, the curve at the right; then workers and, in what is left, decisions.
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
