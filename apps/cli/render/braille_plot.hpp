#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::cli {

using BraillePoints = std::vector<std::pair<double, double>>;

/// A cell of a plot of several curves.
struct BrailleCell {
  std::string text;                  ///< One column.
  std::optional<std::size_t> curve;  ///< The first curve of the list that has a dot there.
};

/// Curves in braille dots over the range of all of them: `height` lines of `width` columns. A column has 2 ×
/// 4 dots. Points must be finite pairs of step and value, sorted by step; neighbours are joined. Without
/// points there are no lines.
[[nodiscard]] std::vector<std::vector<BrailleCell>> braille_cells(const std::vector<BraillePoints>& curves,
                                                                  std::size_t width, std::size_t height);
/// The same of one curve, as lines of text.
[[nodiscard]] std::vector<std::string> braille_plot(const BraillePoints& points, std::size_t width,
                                                    std::size_t height);

}  // namespace hpsearch::cli
