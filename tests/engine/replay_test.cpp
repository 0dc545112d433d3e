#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/test_cluster.hpp"
#include "messages.hpp"

namespace hpsearch::engine {
namespace {

TEST(Replay, RefusesAnEventOutOfOrderOrWithoutItsSubject) {
  TestCluster cluster;
  cluster.join("a", 1);
  cluster.create(random_config(2, 1));
  Engine twin(searchers::registry());
  EXPECT_EQ(twin.replay(cluster.log[1]).error().code, Errc::corrupt);
  ASSERT_TRUE(twin.replay(cluster.log[0]));
  Event orphan = cluster.log[2];
  orphan.lsn = Lsn(2);
  EXPECT_EQ(twin.replay(orphan).error().code, Errc::corrupt);
}

TEST(Replay, RefusesToEndPauseOrQueueATrialTwice) {
  TestCluster cluster;
  cluster.join("a", 1);
  const ExperimentId id = cluster.create(asha_config(9, 1));
  cluster.report(cluster.live(id, 0), 1, 0.5);
  cluster.exit(cluster.live(id, 0));
  cluster.step(PauseExperiment{id});
  cluster.exit(cluster.live(id, 1));
  cluster.step(ResumeExperiment{id});
  cluster.step(EndTrial{id, TrialNumber(0), ExitReason::user_canceled});
  cluster.step(EndTrial{id, TrialNumber(1), ExitReason::user_stopped});
  cluster.step(JoinWorker{"b", "b", 1, 3, "cpu", {}});
  std::set<std::string> refused;
  for (std::size_t last = 0; last < cluster.log.size(); ++last) {
    const EventBody& body = cluster.log[last].body;
    const bool moves = std::holds_alternative<TrialPaused>(body) ||
                       std::holds_alternative<TrialQueued>(body) || std::holds_alternative<TrialEnded>(body);
    if (!moves) {
      continue;
    }
    Engine twin(searchers::registry());
    for (std::size_t i = 0; i <= last; ++i) {
      ASSERT_TRUE(twin.replay(cluster.log[i]));
    }
    Event again = cluster.log[last];
    again.lsn = Lsn(again.lsn.number() + 1);
    const Status status = twin.replay(again);
    ASSERT_FALSE(status.has_value()) << last;
    EXPECT_EQ(status.error().code, Errc::corrupt);
    refused.insert(std::to_string(body.index()));
  }
  EXPECT_EQ(refused.size(), 3U) << "of each kind";
}

// What else cannot follow: forged_saves_test.
TEST(Replay, RefusesALeaseOfSlotsThatAreHeldOrMissing) {
  TestCluster cluster;
  cluster.join("a", 2);
  cluster.create(random_config(2, 2));
  std::vector<std::size_t> leases;
  for (std::size_t i = 0; i < cluster.log.size(); ++i) {
    if (std::holds_alternative<LeaseGranted>(cluster.log[i].body)) {
      leases.push_back(i);
    }
  }
  ASSERT_EQ(leases.size(), 2U);
  const auto refusal = [&](std::vector<SlotIndex> slots) {
    Engine twin(searchers::registry());
    for (std::size_t i = 0; i < leases[1]; ++i) {
      EXPECT_TRUE(twin.replay(cluster.log[i]));
    }
    Event forged = cluster.log[leases[1]];
    std::get<LeaseGranted>(forged.body).slots = std::move(slots);
    const Status status = twin.replay(forged);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(refusal({SlotIndex(1)}), "");
  EXPECT_EQ(refusal({SlotIndex(0)}),
            "event " + std::to_string(leases[1] + 1) + " cannot follow: slot 0 of worker 1 is held");
  EXPECT_MESSAGE(refusal({SlotIndex(2)}));
  EXPECT_MESSAGE(refusal({SlotIndex(1), SlotIndex(1)}));
}

TEST(Engine, TimeNeverGoesBackInTheLog) {
  TestCluster cluster;
  cluster.join("a", 1);
  const Result<Effects> effects =
      cluster.engine.step(JoinWorker{"b", "b", 1, 1, "cpu", {}}, Instant::from_micros(5));
  ASSERT_TRUE(effects);
  EXPECT_EQ(effects->events[0].at, cluster.log.back().at);
}

}  // namespace
}  // namespace hpsearch::engine
