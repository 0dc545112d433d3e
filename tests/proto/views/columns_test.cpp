#include "hpsearch/proto/views/columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/views/event_subject.hpp"
#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::Value;

constexpr const char* all_fields =
    "trial,state,metric,result,nonfinite,last,at,length,reached,rung,bracket,attempts,restarts,created_at,"
    "started_at,reported_"
    "at,ended_at,"
    "worker,"
    "failure,reason,lr,kind,layers,fixed";

ColumnsQuery asked(std::string fields, std::string where = "", std::uint64_t sample = 0) {
  ColumnsQuery query;
  query.fields = std::move(fields);
  query.where = std::move(where);
  query.sample = sample;
  return query;
}

// Its programs report the searcher's metric alone.
const MetricNames no_names;

Columns read_at_once(const SmallSearch& search, const ColumnsQuery& query, engine::Instant now) {
  auto scan = ColumnScan::begin(search.record(), no_names, query, now);
  EXPECT_TRUE(scan) << (scan ? "" : scan.error().message);
  while (scan->read_some(search.record(), 1'000'000)) {
  }
  scan->finish(search.record(), search.engine().last_lsn());
  return scan->take();
}

TEST(Columns, PiecesReadWhileTrialsChangeAreOfTheLastMoment) {
  for (std::uint64_t start = 1; start < 200; start += 37) {
    ColumnScan* listening = nullptr;
    SmallSearch search(SmallSearch::halving(120), [&listening](const engine::Event& event) {
      if (const Touched touched = touched_by(event); listening != nullptr && touched.trial) {
        listening->changed(*touched.trial);
      }
    });
    for (std::uint64_t i = 0; i < start && !search.over(); ++i) {
      search.advance();
    }
    const engine::Instant now = search.engine().last_instant();
    for (const std::string where : {"", "metric<0.5 or state=running", "rung=1 and kind!=a"}) {
      ColumnsQuery query;
      query.fields = all_fields;
      query.where = where;
      query.sample = where.empty() ? 40 : 0;
      query.length = engine::Units(4);  // The default may be another one at the end.
      auto scan = ColumnScan::begin(search.record(), no_names, query, now);
      ASSERT_TRUE(scan) << scan.error().message;
      listening = &*scan;
      while (scan->read_some(search.record(), 100)) {
        for (int i = 0; i < 3 && !search.over(); ++i) {
          search.advance();
        }
      }
      scan->finish(search.record(), search.engine().last_lsn());
      const Columns pieces = scan->take();
      listening = nullptr;
      EXPECT_EQ(to_json(pieces), to_json(read_at_once(search, query, now)))
          << "start " << start << " " << where;
    }
  }
}

TEST(Columns, ConditionsFindTrialsByWhatUsersWrote) {
  SmallSearch search(SmallSearch::halving(50));
  while (!search.over()) {
    search.advance();
  }
  search.annotate(3, {"good", "wide"}, true);
  search.annotate(7, {"good"}, false);
  const auto found = [&search](const std::string& where) {
    const Columns columns =
        read_at_once(search, asked("trial,labels,starred", where), search.engine().last_instant());
    return columns.rows;
  };
  EXPECT_EQ(found("labels = good"), 2U);
  EXPECT_EQ(found("labels = wide"), 1U);
  EXPECT_EQ(found("labels = bad"), 0U);
  EXPECT_EQ(found("starred = true"), 1U);
  EXPECT_EQ(found("starred = false"), 49U);
  EXPECT_EQ(found("labels = good and not starred = true"), 1U);
}

