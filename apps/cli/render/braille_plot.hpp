#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::cli {

/// A curve in braille dots: `height` lines of `width` columns. A column has 2 × 4 dots. Points must be finite
/// pairs of step and value, sorted by step; neighbours are joined. Without points there are no lines.
[[nodiscard]] std::vector<std::string> braille_plot(const std::vector<std::pair<double, double>>& points,
                                                    std::size_t width, std::size_t height);

}  // namespace hpsearch::cli
