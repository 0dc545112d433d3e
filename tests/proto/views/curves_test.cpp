#include "hpsearch/proto/views/curves.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::Value;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

CurveValue value(std::uint64_t attempt, std::uint64_t step, double metric) {
  return {engine::AttemptNumber(attempt), engine::Units(step),
          engine::Instant::from_micros(static_cast<std::int64_t>(step) * 1'000'000), metric};
}

Value shown(const std::vector<CurveValue>& values, std::size_t points) {
  Curves curves;
  curves.curves.emplace_back().values = values;
  const auto json = proto::parse_json(to_json(curves, points));
  EXPECT_TRUE(json);
  return json ? json->at_path("trials")->as_list()->front() : Value();
}

TEST(Curves, LaterAttemptReplacesValuesOfTheSameStep) {
  const std::vector<CurveValue> all =
      joined({value(1, 1, 0.9), value(1, 2, 0.8), value(1, 3, 0.7), value(2, 2, 0.6), value(2, 3, 0.5)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].value, 0.9);
  EXPECT_EQ(all[1].value, 0.6);
  EXPECT_EQ(all[2].value, 0.5);
}

TEST(Curves, PartsKeepEverySpike) {
  std::vector<CurveValue> values;
  for (std::uint64_t step = 1; step <= 10'000; ++step) {
    values.push_back(value(1, step, step == 5'037 ? 99.0 : step == 7'051 ? -99.0 : 1.0));
  }
  const Value curve = shown(values, 100);
  ASSERT_EQ(curve.at_path("step")->as_list()->size(), 100U);
  std::multiset<double> tops;
  std::multiset<double> bottoms;
  for (const Value& top : *curve.at_path("max")->as_list()) {
    tops.insert(top.number_or(0));
  }
  for (const Value& bottom : *curve.at_path("min")->as_list()) {
    bottoms.insert(bottom.number_or(0));
  }
  EXPECT_EQ(tops.count(99), 1U);
  EXPECT_EQ(bottoms.count(-99), 1U);
  EXPECT_EQ(curve.at_path("step")->as_list()->back().number_or(0), 10'000);
}

TEST(Curves, NonFiniteValuesAreMarkedAndNotDrawn) {
  const Value curve =
      shown({value(1, 1, 0.5), value(1, 2, not_a_number), value(1, 3, infinite), value(1, 4, -infinite)}, 10);
  EXPECT_EQ(curve.at_path("last")->as_list()->size(), 1U);
  const auto json = engine::compact_json(*curve.at_path("nonfinite"));
  EXPECT_EQ(json, R"([[2,"nan"],[3,"inf"],[4,"-inf"]])");
}

TEST(Curves, BestRunningAndSomeOfEachRungAreShown) {
  SmallSearch search(SmallSearch::halving(300));
  for (int i = 0; i < 250; ++i) {
    search.advance();
  }
  const auto trials = shown_trials(search.record());
  EXPECT_EQ(trials.size(), 60U);
  EXPECT_EQ(trials, shown_trials(search.record()));
  const std::set<engine::TrialNumber> chosen(trials.begin(), trials.end());
  EXPECT_EQ(chosen.size(), trials.size());
  EXPECT_TRUE(chosen.contains(*search.record().best));
  for (const engine::TrialNumber running : search.record().running) {
    EXPECT_TRUE(chosen.contains(running));
  }
}

TEST(Curves, LargestAreShownIfLargerIsBetter) {
  Value searcher = SmallSearch::halving(300);
  (*searcher.as_map())["smaller_is_better"] = false;
  SmallSearch search(searcher);
  while (!search.over()) {
    search.advance();
  }
  std::vector<std::pair<double, engine::TrialNumber>> ranked;
  for (std::size_t i = 0; i < search.record().trials.size(); ++i) {
    if (const auto& best = search.record().trials[i].best) {
      ranked.emplace_back(best->metric, i);
    }
  }
  ASSERT_GT(ranked.size(), 100U);
  std::sort(ranked.rbegin(), ranked.rend());
  const auto shown = shown_trials(search.record());
  const std::set<engine::TrialNumber> chosen(shown.begin(), shown.end());
  for (std::size_t place = 0; place < 20; ++place) {
    EXPECT_TRUE(chosen.contains(ranked[place].second)) << "the best but " << place;
  }
}

TEST(Curves, EventsOfTheTrialAreShown) {
  const engine::ExperimentId experiment(1);
  const engine::TrialNumber trial(0);
  std::vector<engine::Event> history;
  const auto happens = [&](engine::EventBody body) {
    const std::uint64_t lsn = history.size() + 1;
    history.push_back(
        {engine::Lsn(lsn), engine::Instant::from_micros(static_cast<std::int64_t>(lsn)), std::move(body)});
  };
  const auto is_leased = [&](std::uint64_t attempt) {
    engine::LeaseGranted lease;
    lease.experiment = experiment;
    lease.trial = trial;
    lease.attempt = engine::AttemptNumber(attempt);
    happens(lease);
  };
  const auto reaches = [&](std::uint64_t step) {
    happens(engine::LengthReached{experiment, trial, engine::Units(step), engine::Units(step), 0.5});
  };
  const auto is_promoted = [&](bool in_place) {
    happens(engine::TrialPromoted{experiment, trial, engine::Units(4), in_place, {}});
  };
  is_leased(1);
  reaches(1);
  is_promoted(true);  // Its program continues …
  is_leased(2);       // … but crashed: this attempt replaces the crashed one.
  reaches(4);
  happens(engine::TrialPaused{experiment, trial, {}});
  is_promoted(false);
  is_leased(3);
  reaches(16);
  happens(engine::TrialEnded{experiment, trial, engine::TrialState::completed, {}});
  std::vector<std::string> shown;
  for (const Curve::Event& event : curve_events(history)) {
    shown.push_back(std::string(event.what) + " at " + std::to_string(engine::count(event.step)));
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"promoted at 1", "restarted at 1", "paused at 4",
                                             "promoted at 4", "finished at 16"}));
}

