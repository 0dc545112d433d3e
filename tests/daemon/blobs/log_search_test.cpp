#include "daemon/blobs/log_search.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace hpsearch::daemon {
namespace {

LogSearch search_for(const std::string& pattern, std::uint64_t from = 0) {
  auto compiled = patterns::LinePattern::compile(pattern);
  EXPECT_TRUE(compiled) << compiled.error().message;
  return {*std::move(compiled), from};
}

using Found = std::vector<std::pair<std::uint64_t, std::string>>;
Found found_by(const LogSearch& search) {
  Found found;
  for (const LogSearch::Match& match : search.matches()) {
    found.emplace_back(match.offset, match.line);
  }
  return found;
}

TEST(LogSearch, FindsLinesWithTheirOffsets) {
  LogSearch search = search_for("loss=[0-9]+");
  search.add(0, "begin\nloss=1\nnothing\nloss=22");
  EXPECT_EQ(found_by(search), (Found{{6, "loss=1"}}));
  EXPECT_EQ(search.searched_to(), 21U) << "the last line may go on";
  search.finish();
  EXPECT_EQ(found_by(search), (Found{{6, "loss=1"}, {21, "loss=22"}}));
  EXPECT_EQ(search.searched_to(), 28U);
}

TEST(LogSearch, ResultDoesNotDependOnThePieces) {
  std::mt19937_64 draw(11);
  std::string log;
  for (int line = 0; line < 300; ++line) {
    log += std::string(draw() % 40, 'x') + (draw() % 3 == 0 ? " error" : "") + "\n";
  }
  LogSearch whole = search_for("error$");
  whole.add(0, log);
  ASSERT_GT(whole.matches().size(), 50U);
  for (int round = 0; round < 20; ++round) {
    LogSearch search = search_for("error$");
    for (std::size_t at = 0; at < log.size();) {
      const std::size_t size = std::min<std::size_t>(1 + draw() % 100, log.size() - at);
      search.add(at, std::string_view(log).substr(at, size));
      at += size;
    }
    EXPECT_EQ(found_by(search), found_by(whole));
    EXPECT_EQ(search.searched_to(), log.size());
  }
}

TEST(LogSearch, ContinuesWhereItStopped) {
  std::string log;
  for (int line = 0; line < 2'500; ++line) {
    log += "hit\n";
  }
  std::size_t found = 0;
  std::uint64_t from = 0;
  for (int round = 0; round < 3; ++round) {
    LogSearch search = search_for("hit", from);
    search.add(from, std::string_view(log).substr(from));
    EXPECT_LE(search.matches().size(), LogSearch::most_matches);
    found += search.matches().size();
    from = search.searched_to();
  }
  EXPECT_EQ(found, 2'500U);
}

TEST(LogSearch, GapEndsTheLineBeforeIt) {
  LogSearch search = search_for("b");
  search.add(0, "a\nb one");
  search.add(100, "two b\n");
  EXPECT_EQ(found_by(search), (Found{{2, "b one"}, {100, "two b"}}));
}

TEST(LogSearch, LongLinesAreCutBetweenCharacters) {
  LogSearch search = search_for("end$");
  std::string line(LogSearch::most_line_bytes - 1, 'a');
  line += "\xc3\xa9 end";
  search.add(0, line + "\n");
  EXPECT_EQ(found_by(search), (Found{{0, std::string(LogSearch::most_line_bytes - 1, 'a')}}));
  LogSearch endless = search_for("z");
  for (std::uint64_t at = 0; at < 4'000'000; at += 100'000) {
    endless.add(at, std::string(100'000, 'a'));
  }
  EXPECT_GE(endless.searched_to(), 2'000'000U) << "it is not kept in memory";
}

TEST(LinePattern, ErrorNamesTheProblem) {
  EXPECT_NE(patterns::LinePattern::compile("(").error().message.find("cannot be used"), std::string::npos);
  EXPECT_NE(patterns::LinePattern::compile(std::string(1'025, 'a')).error().message.find("1025 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace hpsearch::daemon
