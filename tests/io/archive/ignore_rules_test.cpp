#include "hpsearch/io/archive/ignore_rules.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hpsearch::context {
namespace {

TEST(IgnoreRules, MatchLikeGitignore) {
  struct Case {
    const char* rules;
    const char* path;
    bool is_directory;
    bool ignored;
  };
  const Case cases[] = {
      {"", "a", false, false},
      {"# a\n\na\r\n", "a", false, true},
      {"*.pyc", "a.pyc", false, true},
      {"*.pyc", "deep/er/a.pyc", false, true},
      {"*.pyc", "a.py", false, false},
      {"/data", "data", true, true},
      {"/data", "src/data", true, false},
      {"src/*.o", "src/a.o", false, true},
      {"src/*.o", "src/b/a.o", false, false},
      {"src/*.o", "x/src/a.o", false, false},
      {"runs/", "runs", true, true},
      {"runs/", "deep/runs", true, true},
      {"runs/", "runs", false, false},
      {"**/cache", "a/b/cache", true, true},
      {"**/cache", "cache", true, true},
      {"a/**/z", "a/z", false, true},
      {"a/**/z", "a/b/c/z", false, true},
      {"a/**/z", "ab/z", false, false},
      {"a/**", "a/b/c", false, true},
      {"a/**", "a", true, false},
      {"file?.txt", "file1.txt", false, true},
      {"file?.txt", "file10.txt", false, false},
      {"file[0-9].txt", "file7.txt", false, true},
      {"file[!0-9].txt", "file7.txt", false, false},
      {"*.ckpt\n!best.ckpt", "best.ckpt", false, false},
      {"*.ckpt\n!best.ckpt", "last.ckpt", false, true},
      {"\\#x", "#x", false, true},
      {"[", "[", false, true},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(IgnoreRules(one.rules).ignores(one.path, one.is_directory), one.ignored)
        << one.rules << " on " << one.path;
  }
}

TEST(IgnoreRules, EveryPatternIsFast) {
  std::string pattern;
  for (int i = 0; i < 1000; ++i) {
    pattern += "*a";
  }
  EXPECT_FALSE(IgnoreRules(pattern + "b").ignores(std::string(2000, 'a'), false));
}

}  // namespace
}  // namespace hpsearch::context
