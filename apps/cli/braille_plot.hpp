#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::cli {

/// A curve in braille dots: `height` lines of `width` columns, each of which has 2 × 4 dots. Points are step
/// and value, finite, by step; neighbours are joined. No lines without points.
[[nodiscard]] std::vector<std::string> braille_plot(const std::vector<std::pair<double, double>>& points,
                                                    std::size_t width, std::size_t height);

}  // namespace hpsearch::cli
