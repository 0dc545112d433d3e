#include "cli/watch/watch_screen.hpp"

#include <gmock/gmock.h>

#include "cli/render/text.hpp"
#include "messages.hpp"

namespace hpsearch::cli {
namespace {

using testing::HasSubstr;

WatchedSearch a_search() {
  WatchedSearch search;
  api::Experiment& detail = search.detail;
  detail.id = engine::ExperimentId(3);
  detail.name = "digits";
  detail.created_at = 100;
  detail.progress = 0.4;
  detail.metric = "loss";
  detail.unit = "epochs";
  detail.trials = {{"PAUSED", 9}, {"RUNNING", 4}};
  detail.best = api::BestResult{.trial = engine::TrialNumber(7), .metric = 0.125, .step = engine::Units{9}};
  detail.rungs = {{engine::Units{1}, 27}, {engine::Units{3}, 9}, {engine::Units{9}, 0}};
  for (int i = 0; i < 40; ++i) {
    api::Worker& worker = search.workers.emplace_back();
    worker.id = engine::WorkerId(static_cast<std::uint64_t>(i));
    worker.name = "node-" + std::to_string(i);
    worker.present = worker.connected = true;
    worker.slots = 4;
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

TEST(WatchScreen, SearchThatHasNotBegunIsShown) {
  WatchedSearch search;
  search.detail.id = engine::ExperimentId(1);
  search.detail.created_at = 160;
  search.detail.waits_for = "no worker is connected";
  search.away = true;
  const std::string text = text_of(watch_screen(search, 80, 24, 160));
  EXPECT_MESSAGE(text);
}

TEST(WatchScreen, ControlCharactersOfNamesAreHidden) {
  WatchedSearch search = a_search();
  search.detail.name = "evil\x1b[2J";
  EXPECT_EQ(text_of(watch_screen(search, 80, 24, 160)).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace hpsearch::cli
