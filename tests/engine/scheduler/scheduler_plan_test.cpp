#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/cluster/slot_ledger.hpp"
#include "hpsearch/engine/scheduler/plan.hpp"

namespace hpsearch::engine {
namespace {

std::vector<std::uint64_t> served(const ClaimQueue& queue) {
  std::vector<std::uint64_t> order;
  for (const Claim& claim : queue) {
    order.push_back(claim.experiment.number());
  }
  return order;
}

TEST(ClaimQueue, ServesByPriorityThenShareThenAge) {
  ClaimQueue queue;
  queue.put({ExperimentId(1), 50, 1, 4});
  queue.put({ExperimentId(2), 50, 4, 4});
  queue.put({ExperimentId(3), 1, 1, 9});
  queue.put({ExperimentId(4), 50, 1, 1});
  EXPECT_EQ(served(queue), (std::vector<std::uint64_t>{3, 2, 4, 1}));  // 1 and 1 per weight: the older first.
  queue.put({ExperimentId(1), 50, 1, 0});
  EXPECT_EQ(served(queue), (std::vector<std::uint64_t>{3, 1, 2, 4}));
  queue.remove(ExperimentId(3));
  queue.remove(ExperimentId(3));
  EXPECT_EQ(served(queue), (std::vector<std::uint64_t>{1, 2, 4}));
}

TEST(Vacancies, FindTheTightestFitAndTheOlderOfEquals) {
  Vacancies vacancies;
  EXPECT_EQ(vacancies.find(0), std::nullopt);
  vacancies.put(WorkerId(1), 8, 0);
  vacancies.put(WorkerId(2), 2, 3);
  vacancies.put(WorkerId(3), 2, 1);
  EXPECT_EQ(vacancies.find(1), WorkerId(2));
  EXPECT_EQ(vacancies.find(3), WorkerId(1));
  EXPECT_EQ(vacancies.find(9), std::nullopt);
  EXPECT_EQ(vacancies.find(0), WorkerId(1));
  vacancies.put(WorkerId(1), 8, 2);
  EXPECT_EQ(vacancies.find(0), WorkerId(3));
  vacancies.remove(WorkerId(2));
  EXPECT_EQ(vacancies.find(1), WorkerId(3));
}

TEST(Vacancies, AgreeWithAScanOverAllWorkers) {
  Draw draw(3, TrialNumber(0), "vacancies");
  Vacancies vacancies;
  std::map<WorkerId, std::pair<std::uint64_t, std::uint64_t>> plain;
  for (int turn = 0; turn < 5000; ++turn) {
    const WorkerId worker(1 + draw.below(12));
    if (draw.below(5) == 0) {
      vacancies.remove(worker);
      plain.erase(worker);
    } else {
      const std::uint64_t free = draw.below(9);
      const std::uint64_t attempts = draw.below(9);
      vacancies.put(worker, free, attempts);
      plain[worker] = {free, attempts};
    }
    const std::uint64_t wanted = draw.below(9);
    std::optional<WorkerId> best;
    for (const auto& [id, fill] : plain) {
      const auto key = [&](WorkerId of) { return wanted == 0 ? plain.at(of).second : plain.at(of).first; };
      if (fill.first >= wanted && (!best || key(id) < key(*best))) {
        best = id;
      }
    }
    ASSERT_EQ(vacancies.find(wanted), best) << "turn " << turn;
  }
}

TEST(SlotLedger, GivesTheLowestFreeSlotsAcrossWords) {
  SlotLedger ledger(130);
  const auto all = ledger.find_free(130);
  ASSERT_TRUE(all);
  ledger.take(*all, LeaseId(1));
  EXPECT_EQ(ledger.find_free(1), std::nullopt);
  ledger.release({SlotIndex(3), SlotIndex(64), SlotIndex(129)}, LeaseId(1));
  ledger.release({SlotIndex(5)}, LeaseId(2));  // Not its own: nothing happens.
  EXPECT_EQ(ledger.free(), 3U);
  EXPECT_EQ(ledger.find_free(2), (std::vector<SlotIndex>{SlotIndex(3), SlotIndex(64)}));
  EXPECT_EQ(ledger.find_free(4), std::nullopt);
}

}  // namespace
}  // namespace hpsearch::engine
