#include "cli/render/fold.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::cli {
namespace {

TEST(Fold, DividesAtBlanksAndIndentsWhatFollows) {
  EXPECT_EQ(fold("hpsearch: there is no experiment 99", 20), "hpsearch: there is\n  no experiment 99");
  EXPECT_EQ(fold("  a.yaml: one two", 12), "  a.yaml:\n    one two");
}

TEST(Fold, ALongWordMovesToALineOfItsOwnWhateverStandsBefore) {
  EXPECT_EQ(fold("no /very/long/path here", 10), "no\n  /very/long/path\n  here");
  EXPECT_EQ(fold("one two     ", 8), "one two");
}

TEST(Fold, LeavesShortLinesAndLongWordsWhole) {
  EXPECT_EQ(fold("one two\nthree\n", 7), "one two\nthree\n");
  EXPECT_EQ(fold("see /a/very/long/path now", 10), "see\n  /a/very/long/path\n  now");
  EXPECT_EQ(fold("one two three", 0), "one two three");
}

TEST(Fold, ContinuesUnderTheSecondColumn) {
  EXPECT_EQ(fold("state     PAUSED: two trials failed alike", 24),
            "state     PAUSED: two\n          trials failed\n          alike");
}

TEST(Fold, ColorsHaveNoWidth) {
  EXPECT_EQ(fold("\x1b[2mstate\x1b[0m  one two", 14), "\x1b[2mstate\x1b[0m  one two");
  EXPECT_EQ(fold("\x1b[2mstate\x1b[0m  one two six", 14), "\x1b[2mstate\x1b[0m  one two\n       six");
}

TEST(FoldHelp, JoinsWhatTheSourceDividedAndDividesAtTheTerminal) {
  const std::string gap(30, ' ');
  const std::string page = "  --on TEXT                   slurm: jobs of Slurm\n" + gap + "run the trials\n" +
                           "  --a-long-option TEXT Needs: --on\n" + gap + "Time\n";
  EXPECT_EQ(fold_help(page, 70),
            "  --on TEXT                   slurm: jobs of Slurm run the trials\n"
            "  --a-long-option TEXT Needs: --on\n" +
                gap + "Time\n");
  EXPECT_EQ(fold_help("\n  --a-long-option TEXT Needs: --on\n" + gap + "a b c\n", 33),
            "\n  --a-long-option TEXT Needs:\n    --on\n" + gap + "a b\n" + gap + "c\n");
  EXPECT_EQ(fold_help(page, 51), "  --on TEXT                   slurm: jobs of Slurm\n" + gap +
                                     "run the trials\n" + "  --a-long-option TEXT Needs: --on\n" + gap +
                                     "Time\n");
}

}  // namespace
}  // namespace hpsearch::cli
