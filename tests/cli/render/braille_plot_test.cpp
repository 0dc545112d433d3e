#include "cli/render/braille_plot.hpp"

#include <gtest/gtest.h>

#include "cli/render/text.hpp"

namespace hpsearch::cli {
namespace {

TEST(BraillePlot, ARisingLineGoesFromCornerToCorner) {
  const auto lines = braille_plot({{0, 0}, {1, 1}}, 2, 1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.front(), "⡠⠊");
}

TEST(BraillePlot, EveryLineHasItsWidth) {
  for (const std::size_t width : {1U, 7U, 40U}) {
    for (const std::size_t height : {1U, 3U, 12U}) {
      const auto lines = braille_plot({{1, 5}, {2, -3}, {9, 4}, {10, 4}}, width, height);
      ASSERT_EQ(lines.size(), height);
      for (const std::string& line : lines) {
        EXPECT_EQ(display_width(line), width) << line;
      }
    }
  }
}

TEST(BraillePlot, OnePointAndLevelLinesAreDrawn) {
  EXPECT_NE(braille_plot({{3, 0.5}}, 1, 1).front(), "⠀");
  EXPECT_EQ(braille_plot({{0, 2}, {5, 2}}, 3, 1).front(), "⠤⠤⠤");
}

TEST(BraillePlot, CellsOfSeveralCurvesBelongToTheFirstThatHasADotThere) {
  const auto cells = braille_cells({{{0, 0}, {9, 0}}, {{0, 0}, {9, 9}}}, 10, 4);
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[3][0].curve, 0U) << "both begin here";
  EXPECT_EQ(cells[3][9].curve, 0U);
  EXPECT_EQ(cells[0][9].curve, 1U);
  EXPECT_FALSE(cells[0][0].curve);
}

TEST(BraillePlot, NothingIsDrawnWithoutPoints) {
  EXPECT_TRUE(braille_plot({}, 10, 10).empty());
  EXPECT_TRUE(braille_plot({{0, 1}}, 0, 10).empty());
}

}  // namespace
}  // namespace hpsearch::cli
