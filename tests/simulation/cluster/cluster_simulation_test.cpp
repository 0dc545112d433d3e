// A whole cluster, one life per seed; hpsearch-sim runs many more. HPSEARCH_SEED=n runs one seed,
// HPSEARCH_SEEDS=n that many. They are shorter than its.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "hpsearch/io/net/log.hpp"
#include "simulation/cluster/cluster.hpp"
#include "simulation/from_environment.hpp"

namespace hpsearch::simulation {
namespace {

TEST(ClusterSimulation, KeepsItsPromisesForEverySeed) {
  net::set_log_level("error");
  const std::uint64_t first = from_environment("HPSEARCH_SEED", 1);
  const bool one = std::getenv("HPSEARCH_SEED") != nullptr;
  const std::uint64_t seeds = one ? 1 : from_environment("HPSEARCH_SEEDS", 30);
  std::cout << "seeds " << first << " to " << first + seeds - 1 << std::endl;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    RunOptions options;
    options.seed = seed;
    options.hours = 2;
    const auto result = run_cluster(options);
    ASSERT_TRUE(result);
    if (!result->broken.empty()) {
      std::cout << "broken by seed " << seed - first + 1 << " of " << seeds << std::endl;
    }
    ASSERT_EQ(result->broken, "") << result->options << "\nreplay: hpsearch-sim --hours 2 --seeds " << seed;
  }
}

TEST(ReplayCommand, SaysEveryNumberToItsLastDigit) {
  RunOptions options;
  options.seed = 18'446'744'073'709'551'615U;
  EXPECT_EQ(replay_command(options), "hpsearch-sim --seeds 18446744073709551615");
  options.hours = 3.1234567;
  options.store = StoreKind::sqlite;
  options.rates = {{"frame_lost", 0.0000001}, {"daemon_crash", 1.0 / 3}, {"partition_both_ways", 0}};
  EXPECT_EQ(
      replay_command(options),
      "hpsearch-sim --seeds 18446744073709551615 --hours 3.1234567 --store sqlite --option frame_lost=1e-07 "
      "--option daemon_crash=0.3333333333333333 --option partition_both_ways=0.0");
}

TEST(ClusterSimulation, SameSeedIsTheSameLife) {
  net::set_log_level("error");
  RunOptions options;
  options.seed = 7;
  options.hours = 1;
  const auto once = run_cluster(options);
  const auto again = run_cluster(options);
  options.seed = 8;
  const auto other = run_cluster(options);
  ASSERT_TRUE(once && again && other);
  EXPECT_EQ(once->digest, again->digest);
  EXPECT_NE(once->digest, other->digest);
}

TEST(ClusterSimulation, UnknownOptionIsRefused) {
  RunOptions options;
  options.rates = {{"daemon_crsh", 1}};
  EXPECT_EQ(run_cluster(options).error().code, engine::Errc::bad_request);
}

}  // namespace
}  // namespace hpsearch::simulation
