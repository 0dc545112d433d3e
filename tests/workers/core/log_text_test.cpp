#include "hpsearch/workers/core/log_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::workers {
namespace {

std::vector<std::string> lines_of(LineSplitter& splitter, const std::vector<std::string>& pieces) {
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  for (const std::string& piece : pieces) {
    splitter.feed(piece, take);
  }
  splitter.finish(take);
  return lines;
}

TEST(LineSplitter, SplitsIndependentlyOfThePieces) {
  const std::string text = "one\ntwo\rthree\r\n\nfour";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    LineSplitter splitter(100);
    EXPECT_EQ(lines_of(splitter, {text.substr(0, cut), text.substr(cut)}),
              (std::vector<std::string>{"one", "two", "three", "four"}))
        << "cut at " << cut;
  }
}

TEST(LineSplitter, DropsALineThatIsTooLongAndContinues) {
  LineSplitter splitter(8);
  std::vector<std::string> lines;
  const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
  EXPECT_FALSE(splitter.feed("12345678\n", take));
  EXPECT_TRUE(splitter.feed("123456789", take));
  EXPECT_FALSE(splitter.feed("still the same line\nshort\n", take));
  EXPECT_EQ(lines, (std::vector<std::string>{"12345678", "short"}));
}

/// Text of short lines, some with the word, some with a part of it, with both line ends.
std::string random_text(std::mt19937& random) {
  constexpr std::array<std::string_view, 9> parts{"WORD ", "WOR", "D ", "x",         " ",
                                                  "\n",    "\n",  "\r", "WORD WORD "};
  std::string text;
  for (int part = 0; part < 60; ++part) {
    text += parts[random() % parts.size()];
  }
  return text;
}

TEST(LineSplitter, ReturnsEveryLineWithTheWordIndependentlyOfThePieces) {
  constexpr unsigned seed = 20'261'122;
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    const std::string text = random_text(random);
    LineSplitter all(40);
    std::vector<std::string> wanted = lines_of(all, {text});
    const auto without_word = [](const std::string& line) { return line.find("WORD ") == std::string::npos; };
    std::erase_if(wanted, without_word);
    LineSplitter some(40);
    std::vector<std::string> lines;
    const auto take = [&lines](std::string_view line) { lines.emplace_back(line); };
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 50;
      some.feed_lines_with("WORD ", std::string_view(text).substr(at, size), take);
      at += size;
    }
    some.finish(take);
    std::erase_if(lines, without_word);
    ASSERT_EQ(lines, wanted) << "round " << round << " of seed " << seed << ": " << text;
  }
}

TEST(LineSplitter, SkipsTextWithoutTheWord) {
  LineSplitter splitter(100);
  std::vector<std::string> lines;
  splitter.feed_lines_with("WORD", "end\none\ntwo WORD\nthree\nbegin",
                           [&lines](std::string_view line) { lines.emplace_back(line); });
  EXPECT_EQ(lines, (std::vector<std::string>{"end", "two WORD"}));
}

TEST(WithoutEscapes, KeepsVisibleText) {
  EXPECT_EQ(without_escapes("plain"), "plain");
  EXPECT_EQ(without_escapes("\x1b[36mepoch 1\x1b[0m acc: \x1b[1;32m0.92\x1b[0m"), "epoch 1 acc: 0.92");
  EXPECT_EQ(without_escapes("\x1b[2K\x1b[1Gacc 3"), "acc 3");
  EXPECT_EQ(without_escapes("\x1b[38;2;255;100;0mred\x1b[39m"), "red");
  EXPECT_EQ(without_escapes("\x1b]0;a title 7\x07"
                            "acc 4"),
            "acc 4");
  EXPECT_EQ(without_escapes("\x1b]8;;file:///x\x1b\\link\x1b]8;;\x1b\\"), "link");
  EXPECT_EQ(without_escapes("\x1b(Bacc\x1b"
                            "7 5"),
            "acc 5");
  for (const char* cut : {"a\x1b", "a\x1b[", "a\x1b[1;3", "a\x1b]0;title", "a\x1b]0;title\x1b"}) {
    EXPECT_EQ(without_escapes(cut), "a");
  }
}

TEST(LastLines, AreWholeLinesThatFit) {
  EXPECT_EQ(last_lines("one\ntwo\nthree\n", 100), "one\ntwo\nthree\n");
  EXPECT_EQ(last_lines("one\ntwo\nthree\n", 11), "two\nthree\n");
  EXPECT_EQ(last_lines("one\ntwo\nthree\n", 10), "two\nthree\n");
  EXPECT_EQ(last_lines("one\ntwo\nthree\n", 9), "three\n");
}

TEST(LastLines, EndOfALongLineIsKept) {
  EXPECT_EQ(last_lines("0123456789", 4), "6789");
  EXPECT_EQ(last_lines("01234567\xE4\xB8\xAD!", 3), "!");
}

}  // namespace
}  // namespace hpsearch::workers
