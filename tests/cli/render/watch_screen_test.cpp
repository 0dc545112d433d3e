#include "cli/render/watch_screen.hpp"

#include <gmock/gmock.h>

#include "cli/render/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using testing::HasSubstr;

WatchedSearch a_search() {
  WatchedSearch search;
  search.detail = *proto::parse_json(R"({
    "id": 3, "name": "digits", "state": "ACTIVE", "created_at": 100, "progress": 0.4, "metric": "loss",
    "unit": "epochs", "trials": {"RUNNING": 4, "PAUSED": 9}, "waits_for": "",
    "best": {"trial": 7, "metric": 0.125, "step": 9},
    "rungs": [{"length": 1, "reached": 27}, {"length": 3, "reached": 9}, {"length": 9, "reached": 0}]})");
  for (int i = 0; i < 40; ++i) {
    search.workers.push_back(
        *proto::parse_json(R"({"id": )" + std::to_string(i) + R"(, "name": "node-)" + std::to_string(i) +
                           R"(", "present": true, "connected": true, "slots": 4, "attempts": []})"));
    search.decisions.push_back(
        {"trial " + std::to_string(i) + " paused at 1 epochs: rank 5 of 9", i % 7 == 0});
    search.curve.emplace_back(i + 1, 1.0 / (i + 1));
  }
  return search;
}

std::string text_of(const std::vector<ScreenLine>& lines) {
  std::string text;
  for (const ScreenLine& line : lines) {
    text += line.text + "\n";
  }
  return text;
}

TEST(WatchScreen, FitsTerminalsOfAnySize) {
  const WatchedSearch search = a_search();
  for (const std::size_t width : {20U, 40U, 80U, 132U, 300U}) {
    for (const std::size_t height : {1U, 5U, 24U, 60U}) {
      const auto lines = watch_screen(search, width, height, 160);
      EXPECT_LE(lines.size(), height);
      for (const ScreenLine& line : lines) {
        EXPECT_LE(display_width(line.text), width) << line.text;
      }
    }
  }
}

TEST(WatchScreen, HasAllPartsOnTheSmallestUsualTerminal) {
  const std::string text = text_of(watch_screen(a_search(), 80, 24, 160));
  for (const char* part :
       {"experiment 3  digits  ACTIVE  1 min 00 s", "40.0 %", "4 running, 9 paused",
        "loss 0.125, trial 7 at 9 epochs", "  1  ", "27", "BEST TRIAL  (trial 7, loss)",
        "WORKERS  (40 workers, 160 slots)", "and 39 more", "LAST DECISIONS", "trial 39 paused"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(WatchScreen, ASearchThatHasNotBegunIsShown) {
  WatchedSearch search;
  search.detail =
      *proto::parse_json(R"({"id": 1, "state": "ACTIVE", "waits_for": "no worker is connected"})");
  search.away = true;
  const std::string text = text_of(watch_screen(search, 80, 24, 160));
  EXPECT_MESSAGE(text);
}

TEST(WatchScreen, NamesCannotReachTheTerminal) {
  WatchedSearch search = a_search();
  (*search.detail.as_map())["name"] = "evil\x1b[2J";
  EXPECT_EQ(text_of(watch_screen(search, 80, 24, 160)).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::cli
