#include "cli/render/braille_plot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

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

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void take(double number) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  /// 0 to 1; a half if all numbers are equal.
  [[nodiscard]] double share(double number) const {
    return most > least ? (number - least) / (most - least) : 0.5;
  }
};

}  // namespace

std::vector<std::vector<BrailleCell>> braille_cells(const std::vector<BraillePoints>& curves,
                                                    std::size_t width, std::size_t height) {
  Range steps;
  Range values;
  for (const BraillePoints& points : curves) {
    for (const auto& [step, value] : points) {
      steps.take(step);
      values.take(value);
    }
  }
  if (!(steps.least <= steps.most) || width == 0 || height == 0) {
    return {};
  }
  const std::size_t across = width * dots_across;
  const std::size_t down = height * dots_down;
  std::vector<std::uint8_t> dots(width * height);
  std::vector<std::optional<std::size_t>> owners(width * height);
  for (std::size_t curve = 0; curve < curves.size(); ++curve) {
    const auto set = [&](double x, double y) {
      const auto column = std::min(across - 1, static_cast<std::size_t>(std::lround(x)));
      const auto row = std::min(down - 1, static_cast<std::size_t>(std::lround(y)));
      const std::size_t cell = row / dots_down * width + column / dots_across;
      dots[cell] |= dot_bits[row % dots_down][column % dots_across];
      owners[cell] = owners[cell].value_or(curve);
    };
    std::optional<std::pair<double, double>> before;
    for (const auto& [step, value] : curves[curve]) {
      const double to_x =
          (steps.most > steps.least ? steps.share(step) : 0) * static_cast<double>(across - 1);
      const double to_y = (1 - values.share(value)) * static_cast<double>(down - 1);
      const auto [x, y] = before.value_or(std::pair(to_x, to_y));
      const double joined = std::ceil(std::max({std::abs(to_x - x), std::abs(to_y - y), 1.0}));
      for (double i = before ? 1 : 0; i <= joined; ++i) {
        set(x + (to_x - x) * i / joined, y + (to_y - y) * i / joined);
      }
      before = {to_x, to_y};
    }
  }
  std::vector<std::vector<BrailleCell>> lines(height);
  for (std::size_t i = 0; i < dots.size(); ++i) {
    lines[i / width].push_back({cell_text(dots[i]), owners[i]});
  }
  return lines;
}

std::vector<std::string> braille_plot(const BraillePoints& points, std::size_t width, std::size_t height) {
  std::vector<std::string> lines;
  for (const std::vector<BrailleCell>& cells : braille_cells({points}, width, height)) {
    std::string& line = lines.emplace_back();
    for (const BrailleCell& cell : cells) {
      line += cell.text;
    }
  }
  return lines;
}

}  // namespace hpsearch::cli
