#include "model/acquisition.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "spaces.hpp"

namespace hpsearch::searchers::model {
namespace {

using engine::Draw;
using engine::TrialNumber;
using test::cube;

TEST(Picks, AreTheSameWithAndWithoutPruning) {
  std::uint64_t pruned_solves = 0;
  std::uint64_t all_solves = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed, TrialNumber(0), "state");
    const Axes axes(cube(1 + draw.below(5)));
    const History history(axes.size());
    const Prior prior = prior_of(axes.features(), 1e-3);
    std::vector<double> theta;
    for (std::size_t i = 0; i < prior.mean.size(); ++i) {
      theta.push_back(prior.mean[i] + prior.deviation[i] * (draw.unit() - 0.5));
    }
    Points rows;
    rows.features = axes.features();
    std::vector<double> targets;
    const std::size_t count = 8 + draw.below(50);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<double> x;
      for (std::size_t j = 0; j < axes.size(); ++j) {
        x.push_back(draw.unit());
      }
      targets.push_back(3 * x[0] * x[0] - 2 + draw.unit());
      rows.add(x, static_cast<double>(draw.below(4)) / 3);
    }
    Posterior posterior;
    ASSERT_TRUE(posterior.reset(Kernel(theta), rows));
    ASSERT_TRUE(posterior.set_targets(targets));
    Candidates candidates(axes, history);
    candidates.add_uniform(200, draw);
    Picks pruned(1.5);
    Picks whole(1.5);
    for (const std::size_t keep : {5U, 5U, 1U}) {
      pruned.take(posterior, candidates, keep);
      whole.take(posterior, candidates, keep, false);
      ASSERT_EQ(pruned.best_first().size(), keep);
      for (std::size_t i = 0; i < keep; ++i) {
        ASSERT_EQ(pruned.best_first()[i].place, whole.best_first()[i].place);
      }
      const std::vector<double> around = pruned.best_first().front().place;
      candidates.clear();
      candidates.add_near(around, 60, 0.4, 0.1, draw);
    }
    pruned_solves += pruned.computed();
    all_solves += whole.computed();
  }
  EXPECT_LT(pruned_solves, all_solves * 3 / 4);  // Or it is for nothing.
}

TEST(Picks, AreTheBestFirst) {
  const Axes axes(cube(2));
  const History history(2);
  Points rows;
  rows.features = 2;
  rows.add(std::vector{0.5, 0.5}, 1);
  Posterior posterior;
  ASSERT_TRUE(posterior.reset(Kernel(prior_of(2, 1e-3).start), rows));
  ASSERT_TRUE(posterior.set_targets(std::vector{0.0}));
  Candidates candidates(axes, history);
  Draw draw(3, TrialNumber(0), "candidates");
  candidates.add_uniform(100, draw);
  Picks picks(0);
  picks.take(posterior, candidates, 7);
  ASSERT_EQ(picks.best_first().size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    const Pick& pick = picks.best_first()[i];
    EXPECT_NEAR(pick.score, log_improvement(posterior.predict(pick.place, 1), 0), 1e-9);
    if (i > 0) {
      EXPECT_LE(pick.score, picks.best_first()[i - 1].score);
    }
  }
}

}  // namespace
}  // namespace hpsearch::searchers::model
