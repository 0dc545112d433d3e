#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "daemon/store/event_store.hpp"
#include "hpsearch/proto/events/stored.hpp"

namespace hpsearch::daemon {

/// What every EventStore promises. An implementation joins with a fixture and one line:
///
///     INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, EventStoreContract, SqliteFixture);
///
/// The fixture's open() opens the one store it stands for, again each time; the one before is closed by then.
/// A fixture that needs what not every machine has can have skipped(), which returns why; "" = it is there.
template <class Fixture>
class EventStoreContract : public testing::Test {
 protected:
  void SetUp() override {
    if constexpr (requires { fixture_.skipped(); }) {
      if (const std::string why = fixture_.skipped(); !why.empty()) {
        GTEST_SKIP() << why;
      }
    }
    reopen();
  }

  /// Closes and opens; returns the events of the recovery.
  std::vector<engine::Event> reopen() {
    store_.reset();
    store_ = fixture_.open();
    std::vector<engine::Event> events;
    const auto recovered = store_->recover([&](engine::Event event) -> engine::Status {
      events.push_back(std::move(event));
      return engine::Done{};
    });
    EXPECT_TRUE(recovered) << (recovered ? "" : recovered.error().message);
    return events;
  }

  engine::Event next(engine::EventBody body) {
    ++lsn_;
    return engine::Event{engine::Lsn(lsn_),
                         engine::Instant::from_micros(1'000'000 + static_cast<std::int64_t>(lsn_)),
                         std::move(body)};
  }
  engine::Event report(std::uint64_t trial, std::uint64_t attempt, std::uint64_t seq, double metric) {
    const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(trial),
                                 engine::AttemptNumber(attempt), engine::LeaseId(7)};
    return next(
        engine::ReportTaken{key, seq, engine::MetricsReport{engine::Units(seq * 10), {{"loss", metric}}}});
  }
  engine::Event paused() { return next(engine::ExperimentPaused{engine::ExperimentId(1)}); }

  void append(const std::vector<engine::Event>& group) {
    const auto appended = store_->append(group);
    ASSERT_TRUE(appended) << appended.error().message;
  }

  static void expect_same(const engine::Event& a, const engine::Event& b) {
    EXPECT_EQ(a.lsn, b.lsn);
    EXPECT_EQ(a.at, b.at);
    EXPECT_EQ(proto::encode_event(a.body), proto::encode_event(b.body));
  }

  Fixture fixture_;
  std::unique_ptr<EventStore> store_;
  std::uint64_t lsn_ = 0;
};

TYPED_TEST_SUITE_P(EventStoreContract);

TYPED_TEST_P(EventStoreContract, FreshStoreIsEmpty) {
  EXPECT_EQ(this->store_->last_lsn(), engine::Lsn(0));
  EXPECT_TRUE(this->reopen().empty());
}

TYPED_TEST_P(EventStoreContract, RecoveryReturnsEverythingInOrder) {
  const std::vector<engine::Event> first{this->paused(), this->report(0, 1, 1, 0.5)};
  const std::vector<engine::Event> second{this->report(0, 1, 2, 0.25)};
  this->append(first);
  this->append(second);
  EXPECT_EQ(this->store_->last_lsn(), engine::Lsn(3));
  const auto recovered = this->reopen();
  ASSERT_EQ(recovered.size(), 3U);
  this->expect_same(recovered[0], first[0]);
  this->expect_same(recovered[1], first[1]);
  this->expect_same(recovered[2], second[0]);
  EXPECT_EQ(this->store_->last_lsn(), engine::Lsn(3));
}

TYPED_TEST_P(EventStoreContract, GoesOnWhereTheLastOneStopped) {
  for (int i = 0; i < 5; ++i) {
    this->append({this->paused()});
    EXPECT_EQ(this->reopen().size(), this->lsn_);
  }
}

TYPED_TEST_P(EventStoreContract, AppendOfNothingIsFine) {
  this->append({});
  EXPECT_EQ(this->store_->last_lsn(), engine::Lsn(0));
}

