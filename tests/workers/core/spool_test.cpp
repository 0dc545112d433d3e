#include "hpsearch/workers/core/spool.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace hpsearch::workers {
namespace {

using engine::AttemptKey;
using engine::AttemptNumber;
using engine::CheckpointReport;
using engine::Directive;
using engine::Errc;
using engine::ExitReport;
using engine::ExperimentId;
using engine::LeaseId;
using engine::Lsn;
using engine::MetricsReport;
using engine::Report;
using engine::TrialNumber;
using engine::Units;
using jobs::LaunchSpec;

LaunchSpec spec() {
  LaunchSpec spec;
  spec.key = AttemptKey{ExperimentId{1}, TrialNumber{2}, AttemptNumber{3}, LeaseId{40}};
  spec.entrypoint = jobs::Entrypoint{std::string("true")};
  spec.length = Units{3};
  spec.metric = "acc";
  return spec;
}

MetricsReport metrics(std::uint64_t step, double value) {
  return {.step = Units{step}, .metrics = {{"acc", value}}};
}

SpooledState full_state() {
  SpooledState state;
  state.position = 12'345;
  state.acked = 1;
  state.last_decision = Lsn{77};
  state.order = Directive::pause;
  state.may_finish = true;
  state.length = Units{9};
  state.speaks_socket = true;
  state.last_step = Units{4};
  state.length_reported = Units{3};
  state.reported_checkpoint = true;
  state.paused_because = "its worker's time is over";
  state.held_since = 1'700'000'000'000'000;
  state.held_until = 1'700'000'001'000'000;
  state.lost_checkpoint = "no \"room\"";
  state.ended_here = true;
  state.asking = {QuestionId{5}, QuestionId{6}};
  state.saved = {QuestionId{8}};
  state.checkpoints = {{.step = Units{4}, .question = QuestionId{7}}, {.step = Units{4}, .question = {}}};
  return state;
}

double value_of(const Report& report) {
  return std::get<MetricsReport>(report).metrics.at(0).second;
}

TEST(Spool, IsReadBackUnchanged) {
  const SpooledState state = full_state();
  const std::string bytes =
      spool_anew(spec(), {}, 1, {metrics(1, 0.1), metrics(2, std::nan(""))}) +
      spool_more(state, 3, {CheckpointReport{Units{2}, "/c/1", 2, 30}, metrics(3, 0.3)});
  const auto found = read_spool(bytes);
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->spec.key, spec().key);
  EXPECT_EQ(found->spec.length, Units{3});
  EXPECT_EQ(found->state, state);
  ASSERT_EQ(found->reports.size(), 3U) << "the first one is acknowledged";
  EXPECT_TRUE(std::isnan(value_of(found->reports[0])));
  EXPECT_EQ(std::get<CheckpointReport>(found->reports[1]).path, "/c/1");
  EXPECT_EQ(value_of(found->reports[2]), 0.3);
}

TEST(Spool, TruncatedSpoolHasTheWritesBeforeTheCut) {
  const std::string first = spool_anew(spec(), {}, 1, {metrics(1, 0.1)});
  const std::string second = first + spool_more({}, 2, {metrics(2, 0.2)});
  const std::string third = second + spool_more({}, 3, {metrics(3, 0.3)});
  for (std::size_t cut = 0; cut <= third.size(); ++cut) {
    const auto found = read_spool(std::string_view(third).substr(0, cut));
    if (cut < first.size()) {
      EXPECT_EQ(found.has_value(), false) << cut;
      continue;
    }
    ASSERT_TRUE(found.has_value()) << cut << ": " << found.error().message;
    const std::size_t whole = cut < second.size() ? 1 : cut < third.size() ? 2 : 3;
    EXPECT_EQ(found->reports.size(), whole) << cut;
  }
}

TEST(Spool, ZerosAfterItAreIgnored) {
  const auto found = read_spool(spool_anew(spec(), {}, 1, {metrics(1, 0.1)}) + std::string(100, '\0'));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->reports.size(), 1U);
}

TEST(Spool, DamagedByteIsReportedOrInTheLastRecord) {
  SpooledState state = full_state();
  state.acked = 0;
  const std::string first = spool_anew(spec(), state, 1, {metrics(1, 0.1)});
  const std::string whole = first + spool_more({}, 2, {metrics(2, 0.2)});
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto found = read_spool(damaged);
    if (at < first.size() && found.has_value()) {
      ADD_FAILURE() << "byte " << at << " was changed and nobody noticed";
    }
    // A damaged, smaller length can look like a complete record that another one follows.
    const bool in_a_length = at >= first.size() && at < first.size() + 4;
    if (in_a_length && !found.has_value()) {
      EXPECT_EQ(found.error().code, Errc::corrupt) << at;
    } else if (at >= first.size()) {
      ASSERT_TRUE(found.has_value()) << at;
      EXPECT_EQ(found->reports.size(), 1U) << at;
    }
  }
}

TEST(Spool, BeginsWithItsLeaseAndHasNoOther) {
  const std::string anew = spool_anew(spec(), {}, 1, {metrics(1, 0.1)});
  EXPECT_EQ(read_spool(spool_more({}, 1, {metrics(1, 0.1)})).error().code, Errc::corrupt);
  const std::string second_lease = spool_anew(spec(), {}, 2, {metrics(2, 0.2)});
  EXPECT_EQ(read_spool(anew + second_lease).error().code, Errc::corrupt);
  EXPECT_EQ(read_spool("").error().code, Errc::corrupt);
}

TEST(Spool, GapIsAnError) {
  const std::string bytes =
      spool_anew(spec(), {}, 1, {metrics(1, 0.1)}) + spool_more({}, 3, {metrics(3, 0.3)});
  const auto found = read_spool(bytes);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Errc::corrupt);
}

TEST(Spool, OneRecordCanHaveManyReports) {
  std::vector<Report> reports;
  for (std::uint64_t step = 1; step <= 5000; ++step) {
    reports.emplace_back(metrics(step, 1.0 / static_cast<double>(step)));
  }
  const auto found = read_spool(spool_anew(spec(), {}, 1, reports));
  ASSERT_TRUE(found.has_value()) << found.error().message;
  ASSERT_EQ(found->reports.size(), 5000U);
  EXPECT_EQ(value_of(found->reports[4999]), 1.0 / 5000);
}

}  // namespace
}  // namespace hpsearch::workers
