#include "cli/render/braille_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hpsearch::cli {
namespace {

constexpr std::size_t dots_across = 2;
constexpr std::size_t dots_down = 4;
// The bits of a cell's dots, by row and column: Unicode numbers the dots of braille in this order.
constexpr std::uint8_t dot_bits[dots_down][dots_across] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

/// U+2800 + bits as UTF-8.
std::string cell_text(std::uint8_t bits) {
  return {'\xe2', static_cast<char>(0xa0 | (bits >> 6U)), static_cast<char>(0x80 | (bits & 0x3fU))};
}

}  // namespace

std::vector<std::string> braille_plot(const std::vector<std::pair<double, double>>& points, std::size_t width,
                                      std::size_t height) {
  if (points.empty() || width == 0 || height == 0) {
    return {};
  }
  const std::size_t across = width * dots_across;
  const std::size_t down = height * dots_down;
  const double first = points.front().first;
  const double steps = std::max(points.back().first - first, 1e-12);
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double bottom = least->second;
  const double range = most->second - bottom;
  std::vector<std::uint8_t> cells(width * height);
  const auto set = [&](double x, double y) {
    const auto column = std::min(across - 1, static_cast<std::size_t>(std::lround(x)));
    const auto row = std::min(down - 1, static_cast<std::size_t>(std::lround(y)));
    cells[row / dots_down * width + column / dots_across] |= dot_bits[row % dots_down][column % dots_across];
  };
  const auto x_of = [&](double step) { return (step - first) / steps * static_cast<double>(across - 1); };
  const auto y_of = [&](double value) {
    const double share = range > 0 ? (value - bottom) / range : 0.5;
    return (1 - share) * static_cast<double>(down - 1);
  };
  double x = x_of(points.front().first);
  double y = y_of(points.front().second);
  set(x, y);
  for (const auto& [step, value] : points) {
    const double to_x = x_of(step);
    const double to_y = y_of(value);
    const double dots = std::ceil(std::max({std::abs(to_x - x), std::abs(to_y - y), 1.0}));
    for (double i = 1; i <= dots; ++i) {
      set(x + (to_x - x) * i / dots, y + (to_y - y) * i / dots);
    }
    x = to_x;
    y = to_y;
  }
  std::vector<std::string> lines(height);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    lines[i / width] += cell_text(cells[i]);
  }
  return lines;
}

}  // namespace hpsearch::cli
