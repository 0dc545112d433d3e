// The witnesses themselves: what they let pass, and what not.

#include "simulation/cluster/promises.hpp"

#include <gtest/gtest.h>

#include "engine/test_cluster.hpp"

namespace hpsearch::simulation {
namespace {

using engine::Duration;
using engine::Instant;

/// A started attempt is given up: the daemon decides at 1,000 s, and offers the group to its disk at 1,060 s.
struct GivenUp {
  explicit GivenUp(bool heard_of_worker) : promises(time), heard(heard_of_worker) {
    cluster.now = Instant{} + Duration::seconds(10);
    const engine::WorkerId worker = cluster.join("a", 1);
    const engine::ExperimentId experiment = cluster.create(engine::random_config(1, 1));
    cluster.step(engine::ConfirmStart{worker, cluster.live(experiment, 0)});
    promises.ask({[](const engine::AttemptKey&, const std::string&) { return false; },
                  [this](const engine::AttemptKey&, const std::string&, Instant at) {
                    asked_about = at;
                    return heard;
                  }});
    promises.committed(cluster.log);
    cluster.now = daemons_clock(1'000);
    group =
        cluster
            .step(engine::ExpireLeases{worker, Instant{} + Duration::seconds(10), Duration::seconds(300), {}})
            .events;
    pass_until(1'060);
    promises.offered(group, daemons_clock(1'060));
  }
  static Instant daemons_clock(std::int64_t seconds) {
    return Instant{} + Duration::seconds(1'000'000 + seconds);
  }
  void pass_until(std::int64_t seconds) {
    time.at(Instant{} + Duration::seconds(seconds), [] {});
    time.step();
  }

  engine::TestCluster cluster;
  VirtualTime time;
  Promises promises;
  std::vector<engine::Event> group;
  bool heard;
  Instant asked_about;
};

TEST(LeaseIsGivenUp, TheWitnessIsAskedAboutTheTimeOfTheDecision) {
  GivenUp given_up(false);
  EXPECT_EQ(given_up.asked_about.micros() / 1'000'000, 1'000) << "not of the disk's answer";
}

TEST(LeaseIsGivenUp, WhatIsHeardBeforeTheNextDaemonFindsTheGroupIsTooLate) {
  GivenUp given_up(false);
  given_up.heard = true;  // As everybody counts as heard after its start.
  given_up.pass_until(1'100);
  given_up.promises.committed(given_up.group);
  EXPECT_EQ(given_up.promises.broken(), "");
}

TEST(LeaseIsGivenUp, OfAWorkerThatWasHeardBreaksAPromise) {
  GivenUp given_up(true);
  given_up.heard = false;  // Nobody is there any more when the next daemon finds the group.
  given_up.pass_until(1'100);
  given_up.promises.committed(given_up.group);
  EXPECT_EQ(given_up.promises.broken().substr(0, 4), "I5: ");
}

}  // namespace
}  // namespace hpsearch::simulation