TYPED_TEST_P(EventStoreContract, IdentityStaysAndEpochGrowsWithEachOpening) {
  const std::uint64_t cluster = this->store_->cluster();
  const std::uint64_t epoch = this->store_->daemon_epoch();
  EXPECT_NE(cluster, 0U);
  EXPECT_GE(epoch, 1U);
  this->reopen();
  EXPECT_EQ(this->store_->cluster(), cluster);
  EXPECT_EQ(this->store_->daemon_epoch(), epoch + 1);
}

TYPED_TEST_P(EventStoreContract, RecoveryEndsWithTheVisitorsError) {
  this->append({this->paused(), this->paused()});
  this->store_.reset();
  this->store_ = this->fixture_.open();
  int visits = 0;
  const auto recovered = this->store_->recover([&](const engine::Event&) -> engine::Status {
    ++visits;
    return engine::Error{engine::Errc::corrupt, "cannot follow"};
  });
  ASSERT_FALSE(recovered);
  EXPECT_EQ(recovered.error().message, "cannot follow");
  EXPECT_EQ(visits, 1);
}

TYPED_TEST_P(EventStoreContract, ReadsARangeOfEvents) {
  std::vector<engine::Event> events;
  for (int i = 0; i < 10; ++i) {
    events.push_back(this->paused());
  }
  this->append(events);
  const auto some = this->store_->read(engine::Lsn(3), 4);
  ASSERT_TRUE(some);
  ASSERT_EQ(some->size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    this->expect_same((*some)[i], events[3 + i]);
  }
  const auto rest = this->store_->read(engine::Lsn(8), 100);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->size(), 2U);
  const auto none = this->store_->read(engine::Lsn(10), 100);
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
  const auto beyond = this->store_->read(engine::Lsn(99), 100);
  ASSERT_TRUE(beyond);
  EXPECT_TRUE(beyond->empty());
}

TYPED_TEST_P(EventStoreContract, KeepsTheMetricsOfATrialInOrder) {
  this->append({this->report(0, 1, 1, 0.9), this->report(1, 1, 1, 0.8), this->report(0, 1, 2, 0.7),
                this->report(0, 2, 1, 0.6)});
  this->reopen();
  const auto points = this->store_->metrics(engine::ExperimentId(1), engine::TrialNumber(0), {}, 1'000);
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_EQ(points->size(), 3U);
  EXPECT_EQ((*points)[0].metrics, (engine::Metrics{{"loss", 0.9}}));
  EXPECT_EQ((*points)[1].seq, 2U);
  EXPECT_EQ((*points)[1].step, engine::Units(20));
  EXPECT_EQ((*points)[2].attempt, engine::AttemptNumber(2));
  EXPECT_EQ((*points)[2].metrics, (engine::Metrics{{"loss", 0.6}}));
  const auto other = this->store_->metrics(engine::ExperimentId(2), engine::TrialNumber(0), {}, 1'000);
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->empty());
}

TYPED_TEST_P(EventStoreContract, GivesMetricsInPages) {
  this->append({this->report(0, 1, 1, 0.9), this->report(0, 1, 2, 0.7), this->report(0, 2, 1, 0.6),
                this->report(0, 10, 1, 0.5), this->report(1, 1, 1, 0.8)});
  const auto page = [this](MetricPosition after, std::size_t enough) {
    const auto points = this->store_->metrics(engine::ExperimentId(1), engine::TrialNumber(0), after, enough);
    EXPECT_TRUE(points) << points.error().message;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    for (const MetricPoint& point : points ? *points : std::vector<MetricPoint>()) {
      places.emplace_back(point.attempt.number(), point.seq);
    }
    return places;
  };
  using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(page({}, 2), (Places{{1, 1}, {1, 2}}));
  EXPECT_EQ(page({engine::AttemptNumber(1), 2}, 1), (Places{{2, 1}}));
  EXPECT_EQ(page({engine::AttemptNumber(2), 1}, 9), (Places{{10, 1}}));
  EXPECT_EQ(page({engine::AttemptNumber(10), 1}, 9), Places{});
}

TYPED_TEST_P(EventStoreContract, GivesCurvesInPages) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(1),
                               engine::LeaseId(5)};
  engine::ReportTaken other{
      .key = key, .seq = 9, .report = engine::MetricsReport{engine::Units(3), {{"a\"loss", 1.0}}}};
  this->append({this->report(0, 1, 1, 0.9), this->report(2, 1, 1, 0.8), this->report(0, 1, 2, 0.7),
                this->report(0, 2, 1, std::numeric_limits<double>::infinity()), this->next(other),
                this->report(3, 1, 1, 0.1)});
  this->reopen();
  for (const std::size_t most : {1U, 2U, 100U}) {
    std::vector<double> values;
    CurvePosition after;
    for (bool more = true; more;) {
      const auto page =
          this->store_->curves(engine::ExperimentId(1), "loss", after, engine::TrialNumber(2), most);
      ASSERT_TRUE(page) << page.error().message;
      for (const CurvePoint& point : page->points) {
        values.push_back(point.value);
        EXPECT_GT(point.at, engine::Instant{});
      }
      more = page->next.has_value();
      after = page->next.value_or(CurvePosition{});
    }
    EXPECT_EQ(values, (std::vector<double>{0.9, 0.7, std::numeric_limits<double>::infinity(), 0.8})) << most;
  }
  const auto quoted =
      this->store_->curves(engine::ExperimentId(1), "a\"loss", {}, engine::TrialNumber(9), 100);
  ASSERT_TRUE(quoted);
  ASSERT_EQ(quoted->points.size(), 1U);
  EXPECT_EQ(quoted->points.front().step, engine::Units(3));
}

