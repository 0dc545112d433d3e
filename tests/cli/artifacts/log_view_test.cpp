#include "cli/artifacts/log_view.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace hpsearch::cli {
namespace {

std::string seen(const std::string& bytes) {
  LogView view;
  std::string text = view.take(bytes);
  return text + view.finish();
}

TEST(LogView, PlainLinesAreUnchanged) {
  EXPECT_EQ(seen("one\n\n\ttwo\xC3\xA9\nthree"), "one\n\n\ttwo\xC3\xA9\nthree\n");
  EXPECT_EQ(seen(""), "");
}

TEST(LogView, ProgressBarIsItsLastState) {
  EXPECT_EQ(seen("epoch 1 10%\repoch 1 20%\repoch 1 done\nnext\n"), "epoch 1 done\nnext\n");
  EXPECT_EQ(seen("\r10%\r20%\r\n"), "20%\n");
  EXPECT_EQ(seen("10%\r20%"), "20%\n");
  EXPECT_EQ(seen("10%\r20%\r"), "20%\n");
}

TEST(LogView, LinesThatEndAsOnOtherSystemsAreLines) {
  EXPECT_EQ(seen("one\r\ntwo\r\n"), "one\ntwo\n");
}

TEST(LogView, EscapeSequencesAreLeftOut) {
  EXPECT_EQ(seen("\x1b[31mred\x1b[0m \x1b[1;32mgreen\x1b[K\n"), "red green\n");
  EXPECT_EQ(seen("\x1b]0;title\aone\x1b]8;;http://x\x1b\\two\x1b(Bthree\x1b"
                 "7four\n"),
            "onetwothreefour\n");
  EXPECT_EQ(seen("10%\r\x1b[K20%\x1b[A\n"), "20%\n");
}

TEST(LogView, OtherControlCharactersAreHidden) {
  EXPECT_EQ(seen("a\ab\bc\x7f\x9b"
                 "31m\n"),
            "a?b?c??31m\n");
}

TEST(LogView, UnfinishedSequenceDoesNotHideTheNextLine) {
  EXPECT_EQ(seen("one \x1b]0;no end\ntwo\n"), "one \ntwo\n");
  EXPECT_EQ(seen("one \x1b[31\ntwo\n"), "one \ntwo\n");
  EXPECT_EQ(seen("one \x1b\ntwo\n"), "one \ntwo\n");
}

TEST(LogView, GrowingLineIsVisible) {
  LogView view;
  EXPECT_EQ(view.take("one\n10%\r20"), "one\n");
  EXPECT_EQ(view.unfinished(), "20");
  EXPECT_EQ(view.take("%\r"), "");
  EXPECT_EQ(view.unfinished(), "20%");
  EXPECT_EQ(view.take("\n"), "20%\n");
  EXPECT_EQ(view.unfinished(), "");
}

TEST(LogView, LineWithoutEndIsBounded) {
  LogView view;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(view.take(std::string(100'000, 'x')), "");
  }
  EXPECT_EQ(view.unfinished().size(), LogView::longest_line);
  EXPECT_EQ(view.take("\nnext\n").size(), LogView::longest_line + 6);
}

TEST(LogView, ResultDoesNotDependOnThePieces) {
  constexpr unsigned seed = 20'261'122;
  std::mt19937 random(seed);
  const std::string alphabet = "ab\r\n\x1b[]31m;\a\\\t0K";
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int i = 0; i < 80; ++i) {
      text += alphabet[random() % alphabet.size()];
    }
    LogView view;
    std::string pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 9;
      pieces += view.take(std::string_view(text).substr(at, size));
      at += size;
    }
    pieces += view.finish();
    ASSERT_EQ(pieces, seen(text)) << "round " << round << " of seed " << seed;
  }
}

}  // namespace
}  // namespace hpsearch::cli
