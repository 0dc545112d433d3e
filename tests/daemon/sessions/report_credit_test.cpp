#include "daemon/sessions/report_credit.hpp"

#include <gtest/gtest.h>

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

TEST(ReportCredit, IsUnlimitedWithoutABacklog) {
  EXPECT_EQ(report_credit({}, {}), 0U);
  EXPECT_EQ(report_credit({64, 4'000, true}, {}), 0U);
}

TEST(ReportCredit, SumOfAllWorkersIsBounded) {
  EXPECT_EQ(report_credit({128, 0, true}, {}), 2 * mib);
  EXPECT_EQ(report_credit({1'024, 0, true}, {}), 256 * kib);
  EXPECT_EQ(report_credit({100'000, 0, true}, {}), CreditRules{}.least) << "every worker gets some";
}

TEST(ReportCredit, IsHalvedWithEachDoublingOfTheBacklog) {
  EXPECT_EQ(report_credit({1, 4'001, true}, {}), 2 * mib);
  EXPECT_EQ(report_credit({1, 8'002, true}, {}), 1 * mib);
  EXPECT_EQ(report_credit({1, 1'000'000'000, true}, {}), CreditRules{}.least);
}

TEST(ReportCredit, IsOneBatchWhileNothingCanBeStored) {
  EXPECT_EQ(report_credit({1, 0, false}, {}), CreditRules{}.least);
}

}  // namespace
}  // namespace hpsearch::daemon
