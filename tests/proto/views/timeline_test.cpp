#include "hpsearch/proto/views/timeline.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/proto/encoding/json.hpp"
#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::AttemptSpan;
using engine::Instant;
using engine::Value;

Instant at(std::int64_t seconds) {
  return Instant::from_micros(seconds * 1'000'000);
}

AttemptSpan span(std::uint32_t trial, std::int64_t from, std::int64_t to, std::uint16_t slot = 0) {
  AttemptSpan it;
  it.trial = trial;
  it.attempt = 1;
  it.worker = 1;
  it.slot = slot;
  it.from = at(from);
  it.to = at(to);
  it.end = engine::AttemptEnd::paused;
  return it;
}

Value drawn(const Timeline& timeline, const TimeWindow& window = {}) {
  const auto value = proto::parse_json(to_json(timeline, window));
  EXPECT_TRUE(value) << (value ? "" : value.error().message);
  return value ? *value : Value();
}

double number(const Value& value, std::string_view path) {
  const Value* found = value.at_path(path);
  return found == nullptr ? -1 : found->number_or(-1);
}

TEST(Timeline, LiveAttemptsHaveNoEndAndCountUntilNow) {
  Timeline timeline;
  timeline.now = timeline.end = at(100);
  timeline.over = {span(0, 0, 50)};
  timeline.live = {span(1, 50, 0, 1)};
  timeline.names[1] = "node";
  const Value value = drawn(timeline);
  EXPECT_EQ(number(value, "from"), 0);
  EXPECT_EQ(number(value, "to"), 100);
  const Value::List& slots = *value.at_path("slots")->as_list();
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(number(slots[0], "busy"), 0.5);
  EXPECT_EQ(number(slots[1], "busy"), 0.5);
  const Value::List& bars = *value.at_path("bars")->as_list();
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(*bars[0].at_path("outcome"), Value("paused"));
  EXPECT_EQ(*bars[1].at_path("outcome"), Value("running"));
  EXPECT_TRUE(bars[1].at_path("to")->is_null());
}

TEST(Timeline, WindowCutsBarsAndShares) {
  Timeline timeline;
  timeline.now = timeline.end = at(100);
  timeline.over = {span(0, 0, 10), span(1, 20, 60), span(2, 90, 95)};
  const Value value = drawn(timeline, {at(40), at(80), 0});
  EXPECT_EQ(value.at_path("bars")->as_list()->size(), 1U);
  EXPECT_EQ(number(value.at_path("slots")->as_list()->front(), "busy"), 0.5);
}

TEST(Timeline, BinsHoldTheSharesOfTheirTime) {
  Timeline timeline;
  timeline.now = timeline.end = at(100);
  timeline.over = {span(0, 0, 25), span(1, 50, 100)};
  const Value value = drawn(timeline, {at(0), at(100), 4});
  EXPECT_EQ(value.at_path("bars"), nullptr);
  EXPECT_EQ(value.at_path("bins.edges")->as_list()->size(), 5U);
  const Value::List& row = *value.at_path("bins.busy")->as_list()->front().as_list();
  ASSERT_EQ(row.size(), 4U);
  EXPECT_EQ(row[0].number_or(-1), 1);
  EXPECT_EQ(row[1].number_or(-1), 0);
  EXPECT_EQ(row[2].number_or(-1), 1);
  EXPECT_EQ(row[3].number_or(-1), 1);
}

TEST(Timeline, TrialOnSeveralSlotsCountsOnce) {
  Timeline timeline;
  timeline.now = timeline.end = at(100);
  timeline.over = {span(0, 0, 50), span(0, 0, 50, 1), span(1, 0, 100, 2)};
  const Value value = drawn(timeline, {at(0), at(100), 2});
  const Value::List& trials = *value.at_path("bins.trials")->as_list();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].number_or(-1), 2);
  EXPECT_EQ(trials[1].number_or(-1), 1);
}

TEST(Timeline, QuarantinesOfItsWorkersInTheWindowAreListed) {
  Timeline timeline;
  timeline.now = timeline.end = at(100);
  timeline.over = {span(0, 0, 100)};
  timeline.quarantines[1] = {{at(5), at(10)}, {at(60), std::nullopt}};
  timeline.quarantines[2] = {{at(20), at(30)}};
  const Value whole = drawn(timeline);
  ASSERT_EQ(whole.at_path("quarantines")->as_list()->size(), 2U);
  const Value late = drawn(timeline, {at(50), at(100), 0});
  const Value::List& listed = *late.at_path("quarantines")->as_list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(number(listed[0], "from"), 60);
  EXPECT_TRUE(listed[0].at_path("to")->is_null());
}