TEST(Columns, BytesHoldTheSameNumbersAsJson) {
  SmallSearch search(SmallSearch::halving(50));
  while (!search.over()) {
    search.advance();
  }
  const ColumnsQuery query = asked("trial,metric,last,lr,layers,reached,kind,state,bracket,failure");
  const Columns columns = read_at_once(search, query, search.engine().last_instant());
  const std::string bytes = to_bytes(columns);
  const std::size_t line = bytes.find('\n') + 1;
  EXPECT_EQ(line % 8, 0U);
  EXPECT_EQ(bytes.size() % 8, 0U);
  const auto head = proto::parse_json(bytes.substr(0, line));
  ASSERT_TRUE(head) << bytes.substr(0, line);
  const auto json = proto::parse_json(to_json(columns));
  ASSERT_TRUE(json);
  EXPECT_EQ(*head->at_path("fields"), *json->at_path("fields"));
  std::size_t at = line;
  const Value::List& lists = *json->at_path("columns")->as_list();
  for (std::size_t column = 0; column < columns.columns.size(); ++column) {
    const ColumnType type = columns.columns[column].type;
    const std::size_t width = type == ColumnType::f64 || type == ColumnType::i64 ? 8
                              : type == ColumnType::u32                          ? 4
                              : type == ColumnType::u16                          ? 2
                                                                                 : 1;
    for (std::size_t row = 0; row < columns.rows; ++row) {
      const char* raw = bytes.data() + at + row * width;
      double number = 0;
      bool missing = false;
      if (type == ColumnType::f64) {
        std::memcpy(&number, raw, 8);
        missing = std::isnan(number);
      } else if (type == ColumnType::i64) {
        std::int64_t integer = 0;
        std::memcpy(&integer, raw, 8);
        number = static_cast<double>(integer);
        missing = integer == std::numeric_limits<std::int64_t>::min();
      } else {
        std::uint32_t whole = 0;
        std::memcpy(&whole, raw, width);
        missing = whole == (width == 4 ? 0xffffffffU : (1U << (8 * width)) - 1U);
        number = whole;
      }
      const Value& expected = (*lists[column].as_list())[row];
      EXPECT_EQ(missing, expected.is_null()) << column << " " << row;
      if (!missing) {
        EXPECT_EQ(number, expected.number_or(-1)) << column << " " << row;
      }
    }
    at += (columns.rows * width + 7) / 8 * 8;
  }
  EXPECT_EQ(at, bytes.size());
}

/// The value of a cell of to_json(), by its type.
Value cell(const Value& answer, const std::string& name, std::size_t row) {
  const Value::List& fields = *answer.at_path("fields")->as_list();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (*fields[i].at_path("name") == Value(name)) {
      const Value& number = (*(*answer.at_path("columns")->as_list())[i].as_list())[row];
      const Value* words = fields[i].at_path("words");
      return words == nullptr || number.is_null()
                 ? number
                 : (*words->as_list())[static_cast<std::size_t>(number.number_or(0))];
    }
  }
  return "no such column";
}

// A seed of 1981385539 was once shown as 1981386000.
TEST(Columns, HyperparametersAreExactlyThoseOfTheTrial) {
  constexpr std::int64_t most = 9'200'000'000'000'000'000;
  const Value space = Value::Map{
      {"seed", Value::Map{{"type", "int"}, {"minval", -most}, {"maxval", most}}},
      {"lr", Value::Map{{"type", "double"}, {"minval", -1e300}, {"maxval", 1e300}}},
      {"flag", Value::Map{{"type", "categorical"}, {"vals", Value::List{true, false, Value()}}}},
      {"text", Value::Map{{"type", "categorical"}, {"vals", Value::List{"a,b", "\"q\"", 3, "3"}}}}};
  const std::vector<std::int64_t> seeds = {
      0, -1, 16'777'217, 1'981'385'539, 9'007'199'254'740'993, -9'007'199'254'740'993, most - 1, -most + 1};
  const std::vector<double> rates = {0.1, 1.0 / 3, 1e-300, 0.30000000000000004, -2.5, 123456789.123456789};
  const Value::List flags{true, false, Value()};
  const Value::List texts{"a,b", "\"q\"", 3, "3"};
  Value::List points;
  for (std::size_t i = 0; i < 24; ++i) {
    points.emplace_back(Value::Map{{"seed", seeds[i % seeds.size()]},
                                   {"lr", rates[i % rates.size()]},
                                   {"flag", flags[i % 3]},
                                   {"text", texts[i % 4]}});
  }
  const SmallSearch search(Value::Map{{"name", "random"},
                                      {"metric", "loss"},
                                      {"max_length", Value::Map{{"epochs", 1}}},
                                      {"max_trials", 24},
                                      {"max_concurrent_trials", 24},
                                      {"points_to_evaluate", std::move(points)}},
                           {}, space);
  const Columns columns = read_at_once(search, {}, {});
  const auto answer = proto::parse_json(to_json(columns));
  ASSERT_TRUE(answer);
  ASSERT_GE(columns.rows, 8U);
  for (std::size_t row = 0; row < columns.rows; ++row) {
    const Value hparams = search.record().hparams[row];
    for (const char* name : {"seed", "lr", "flag", "text"}) {
      EXPECT_EQ(cell(*answer, std::string("hparams.") + name, row), *hparams.at_path(name)) << row << name;
    }
  }
  const Columns one = read_at_once(search, asked("trial", "seed=9007199254740993"), {});
  EXPECT_EQ(one.columns[0].numbers.front(), 4);
}

TEST(Columns, SampleKeepsTheBestAndEveryRung) {
  SmallSearch search(SmallSearch::halving(200));
  while (!search.over()) {
    search.advance();
  }
  const Columns all = read_at_once(search, asked("trial,metric,rung"), {});
  const Columns sample = read_at_once(search, asked("trial,metric,rung", "", 40), {});
  EXPECT_EQ(sample.rows, 40U);
  EXPECT_EQ(sample.total, 200U);
  std::vector<double> best;
  for (const double metric : all.columns[1].numbers) {
    if (!std::isnan(metric)) {
      best.push_back(metric);
    }
  }
  std::sort(best.begin(), best.end());
  const auto& sampled = sample.columns[1].numbers;
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NE(std::find(sampled.begin(), sampled.end(), best[i]), sampled.end()) << "the best but " << i;
  }
  const std::set<double> rungs(sample.columns[2].numbers.begin(), sample.columns[2].numbers.end());
  EXPECT_TRUE(rungs.contains(0) && rungs.contains(1) && rungs.contains(2));
}

