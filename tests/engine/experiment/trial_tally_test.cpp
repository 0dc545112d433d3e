#include <gtest/gtest.h>

#include <iostream>
#include <iterator>
#include <optional>

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
    ASSERT_EQ(described(record.tally), described_by_looking_at_all(record)) << "after " << i << " steps";
  }
  EXPECT_GT(record.tally.rungs().size(), 1U);
  Engine twin = cluster.replayed();
  EXPECT_EQ(described(twin.find(experiment)->tally), described(record.tally));
}

INSTANTIATE_TEST_SUITE_P(Seeds, Tally, testing::Range<std::uint64_t>(1, 21));

TEST(Tallies, ANewLengthCountsTheTrialsThatReachedIt) {
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
  EXPECT_EQ(described(tally), "4: 1 reached; 9: 1 reached; 12 in all");
}

TEST(Tallies, TalliesOfAProgramThatStopsEarlyEndAtItsOwnLength) {
  ChunkedVector<TrialRecord> trials;
  TrialTally tally;
  const auto close = [&](std::uint64_t length, std::uint64_t reached, bool trains_no_further) {
    TrialRecord trial;
    trial.length = Units{length};
    trials.push_back(std::move(trial));
    tally.created(trials, Units{length});
    TrialRecord& added = trials.back();
    added.reached = Units{reached};
    tally.got_to(added, Units{});
    added.trains_no_further = trains_no_further;
    tally.own(trials, std::nullopt, own_length(added));
    added.state = TrialState::completed;
    tally.closed(added);
  };
  close(3, 3, false);
  close(27, 10, true);
  close(27, 10, true);
  close(27, 5, false);
  const char* expected = "3: 4 reached; 27: 0 reached; 3: 2 final; 10: 2 final; 0 in all";
  EXPECT_EQ(described(tally), expected);
  tally.count_anew(trials);
  EXPECT_EQ(described(tally), expected);
  tally.own(trials, own_length(trials[1]), std::nullopt);
  EXPECT_EQ(described(tally), expected) << "another trial still ends there";
}

}  // namespace
}  // namespace hpsearch::engine
