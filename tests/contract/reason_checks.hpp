#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "contract/course_trial.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// The rank and size of a reason fit the results of its rung. `score` is the trial's own.
inline void expect_rank(const std::vector<CourseTrial>& trials, engine::Score score,
                        const engine::Reason& reason) {
  std::uint64_t better = 0;
  std::uint64_t not_worse = 0;
  for (const CourseTrial& trial : trials) {
    for (const CourseTrial::Result& result : trial.results) {
      if (result.bracket == reason.bracket.value_or(0) && result.rung == *reason.rung) {
        better += result.score < score ? 1U : 0U;
        not_worse += result.score <= score ? 1U : 0U;
      }
    }
  }
  EXPECT_GE(*reason.rank, better);
  EXPECT_GE(*reason.size, not_worse);
  if (!score.is_worst()) {  // Trials that exited rank as worst; searchers differ in how many of them they
                            // count.
    EXPECT_LT(*reason.rank, not_worse);
  }
}

/// The numbers of a reason agree with each other and with all reports so far. `trial` is the one that it is
/// about.
inline void expect_reason(const std::vector<CourseTrial>& trials, const CourseTrial& trial, engine::Goal goal,
                          const engine::Reason& reason, bool goes_on) {
  EXPECT_EQ(reason.why == engine::Reason::Why::promoted, goes_on);
  EXPECT_EQ(reason.bracket.value_or(0), trial.bracket) << "a trial stays in its bracket";
  if (reason.rank && reason.size) {
    EXPECT_LT(*reason.rank, *reason.size);
    if (reason.rung && trial.latest) {
      expect_rank(trials, *trial.latest, reason);
    }
  }
  if (reason.rank && reason.keep) {
    EXPECT_EQ(*reason.rank < *reason.keep, goes_on);
    EXPECT_LE(*reason.keep, *reason.size);
    if (reason.cutoff && trial.latest) {
      const engine::Score cutoff = engine::Score::from_metric(*reason.cutoff, goal);
      if (goes_on) {
        EXPECT_LE(*trial.latest, cutoff);
      } else {
        EXPECT_GE(*trial.latest, cutoff);
      }
    }
  }
}

}  // namespace hpsearch::contract