TYPED_TEST_P(EventStoreContract, ThinnedCurveLosesRowsOfReportsAndNothingElse) {
  std::vector<engine::Event> reports;
  for (std::uint64_t seq = 1; seq <= 5; ++seq) {
    reports.push_back(this->report(0, 1, seq, static_cast<double>(seq)));
  }
  reports.push_back(this->report(0, 2, 2, 6));
  reports.push_back(this->report(1, 1, 2, 7));
  this->append(reports);
  const auto seqs_of = [this](std::uint64_t trial) {
    const auto points = this->store_->metrics(engine::ExperimentId(1), engine::TrialNumber(trial), {}, 100);
    EXPECT_TRUE(points);
    std::vector<std::uint64_t> seqs;
    for (const MetricPoint& point : points ? *points : std::vector<MetricPoint>{}) {
      seqs.push_back(point.seq);
    }
    return seqs;
  };
  // One more report of the trial is in the same group.
  const engine::Event last = this->report(0, 3, 1, 8);
  this->append({last, this->next(engine::CurveThinned{
                          engine::ExperimentId(1), engine::TrialNumber(0), 3, {1, 2, 3, 1, 5, 5, 3, 1, 1}})});
  EXPECT_EQ(seqs_of(0), (std::vector<std::uint64_t>{1, 4, 2}));
  EXPECT_EQ(seqs_of(1), std::vector<std::uint64_t>{2});
  EXPECT_EQ(this->reopen().size(), 9U) << "the log has all of it";
  EXPECT_EQ(seqs_of(0), (std::vector<std::uint64_t>{1, 4, 2}));
}

