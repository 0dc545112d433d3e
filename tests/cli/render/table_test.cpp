#include "cli/render/table.hpp"

#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

TEST(Table, AlignsByDisplayWidth) {
  Table table({{"ID", Table::Align::right}, {"NAME"}, {"NOTE"}});
  table.add({"7", "z\xc3\xbcrich", "a"});
  table.add({"123", "\xe4\xb8\xad\xe6\x96\x87", "b"});
  table.add({"5"});
  EXPECT_EQ(table.text(),
            " ID  NAME    NOTE\n"
            "  7  z\xc3\xbcrich  a\n"
            "123  \xe4\xb8\xad\xe6\x96\x87    b\n"
            "  5\n");
}

TEST(Table, CutsTheLastColumnToTheWidth) {
  Table table({{"ID", Table::Align::right}, {"HYPERPARAMETERS"}});
  table.add({"1", "learning_rate=0.001 units=64"});
  EXPECT_EQ(table.text(20), "ID  HYPERPARAMETERS\n 1  learning_rate...\n");
  EXPECT_EQ(table.text(0), "ID  HYPERPARAMETERS\n 1  learning_rate=0.001 units=64\n");
}

TEST(Table, ShowsNoEscapeSequences) {
  Table table({{"NAME"}});
  table.add({"\x1b[31mred\n"});
  EXPECT_EQ(table.text(), "NAME\n?[31mred?\n");
}

TEST(Table, CutsTheWidestOfTheAllowedColumns) {
  Table table({{"N", Table::Align::right}, {"WHY", Table::Align::left, true}, {"WHAT"}});
  table.add({"1", std::string(40, 'a'), std::string(20, 'b')});
  EXPECT_EQ(table.text(0), "N  WHY" + std::string(39, ' ') + "WHAT\n1  " + std::string(40, 'a') + "  " +
                               std::string(20, 'b') + "\n");
  EXPECT_EQ(table.text(45), "N  WHY" + std::string(19, ' ') + "WHAT\n1  " + std::string(17, 'a') + "...  " +
                                std::string(20, 'b') + "\n");
  EXPECT_EQ(table.text(20), "N  WHY           WHAT\n1  aaaaaaaaa...  bbbbbbbbb...\n")
      << "no narrower than twelve";
}

TEST(Table, CutsNamesInTheMiddleAndLeavesOutColumnsWhoseCellsAreAllEqual) {
  Table table({{"ID"},
               {.title = "OWNER", .drop_if_equal = true},
               {.title = "NAME", .may_be_cut = true, .cut_in_middle = true},
               {.title = "PROJECT", .drop_if_equal = true}});
  table.add({"1", "ann", "resnet-50-with-augmentation-a", "vision"});
  table.add({"2", "ann", "resnet-50-with-augmentation-b", "speech"});
  EXPECT_EQ(table.text(26),
            "ID  NAME           PROJECT\n"
            "1   resne...ion-a  vision\n"
            "2   resne...ion-b  speech\n");
}

TEST(Table, PaintsCellsAndNoTitle) {
  Table table(
      {{.title = "STATE", .paint = [](std::string_view text) { return "<" + std::string(text) + ">"; }},
       {"N", Table::Align::right}});
  table.add({"FAILED", "1"});
  table.add({"OK", "12"});
  EXPECT_EQ(table.text(), "STATE    N\n<FAILED>   1\n<OK>      12\n");
}

}  // namespace
}  // namespace hpsearch::cli
