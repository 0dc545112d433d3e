#include "cli/render/curve_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cli/render/braille_plot.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

/// The cells of one axis.
struct Axis {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double number) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  /// The index of the cell, out of `cells`, that contains it.
  [[nodiscard]] std::size_t cell(double number, std::size_t cells) const {
    const double span = most - least;
    const double share = span > 0 ? (number - least) / span : 0.5;
    return std::min(cells - 1, static_cast<std::size_t>(std::lround(share * static_cast<double>(cells - 1))));
  }
};

/// The ranges of all points, and the room that the labels leave.
struct Frame {
  Axis steps;
  Axis values;
  std::string top;
  std::string bottom;
  std::size_t margin = 0;
  std::size_t columns = 0;
  std::size_t rows = 0;

  Frame(const std::vector<PlottedCurve>& curves, std::size_t width, std::size_t height) {
    constexpr std::size_t least_width = 20;
    for (const PlottedCurve& curve : curves) {
      for (const auto& [step, value] : curve.points) {
        steps.take(step);
        values.take(value);
      }
    }
    if (is_empty()) {
      return;
    }
    top = metric_text(values.most);
    bottom = metric_text(values.least);
    margin = std::max(top.size(), bottom.size());
    columns = std::max(width, least_width + margin + 2) - margin - 2;
    rows = std::max<std::size_t>(height, 2);
  }

  [[nodiscard]] bool is_empty() const { return !(steps.least <= steps.most); }

  /// The rows between the axes.
  [[nodiscard]] std::string around(const std::vector<std::string>& canvas) const {
    std::string out;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::string label = row == 0 ? top : row + 1 == rows ? bottom : "";
      std::string line = std::string(margin - label.size(), ' ') + label + " |" + canvas[row];
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
    const std::string first = engine::short_number(steps.least);
    const std::string last = engine::short_number(steps.most);
    const std::size_t taken = first.size() + last.size();
    out += std::string(margin + 1, ' ') + "+" + std::string(columns, '-') + "\n";
    out += std::string(margin + 2, ' ') + first + std::string(columns > taken ? columns - taken : 1, ' ') +
           last + "\n";
    return out;
  }
};

}  // namespace

std::string plot_text(const std::vector<PlottedCurve>& curves, std::size_t width, std::size_t height) {
  const Frame frame(curves, width, height);
  if (frame.is_empty()) {
    return "";
  }
  std::vector<std::string> canvas(frame.rows, std::string(frame.columns, ' '));
  for (auto curve = curves.rbegin(); curve != curves.rend(); ++curve) {
    for (const auto& [step, value] : curve->points) {
      canvas[frame.rows - 1 - frame.values.cell(value, frame.rows)][frame.steps.cell(step, frame.columns)] =
          curve->sign;
    }
  }
  return frame.around(canvas);
}

Output::Color curve_color(std::size_t place) noexcept {
  constexpr std::array colors{Output::Color::cyan, Output::Color::yellow, Output::Color::green,
                              Output::Color::red, Output::Color::bold};
  return colors[place % colors.size()];
}

std::string colored_plot_text(const std::vector<PlottedCurve>& curves, std::size_t width, std::size_t height,
                              const Output& output) {
  const Frame frame(curves, width, height);
  if (frame.is_empty()) {
    return "";
  }
  std::vector<BraillePoints> points;
  for (const PlottedCurve& curve : curves) {
    points.push_back(curve.points);
  }
  std::vector<std::string> canvas;
  for (const std::vector<BrailleCell>& cells : braille_cells(points, frame.columns, frame.rows)) {
    std::string& line = canvas.emplace_back();
    for (const BrailleCell& cell : cells) {
      line += cell.curve ? output.paint(curve_color(*cell.curve), cell.text) : " ";
    }
  }
  return frame.around(canvas);
}

}  // namespace hpsearch::cli
