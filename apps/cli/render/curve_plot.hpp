#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cli/render/output.hpp"

namespace hpsearch::cli {

/// A curve of a plot: its points by step.
struct PlottedCurve {
  char sign = '*';
  std::vector<std::pair<double, double>> points;  ///< Step and value, finite.
};

/// The same for a terminal with colours: in braille dots, each curve in the colour of its place
/// (curve_color).
[[nodiscard]] std::string colored_plot_text(const std::vector<PlottedCurve>& curves, std::size_t width,
                                            std::size_t height, const Output& output);
[[nodiscard]] Output::Color curve_color(std::size_t place) noexcept;

/// The curves in `width` columns and `height` rows of text, with the range of the values at the left and of
/// the steps below. Where curves overlap, the earlier one in the list is visible. "" without points.
[[nodiscard]] std::string plot_text(const std::vector<PlottedCurve>& curves, std::size_t width,
                                    std::size_t height);

}  // namespace hpsearch::cli
