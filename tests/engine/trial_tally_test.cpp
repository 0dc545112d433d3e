#include <gtest/gtest.h>

#include <iostream>
#include <iterator>

#include "engine/tally_twin.hpp"
#include "engine/test_cluster.hpp"

// What is counted as trials go, against a twin that looks at all of them.

namespace hpsearch::engine {
namespace {

class Tally : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Tally, IsWhatLookingAtAllTrialsComesTo) {
  const std::uint64_t seed = GetParam();
  std::cout << "seed " << seed << std::endl;
  Draw draw(seed, TrialNumber(0), "tally");
  TestCluster cluster;
  for (const char* uid : {"a", "b", "c"}) {
    cluster.join(uid, 2);
  }
  const ExperimentId experiment = cluster.create(asha_config(40, 0, seed % 2 == 0));
  const ExperimentRecord& record = *cluster.engine.find(experiment);
  for (int i = 0; i < 2'000 && !cluster.attempts.empty(); ++i) {
    auto at = cluster.attempts.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(draw.below(cluster.attempts.size())));
    const AttemptKey key = at->first;
    const TestAttempt attempt = at->second;
    const Units length = attempt.decision ? attempt.decision->length : attempt.spec.length;
    const bool asked_to_end = attempt.decision && attempt.decision->directive != Directive::train_on;
    switch (draw.below(asked_to_end ? 3 : 10)) {
      case 0:
        cluster.exit(key, draw.below(3) == 0 ? 1 : 0);
        break;
      case 1:  // Beyond what it was asked for, or back.
        cluster.report(key, 1 + draw.below(40), draw.unit());
        break;
      case 2:
        if (draw.below(4) == 0 && !is_closed(cluster.trial(experiment, key.trial.number()).state)) {
          cluster.step(EndTrial{experiment, key.trial});
        }
        break;
      default:
        cluster.report(key, count(length), draw.unit());
    }
    ASSERT_EQ(told(record.tally), told_by_looking_at_all(record)) << "after " << i << " steps";
  }
  EXPECT_GT(record.tally.rungs().size(), 1U);
  Engine twin = cluster.replayed();
  EXPECT_EQ(told(twin.find(experiment)->tally), told(record.tally));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Tally, testing::Range<std::uint64_t>(1, 21));

TEST(Tallies, OfALengthThatNobodyWasAskedForBeforeCountWhoGotThere) {
  ChunkedVector<TrialRecord> trials;
  TrialTally tally;
  const auto add = [&](std::uint64_t length, std::uint64_t reached) {
    TrialRecord trial;
    trial.length = Units{length};
    trials.push_back(std::move(trial));
    tally.created(trials, Units{length});
    trials.back().reached = Units{reached};
    tally.got_to(trials.back(), Units{});
    tally.trained(Units{reached});
  };
  add(4, 9);
  add(4, 3);
  trials.back().length = Units{9};
  tally.asked(trials, Units{4}, Units{9});
  EXPECT_EQ(told(tally), "4: 1 reached, 0 final; 9: 1 reached, 0 final; 12 in all");
}

}  // namespace
}  // namespace hpsearch::engine
