#include "cli/render/curve_plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::cli {
namespace {

struct Range {
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

}  // namespace

std::string plot_text(const std::vector<PlottedCurve>& curves, std::size_t width, std::size_t height) {
  constexpr std::size_t least_width = 20;
  Range steps;
  Range values;
  for (const PlottedCurve& curve : curves) {
    for (const auto& [step, value] : curve.points) {
      steps.take(step);
      values.take(value);
    }
  }
  if (!(steps.least <= steps.most)) {
    return "";
  }
  const std::string top = metric_text(values.most);
  const std::string bottom = metric_text(values.least);
  const std::size_t margin = std::max(top.size(), bottom.size());
  const std::size_t columns = std::max(width, least_width + margin + 2) - margin - 2;
  const std::size_t rows = std::max<std::size_t>(height, 2);
  std::vector<std::string> canvas(rows, std::string(columns, ' '));
  for (auto curve = curves.rbegin(); curve != curves.rend(); ++curve) {
    for (const auto& [step, value] : curve->points) {
      canvas[rows - 1 - values.cell(value, rows)][steps.cell(step, columns)] = curve->sign;
    }
  }
  std::string out;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string label = row == 0 ? top : row + 1 == rows ? bottom : "";
    std::string line = std::string(margin - label.size(), ' ') + label + " |" + canvas[row];
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  const std::string first = engine::short_number(steps.least);
  const std::string last = engine::short_number(steps.most);
  const std::size_t between = columns > first.size() + last.size() ? columns - first.size() - last.size() : 1;
  out += std::string(margin + 1, ' ') + "+" + std::string(columns, '-') + "\n";
  out += std::string(margin + 2, ' ') + first + std::string(between, ' ') + last + "\n";
  return out;
}

}  // namespace hpsearch::cli
