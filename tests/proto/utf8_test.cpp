#include "hpsearch/proto/encoding/utf8.hpp"

#include <gtest/gtest.h>

namespace hpsearch::test {
namespace {

using proto::clean_utf8;
using proto::cut_character_at_end;
using proto::cut_character_at_start;
using proto::is_utf8;
using proto::to_utf8;

TEST(Utf8, AcceptsCharactersOfEveryLength) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8(
      "a\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"));
}

TEST(Utf8, RefusesInvalidBytes) {
  for (const char* bad :
       {"\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xC2 ", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xE2\x82",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF", "\xF0\x9F\x98",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_FALSE(is_utf8(bad)) << testing::PrintToString(std::string(bad));
    EXPECT_FALSE(is_utf8("fine " + std::string(bad) + " fine"));
    EXPECT_TRUE(is_utf8(to_utf8(bad)));
  }
}

TEST(Utf8, RepairKeepsValidText) {
  EXPECT_EQ(to_utf8("Änn 漢"), "Änn 漢");
  EXPECT_EQ(to_utf8("a\xFF\xC3z"), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(CleanUtf8, ReplacesEachInvalidByte) {
  EXPECT_EQ(clean_utf8("plain \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80"),
            "plain \xC3\xA9 \xE4\xB8\xAD \xF0\x9F\x98\x80");
  EXPECT_EQ(clean_utf8("a\xFF"
                       "b\xC3"),
            "a?b?");
  EXPECT_EQ(clean_utf8("\xC0\xAF"), "??");            // overlong
  EXPECT_EQ(clean_utf8("\xED\xA0\x80"), "???");       // surrogate
  EXPECT_EQ(clean_utf8("\xF4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(clean_utf8("\xE4\xB8"), "??");            // cut off
}

TEST(CutCharacter, IsCountedAtBothEnds) {
  EXPECT_EQ(cut_character_at_end("ab\xE4\xB8"), 2U);
  EXPECT_EQ(cut_character_at_end("ab\xE4\xB8\xAD"), 0U);
  EXPECT_EQ(cut_character_at_end("ab\xF0"), 1U);
  EXPECT_EQ(cut_character_at_end("ab"), 0U);
  EXPECT_EQ(cut_character_at_end(""), 0U);
  EXPECT_EQ(cut_character_at_start("\xB8\xAD"
                                   "ab"),
            2U);
  EXPECT_EQ(cut_character_at_start("ab"), 0U);
}

}  // namespace
}  // namespace hpsearch::test