TYPED_TEST_P(EventStoreContract, RowsOfADeletedExperimentAreRemoved) {
  this->append({this->report(0, 1, 1, 0.5), this->report(1, 1, 1, 0.5), this->report(2, 1, 1, 0.5),
                this->next(engine::TrialRetried{engine::ExperimentId(1), engine::TrialNumber(0)}),
                this->next(engine::TrialRetried{engine::ExperimentId(1), engine::TrialNumber(2)})});
  this->append({this->report(1, 1, 2, 0.5),
                this->next(engine::RowsRemoved{engine::ExperimentId(1), engine::TrialNumber(0),
                                               engine::TrialNumber(1)})});
  for (const std::uint64_t trial : {0U, 1U, 2U}) {
    const engine::TrialNumber number(trial);
    const auto reports = this->store_->metrics(engine::ExperimentId(1), number, {}, 100);
    const auto history = this->store_->history(engine::ExperimentId(1), number);
    ASSERT_TRUE(reports && history);
    EXPECT_EQ(reports->size(), trial == 2 ? 1U : 0U) << trial;
    EXPECT_EQ(history->size(), trial == 2 ? 1U : 0U) << trial;
  }
  EXPECT_EQ(this->reopen().size(), 7U) << "the log has all of it";
}

TYPED_TEST_P(EventStoreContract, KeepsTheHistoryOfATrialInOrderWithItsExitsAndNoOtherReport) {
  const engine::AttemptKey key{engine::ExperimentId(1), engine::TrialNumber(2), engine::AttemptNumber(1),
                               engine::LeaseId(5)};
  engine::ExitReport exit;
  exit.code = 3;
  this->append({this->next(engine::TrialQueued{key.experiment, key.trial}), this->report(2, 1, 1, 0.5),
                this->next(engine::TrialQueued{key.experiment, engine::TrialNumber(3)}),
                this->next(engine::AttemptStarted{key}), this->next(engine::ExperimentPaused{key.experiment}),
                this->next(engine::ReportTaken{.key = key, .seq = 2, .report = exit}),
                this->next(engine::AttemptLost{key, "gone"})});
  this->reopen();
  const auto history = this->store_->history(key.experiment, key.trial);
  ASSERT_TRUE(history) << history.error().message;
  ASSERT_EQ(history->size(), 4U);
  EXPECT_TRUE(std::holds_alternative<engine::TrialQueued>((*history)[0].body));
  EXPECT_TRUE(std::holds_alternative<engine::AttemptStarted>((*history)[1].body));
  EXPECT_EQ(std::get<engine::ExitReport>(std::get<engine::ReportTaken>((*history)[2].body).report).code, 3);
  EXPECT_EQ(std::get<engine::AttemptLost>((*history)[3].body).why, "gone");
  EXPECT_LT((*history)[0].lsn, (*history)[1].lsn);
  const auto other = this->store_->history(engine::ExperimentId(9), key.trial);
  ASSERT_TRUE(other);
  EXPECT_TRUE(other->empty());
}

TYPED_TEST_P(EventStoreContract, MetricsKeepEveryDouble) {
  const std::vector<double> values{0.1,
                                   1.0,
                                   -0.0,
                                   std::numeric_limits<double>::denorm_min(),
                                   std::numeric_limits<double>::max(),
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()};
  std::vector<engine::Event> events;
  for (std::size_t i = 0; i < values.size(); ++i) {
    events.push_back(this->report(0, 1, i + 1, values[i]));
  }
  this->append(events);
  const auto points = this->store_->metrics(engine::ExperimentId(1), engine::TrialNumber(0), {}, 1'000);
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_EQ(points->size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double read = (*points)[i].metrics.at(0).second;
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(read));
    } else {
      EXPECT_EQ(read, values[i]);
      EXPECT_EQ(std::signbit(read), std::signbit(values[i]));
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(EventStoreContract, FreshStoreIsEmpty, RecoveryReturnsEverythingInOrder,
                            GoesOnWhereTheLastOneStopped, AppendOfNothingIsFine,
                            IdentityStaysAndEpochGrowsWithEachOpening, RecoveryEndsWithTheVisitorsError,
                            ReadsARangeOfEvents, KeepsTheHistoryOfATrialInOrderWithItsExitsAndNoOtherReport,
                            KeepsTheMetricsOfATrialInOrder, GivesMetricsInPages, GivesCurvesInPages,
                            MetricsKeepEveryDouble, ThinnedCurveLosesRowsOfReportsAndNothingElse,
                            RowsOfADeletedExperimentAreRemoved);

}  // namespace hpsearch::daemon