TEST(CurveDensity, CountsEveryValueOnce) {
  CurveDensity density(8, std::nullopt);
  std::size_t values = 0;
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    std::vector<CurveValue> curve;
    for (std::uint64_t step = 1; step <= 1 + trial % 20; ++step, ++values) {
      curve.push_back(
          value(1, step, trial == 7 && step == 2 ? infinite : 1.0 / static_cast<double>(step + trial)));
    }
    density.add(curve);
  }
  density.add({});
  const auto json = proto::parse_json(density.json("loss"));
  ASSERT_TRUE(json);
  double sum = json->at_path("below")->number_or(0) + json->at_path("above")->number_or(0) +
               json->at_path("nonfinite")->number_or(0);
  for (const Value& step : *json->at_path("counts")->as_list()) {
    EXPECT_EQ(step.as_list()->size(), 8U);
    for (const Value& count : *step.as_list()) {
      sum += count.number_or(0);
    }
  }
  EXPECT_EQ(sum, static_cast<double>(values));
  EXPECT_EQ(json->at_path("nonfinite")->number_or(0), 1);
  EXPECT_EQ(json->at_path("trials")->number_or(0), 50);
  EXPECT_EQ(json->at_path("steps")->as_list()->size(), json->at_path("counts")->as_list()->size() + 1);
}

TEST(CurveDensity, EqualOrNoValuesHaveARange) {
  CurveDensity one(4, std::nullopt);
  one.add({value(1, 1, 0.5), value(1, 2, 0.5)});
  EXPECT_TRUE(proto::parse_json(one.json("loss")));
  const CurveDensity none(4, std::nullopt);
  EXPECT_TRUE(proto::parse_json(none.json("loss")));
}

}  // namespace
}  // namespace hpsearch::views
