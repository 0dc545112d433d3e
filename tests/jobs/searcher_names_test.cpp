#include <gtest/gtest.h>

#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

TEST(SearcherNames, NamesOfOtherPlatformsAreRead) {
  Value tree = with(small_experiment(), "searcher",
                    Value::Map{{"name", "anneal_search"},
                               {"metric", "loss"},
                               {"max_length", 10},
                               {"num_samples", 20},
                               {"avg_best_idx", 3},
                               {"shrink_coef", 0.2}});
  const ParsedExperiment parsed = read_experiment(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  const engine::SearcherConfig& searcher = parsed.config->searcher;
  EXPECT_EQ(searcher.name, "random");
  EXPECT_EQ(searcher.sampler, engine::SamplerName::anneal);
  EXPECT_EQ(searcher.max_trials, 20U);
  EXPECT_EQ(searcher.anneal, (engine::AnnealConfig{3, 0.2}));
  EXPECT_EQ(lines(parsed.notes),
            "searcher.avg_best_idx: read as `searcher.anneal.avg_best_idx`\n"
            "searcher.name: read as `random` with `sampler: anneal`\n"
            "searcher.num_samples: read as `searcher.max_trials`\n"
            "searcher.shrink_coef: read as `searcher.anneal.shrink_coef`\n");
  const ParsedExperiment tpe = read_experiment(with(small_experiment(), "searcher",
                                                    Value::Map{{"name", "tpe_search"},
                                                               {"metric", "loss"},
                                                               {"max_length", 10},
                                                               {"num_samples", 20},
                                                               {"gamma", 0.2},
                                                               {"n_initial_points", 20},
                                                               {"seed", 1}}));
  ASSERT_TRUE(tpe.config) << lines(tpe.problems);
  EXPECT_EQ(tpe.config->searcher.name, "random");
  EXPECT_EQ(tpe.config->searcher.sampler, engine::SamplerName::tpe);
  EXPECT_EQ(tpe.config->searcher.max_trials, 20U);
  EXPECT_EQ(tpe.config->searcher.tpe, (engine::TpeConfig{20, 0.2, 64}));
  EXPECT_EQ(lines(tpe.notes),
            "searcher.gamma: read as `searcher.tpe.gamma`\n"
            "searcher.n_initial_points: read as `searcher.tpe.initial_results`\n"
            "searcher.name: read as `random` with `sampler: tpe`\n"
            "searcher.num_samples: read as `searcher.max_trials`\n"
            "searcher.seed: has no effect here\n");
  EXPECT_EQ(problems_of(with(tree, "searcher.max_trials", 5)),
            "searcher.num_samples: stands beside searcher.max_trials (one of them)\n");
  EXPECT_EQ(problems_of(with(tree, "searcher.anneal", 3)), "searcher.anneal: is 3 (a map)\n");
  EXPECT_EQ(problems_of(with(tree, "searcher.num_samples", "x")),
            "searcher.max_trials: is \"x\" (an integer of at least 1)\n");
}

TEST(SearcherNames, GivenSamplerIsKept) {
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher", "bohb")), "searcher: is \"bohb\" (a map)\n");
  const Value tree = with(with(small_experiment(), "searcher.name", "bayes"), "searcher.sampler", "tpe");
  EXPECT_EQ(accepted(tree).config->searcher.sampler, engine::SamplerName::tpe);
}

}  // namespace
}  // namespace hpsearch::jobs