TEST(Timeline, ManyBarsBecomeBins) {
  Timeline timeline;
  timeline.now = timeline.end = at(10'000);
  for (std::uint32_t i = 0; i <= most_bars; ++i) {
    timeline.over.push_back(span(i, i, i + 1));
  }
  EXPECT_NE(drawn(timeline).at_path("bins"), nullptr);
  timeline.over.pop_back();
  EXPECT_NE(drawn(timeline).at_path("bars"), nullptr);
}

// Once, a slot that another search held, or whose worker was lost, appeared to be idle.
TEST(Timeline, IdleTakenAndAwayAreDistinct) {
  Timeline timeline;
  timeline.now = timeline.end = at(100);
  timeline.over = {span(0, 0, 50)};
  timeline.names = {{1, "one"}, {2, "two"}};
  timeline.usable = {{1, 2}, {2, 1}};
  timeline.taken = {{1, 1, engine::ExperimentId(7), 3, at(0), at(25)},
                    {2, 0, std::nullopt, 0, at(90), std::nullopt}};
  timeline.presences = {{1, {{at(0), std::nullopt}}}, {2, {{at(50), std::nullopt}}}};
  const Value value = drawn(timeline);
  const Value::List& slots = *value.at_path("slots")->as_list();
  ASSERT_EQ(slots.size(), 3U) << "also the slots that it never used";
  EXPECT_EQ(number(slots[0], "busy"), 0.5);
  EXPECT_EQ(number(slots[1], "busy"), 0);
  EXPECT_EQ(number(slots[1], "taken"), 0.25);
  EXPECT_EQ(number(slots[1], "away"), 0);
  EXPECT_NEAR(number(slots[2], "taken"), 0.1, 1e-9);
  EXPECT_EQ(number(slots[2], "away"), 0.5);
  const Value::List& taken = *value.at_path("taken")->as_list();
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(number(taken[0], "experiment"), 7);
  EXPECT_TRUE(taken[1].at_path("experiment")->is_null() && taken[1].at_path("trial")->is_null());
  EXPECT_TRUE(taken[1].at_path("to")->is_null());
  EXPECT_EQ(value.at_path("presences")->as_list()->size(), 2U);
}

TEST(Timeline, SlotsOfASearchHaveTheirHolders) {
  WorkerTimes times;
  SmallSearch search(SmallSearch::halving(5), [&times](const engine::Event& event) { times.note(event); });
  for (int i = 0; i < 4; ++i) {
    search.advance();
  }
  bool may_show = true;
  const TimelineSources sources{search.engine(), times, [&may_show](const auto& /*one*/) { return may_show; },
                                search.engine().last_instant()};
  const Value own = drawn(timeline(search.record(), sources, {}));
  EXPECT_EQ(own.at_path("slots")->as_list()->size(), 8U);
  EXPECT_TRUE(own.at_path("taken")->as_list()->empty()) << "its own attempts are bars";
  EXPECT_EQ(own.at_path("presences")->as_list()->size(), 1U);
  const engine::WorkerRecord& worker = search.engine().workers().begin()->second;
  const Value all = drawn(timeline(worker, sources, {}));
  EXPECT_EQ(all.at_path("slots")->as_list()->size(), 8U);
  const Value::List& taken = *all.at_path("taken")->as_list();
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(number(taken.front(), "experiment"), 1);
  may_show = false;
  const Value hidden = drawn(timeline(worker, sources, {}));
  EXPECT_TRUE(hidden.at_path("taken")->as_list()->front().at_path("experiment")->is_null());
}

TEST(WorkerTimes, WorkerIsPresentFromItsJoinUntilItsLoss) {
  WorkerTimes times;
  engine::Event event;
  const auto note = [&](engine::EventBody body, std::int64_t seconds) {
    event.body = std::move(body);
    event.at = at(seconds);
    times.note(event);
  };
  engine::WorkerJoined joined;
  joined.worker = engine::WorkerId(1);
  note(joined, 5);
  note(joined, 7);
  note(engine::WorkerLost{engine::WorkerId(1), ""}, 20);
  note(joined, 30);
  ASSERT_EQ(times.of(engine::WorkerId(1)).size(), 2U);
  EXPECT_EQ(times.of(engine::WorkerId(1))[0].from, at(5));
  EXPECT_EQ(times.of(engine::WorkerId(1))[0].to, at(20));
  EXPECT_FALSE(times.of(engine::WorkerId(1))[1].to);
  EXPECT_TRUE(times.of(engine::WorkerId(2)).empty());
}

TEST(Timeline, EmptyBeforeTheFirstAttempt) {
  Timeline timeline;
  timeline.now = timeline.end = at(5);
  const Value value = drawn(timeline, {std::nullopt, std::nullopt, 3});
  EXPECT_TRUE(value.at_path("slots")->as_list()->empty());
  EXPECT_EQ(number(value, "from"), 5);
}

}  // namespace
}  // namespace hpsearch::views
