#include "hpsearch/proto/views/metric_names.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "hpsearch/proto/views/columns.hpp"
#include "proto/views/small_search.hpp"

namespace hpsearch::views {
namespace {

using engine::Value;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// An experiment whose trials report whatever a test says; its metric is loss.
class Reported : public testing::Test {
 protected:
  Reported() {
    record_.id = engine::ExperimentId(1);
    record_.config.searcher.metric = "loss";
  }

  /// As the engine applies a report, then shows its event.
  void report(std::size_t trial, std::uint64_t step, engine::Metrics metrics) {
    while (record_.trials.size() <= trial) {
      record_.trials.push_back({});
    }
    now_ += 1'000'000;
    const engine::Instant at = engine::Instant::from_micros(now_);
    engine::TrialRecord& it = record_.trials[trial];
    for (const auto& [name, value] : metrics) {
      if (name == "loss" && std::isfinite(value) && (!it.best || value < it.best->metric)) {
        it.best = engine::Measurement{engine::Units(step), value};
        it.best_at = at;
      }
    }
    engine::ReportTaken taken;
    taken.key.experiment = record_.id;
    taken.key.trial = engine::TrialNumber(trial);
    taken.report = engine::MetricsReport{engine::Units(step), std::move(metrics)};
    names_.note(engine::Event{engine::Lsn(1), at, taken}, &record_);
  }
  [[nodiscard]] double at_best(std::size_t trial, const std::string& name) const {
    return names_.at_best(record_, trial, name);
  }

  engine::ExperimentRecord record_;
  MetricNames names_;
  std::int64_t now_ = 0;
};

TEST_F(Reported, ValuesAreThoseOfTheStepWhereATrialWasBest) {
  report(0, 1, {{"acc", 0.5}, {"loss", 0.9}});
  report(0, 2, {{"acc", 0.8}, {"loss", 0.3}});
  report(0, 3, {{"acc", 0.9}, {"loss", 0.4}});
  report(2, 1, {{"acc", 0.1}, {"f1", 0.2}, {"loss", 0.7}});
  EXPECT_EQ(at_best(0, "acc"), 0.8);
  EXPECT_EQ(at_best(0, "loss"), 0.3);
  EXPECT_TRUE(std::isnan(at_best(0, "f1")));
  EXPECT_TRUE(std::isnan(at_best(1, "acc")));
  EXPECT_EQ(at_best(2, "f1"), 0.2);
  EXPECT_TRUE(std::isnan(at_best(2, "no such metric")));
  EXPECT_EQ(names_.names(record_.id), (std::vector<std::string>{"acc", "f1", "loss"}));
}

TEST_F(Reported, ReportsBesideTheBestOneBelongToIt) {
  report(0, 1, {{"training.loss", 5}});
  report(0, 1, {{"loss", 0.9}});
  report(0, 2, {{"training.loss", 4}});
  report(0, 2, {{"training.time", 7}});
  report(0, 2, {{"loss", 0.5}});
  report(0, 2, {{"late", 1}});
  report(0, 3, {{"training.loss", 3}});
  report(0, 3, {{"late", 2}});
  EXPECT_EQ(at_best(0, "training.loss"), 4);
  EXPECT_EQ(at_best(0, "training.time"), 7);
  EXPECT_EQ(at_best(0, "late"), 1);
}

TEST_F(Reported, ValueThatANewBestLacksIsMissing) {
  report(0, 1, {{"acc", 0.5}, {"loss", 0.9}});
  report(0, 2, {{"loss", 0.8}});
  EXPECT_TRUE(std::isnan(at_best(0, "acc")));
  report(0, 3, {{"acc", nan}, {"loss", 0.7}});
  EXPECT_TRUE(std::isnan(at_best(0, "acc")));
}

TEST_F(Reported, AnAttemptThatMeasuresTheBestStepAgainAndWorseChangesNothing) {
  report(0, 1, {{"acc", 0.5}, {"loss", 0.3}});
  report(0, 1, {{"acc", 0.1}, {"loss", 0.4}});
  EXPECT_EQ(at_best(0, "acc"), 0.5);
  record_.trials[0].best.reset();  // As of a trial whose hyperparameters turned out to be invalid.
  EXPECT_TRUE(std::isnan(at_best(0, "acc")));
}

TEST_F(Reported, DeletedExperimentIsForgotten) {
  report(0, 1, {{"loss", 0.3}});
  names_.note(engine::Event{engine::Lsn(2), engine::Instant::from_micros(now_),
                            engine::ExperimentDeleted{record_.id}},
              nullptr);
  EXPECT_FALSE(names_.has(record_.id, "loss"));
}

TEST(MetricColumns, AreThereByDefaultAndByName) {
  MetricNames names;
  SmallSearch search(SmallSearch::halving(20));
  engine::ReportTaken taken;
  taken.key.experiment = engine::ExperimentId(1);
  taken.report = engine::MetricsReport{engine::Units(1), {{"acc", 0.5}}};
  names.note(engine::Event{engine::Lsn(1), {}, taken}, nullptr);
  for (int i = 0; i < 30 && !search.over(); ++i) {
    search.advance();
  }
  const auto fields_of = [&](const std::string& fields) {
    ColumnsQuery query;
    query.fields = fields;
    auto scan = ColumnScan::begin(search.record(), names, query, search.engine().last_instant());
    if (!scan) {
      return scan.error().message;
    }
    while (scan->read_some(search.record(), 1'000'000)) {
    }
    scan->finish(search.record(), search.engine().last_lsn());
    std::string found;
    for (const Columns::Column& column : scan->take().columns) {
      found += (found.empty() ? "" : ",") + column.name;
    }
    return found;
  };
  EXPECT_EQ(fields_of("metrics.acc,trial"), "metrics.acc,trial");
  EXPECT_EQ(fields_of(""),
            "trial,state,result,metric,at,nonfinite,reached,rung,hparams.kind,hparams.layers,hparams.lr,"
            "metrics.acc");
  EXPECT_NE(fields_of("metrics.f1").find("metrics.f1"), std::string::npos);
  EXPECT_EQ(fields_of("metrics.f1").rfind("fields: ", 0), 0U) << fields_of("metrics.f1");
}

}  // namespace
}  // namespace hpsearch::views
