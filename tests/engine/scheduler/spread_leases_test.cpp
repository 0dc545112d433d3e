// More slots are free than one step may lease: the next steps go on.
#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

namespace hpsearch::engine {
namespace {

TEST(SpreadLeases, ManyFreeSlotsAreLeasedInSeveralSteps) {
  constexpr std::uint64_t in_one_step = 512;
  TestCluster cluster;
  cluster.join("w", 1'200);
  cluster.create(test_config({{"name", "random"}, {"max_trials", 2'000}, {"max_concurrent_trials", 0}}, {}));
  const auto leases = [&] { return all<LeaseGranted>(cluster.log).size(); };
  const auto is_due = [&] { return cluster.engine.next_deadline() == cluster.engine.last_instant(); };
  for (const std::uint64_t expected : {in_one_step, 2 * in_one_step}) {
    EXPECT_EQ(leases(), expected);
    ASSERT_TRUE(is_due());
    cluster.step(CheckTimers{});
  }
  EXPECT_EQ(leases(), 1'200U);
  EXPECT_FALSE(is_due());
  Engine replayed = cluster.replayed();
  EXPECT_EQ(state_text(replayed), state_text(cluster.engine));
}

}  // namespace
}  // namespace hpsearch::engine