TEST(Columns, BestMetricHasTheTimeOfItsReport) {
  std::map<std::uint64_t, double> reported;
  std::map<std::uint64_t, double> best;
  SmallSearch search(SmallSearch::halving(40), [&](const engine::Event& event) {
    const auto* taken = std::get_if<engine::ReportTaken>(&event.body);
    const auto* metrics = taken == nullptr ? nullptr : std::get_if<engine::MetricsReport>(&taken->report);
    if (metrics == nullptr || !std::isfinite(metrics->metrics.front().second)) {
      return;
    }
    const std::uint64_t trial = taken->key.trial.number();
    if (!best.contains(trial) || metrics->metrics.front().second < best[trial]) {
      best[trial] = metrics->metrics.front().second;
      reported[trial] = static_cast<double>(event.at.micros()) / 1e6;
    }
  });
  while (!search.over()) {
    search.advance();
  }
  const Columns columns = read_at_once(search, asked("trial,reported_at"), {});
  ASSERT_GT(reported.size(), 20U);
  for (std::size_t row = 0; row < columns.rows; ++row) {
    const auto trial = static_cast<std::uint64_t>(columns.columns[0].numbers[row]);
    const double shown = columns.columns[1].numbers[row];
    EXPECT_EQ(reported.contains(trial), !std::isnan(shown)) << trial;
    if (reported.contains(trial)) {
      EXPECT_EQ(shown, reported[trial]) << trial;
    }
  }
}

TEST(Columns, WrongFieldIsReportedWithASimilarOne) {
  SmallSearch search(SmallSearch::halving(2));
  const auto problem = [&search](const ColumnsQuery& query) {
    const auto scan = ColumnScan::begin(search.record(), no_names, query, {});
    return scan ? std::string() : scan.error().message;
  };
  EXPECT_EQ(problem(asked("stat")), "fields: there is no \"stat\"; did you mean \"state\"?");
  EXPECT_EQ(problem(asked("hparams.layer")),
            "fields: there is no \"hparams.layer\"; did you mean \"hparams.layers\"?");
  EXPECT_NE(problem(asked("", "kindd=a")).find("where: column 1: there is no \"kindd\""), std::string::npos);
}

TEST(TouchedBy, NamesTheTrialOfAReportAndOfALease) {
  engine::Event event;
  event.body = engine::ReportTaken{{engine::ExperimentId(3), engine::TrialNumber(5), {}, {}}, 1, {}};
  EXPECT_EQ(touched_by(event).experiment, engine::ExperimentId(3));
  EXPECT_EQ(touched_by(event).trial, engine::TrialNumber(5));
  event.body = engine::ExperimentPaused{engine::ExperimentId(4)};
  EXPECT_EQ(touched_by(event).experiment, engine::ExperimentId(4));
  EXPECT_FALSE(touched_by(event).trial);
  event.body = engine::TimeNoted{};
  EXPECT_FALSE(touched_by(event).experiment);
}

}  // namespace
}  // namespace hpsearch::views
