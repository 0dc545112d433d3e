#include "cli/client/trial_pages.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/render/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// A daemon with trials 0 … 6 that returns two per page.
class Pages {
 public:
  Outcome<Value> operator()(const std::string& target) {
    asked.push_back(target);
    if (asked.size() == fails_at) {
      return plain_failure("no daemon");
    }
    const std::size_t after = target.find("after=");
    const std::size_t limit = target.find("limit=");
    const std::uint64_t first = after == std::string::npos ? 0 : std::stoull(target.substr(after + 6)) + 1;
    const std::uint64_t most =
        limit == std::string::npos ? 2 : std::min<std::uint64_t>(2, std::stoull(target.substr(limit + 6)));
    Value::List list;
    std::uint64_t number = first;
    for (; number < 7 && list.size() < most; ++number) {
      list.emplace_back(Value::Map{{"trial", static_cast<std::int64_t>(number)}});
    }
    const Value next = number < 7 ? Value(static_cast<std::int64_t>(stuck ? 1 : number - 1)) : Value();
    return Value(Value::Map{{"trials", std::move(list)}, {"next", next}});
  }

  std::vector<std::string> asked;
  std::size_t fails_at = 0;
  bool stuck = false;
};

struct Shown {
  std::vector<std::uint64_t> trials;
  Outcome<std::optional<std::uint64_t>> next;
};
Shown shown(Pages& pages, const TrialRange& range) {
  std::vector<std::uint64_t> trials;
  auto next = each_trial([&pages](const std::string& target) { return pages(target); }, 3, range,
                         [&trials](const Value& trial) { trials.push_back(count_at(trial, "trial")); });
  return {std::move(trials), std::move(next)};
}

using Numbers = std::vector<std::uint64_t>;

TEST(TrialPages, AreShownInOrder) {
  Pages pages;
  const Shown all = shown(pages, {});
  EXPECT_EQ(all.trials, (Numbers{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(*all.next, std::nullopt);
  EXPECT_EQ(pages.asked.at(0), "/api/v1/experiments/3/trials");
  EXPECT_EQ(pages.asked.at(1), "/api/v1/experiments/3/trials?after=1");
  EXPECT_EQ(pages.asked.size(), 4U);
}

TEST(TrialPages, EndAtTheLimit) {
  Pages pages;
  const Shown some = shown(pages, {.after = 0, .most = 3});
  EXPECT_EQ(some.trials, (Numbers{1, 2, 3}));
  EXPECT_EQ(*some.next, std::optional<std::uint64_t>(3));
  EXPECT_EQ(pages.asked.back(), "/api/v1/experiments/3/trials?after=2&limit=1");
  const Shown last = shown(pages, {.after = 3, .most = 3});
  EXPECT_EQ(last.trials, (Numbers{4, 5, 6}));
  EXPECT_EQ(*last.next, std::nullopt) << "there are no more";
}

TEST(CheckpointPages, MayBeEmptyAndAreAllShown) {
  std::vector<std::string> asked;
  const auto get = [&asked](const std::string& target) -> Outcome<Value> {
    asked.push_back(target);
    const auto page = [](Value next, std::initializer_list<int> steps) {
      Value::List list;
      for (const int step : steps) {
        list.emplace_back(Value::Map{{"step", step}});
      }
      return Value(
          Value::Map{{"being_deleted", 4}, {"checkpoints", std::move(list)}, {"next", std::move(next)}});
    };
    return asked.size() == 1 ? page(19'999, {}) : asked.size() == 2 ? page(20'004, {1, 2, 3}) : page({}, {4});
  };
  std::vector<std::uint64_t> steps;
  const auto being_deleted = each_checkpoint(
      get, 3, [&steps](const Value& checkpoint) { steps.push_back(count_at(checkpoint, "step")); });
  ASSERT_TRUE(being_deleted);
  EXPECT_EQ(*being_deleted, 4U);
  EXPECT_EQ(steps, (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(asked, (std::vector<std::string>{"/api/v1/experiments/3/checkpoints",
                                             "/api/v1/experiments/3/checkpoints?after=19999",
                                             "/api/v1/experiments/3/checkpoints?after=20004"}));
}

TEST(TrialPages, FailWithTheDaemon) {
  Pages pages;
  pages.fails_at = 2;
  EXPECT_EQ(shown(pages, {}).next.failure().message, "no daemon");
}

TEST(TrialPages, EndIfTheDaemonRepeatsAPage) {
  Pages pages;
  pages.stuck = true;
  EXPECT_FALSE(shown(pages, {}).next);
  EXPECT_EQ(pages.asked.size(), 2U);
}

}  // namespace
}  // namespace hpsearch::cli
