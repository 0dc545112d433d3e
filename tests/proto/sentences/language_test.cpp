#include "hpsearch/proto/sentences/language.hpp"

#include <gtest/gtest.h>

#include "hpsearch/proto/sentences/phrase.hpp"

namespace hpsearch::sentences {
namespace {

TEST(Language, IsEnglishUnlessChineseIsPreferred) {
  for (const char* header : {"", "en", "de-DE,de;q=0.9", "*", "en-GB,en;q=0.9,zh;q=0.8", "zhx", "za",
                             "zh;q=0", "de, *;q=0.5, zh;q=0.1", "zh;q=x", "zh;q=2", "zh;q=", "zh;q=-1",
                             "zh;q=nan", "en,zh", ",;,=", ";q=1"}) {
    EXPECT_EQ(language_for(header), Language::english) << header;
  }
}

TEST(Language, EveryKindOfChineseIsChinese) {
  for (const char* header : {"zh", "zh-CN", "ZH-Hant-TW", "zh-CN,zh;q=0.9,en;q=0.8", "en;q=0.5, zh", "zh,en",
                             "de,zh;q=0.1", "en;q=0, zh;q=0.001", " \tzh ; q=0.3 , en;q=0.2",
                             "en;q=x,zh;q=0.1", "*;q=0.1,zh;Q=0.2", "zh;level=1;q=0.7,en;q=0.6"}) {
    EXPECT_EQ(language_for(header), Language::chinese) << header;
  }
}

TEST(Language, HasANameForContentLanguage) {
  EXPECT_EQ(name_of(Language::english), "en");
  EXPECT_EQ(name_of(Language::chinese), "zh-CN");
}

TEST(Phrase, FormsHaveTheirHolesInTheirOwnOrder) {
  const auto text = [](Language language) {
    return say(language, {"attempt {0} of trial {1}, {0}", "试验 {1} 的第 {0} 次尝试"}, 2,
               std::string("{0}"));
  };
  EXPECT_EQ(text(Language::english), "attempt 2 of trial {0}, 2");
  EXPECT_EQ(text(Language::chinese), "试验 {0} 的第 2 次尝试");
}

TEST(Phrase, CountsHaveAPluralInEnglishAlone) {
  EXPECT_EQ(counted(1, nouns::slot, Language::english), "1 slot");
  EXPECT_EQ(counted(2, nouns::slot, Language::english), "2 slots");
  EXPECT_EQ(counted(2, nouns::slot, Language::chinese), "2 个槽位");
}

}  // namespace
}  // namespace hpsearch::sentences
