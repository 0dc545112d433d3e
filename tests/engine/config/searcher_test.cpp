#include <gtest/gtest.h>

#include "engine/read_config.hpp"
#include "hpsearch/engine/config/experiment_sections.hpp"

namespace hpsearch::engine {
namespace {

// --- where ---

Value two_ranges(Value where) {
  const Value range = Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 100}};
  return with(with(small_experiment(), "hyperparameters", Value::Map{{"a", range}, {"b", range}}), "where",
              std::move(where));
}

TEST(WhereField, IsATextOrAList) {
  EXPECT_EQ(accepted(small_experiment()).where, std::vector<std::string>());
  EXPECT_FALSE(accepted(small_experiment()).space.is_constrained());
  const ExperimentConfig one = accepted(two_ranges("a * b <= 100"));
  EXPECT_EQ(one.where, std::vector<std::string>{"a * b <= 100"});
  EXPECT_TRUE(one.space.is_constrained());
  const ExperimentConfig two = accepted(two_ranges(Value::List{"a < b", "a > 2"}));
  EXPECT_FALSE(two.space.allows(Value::Map{{"a", 2}, {"b", 3}}));
  EXPECT_FALSE(two.space.allows(Value::Map{{"a", 4}, {"b", 3}}));
  EXPECT_EQ(accepted(to_value(two)).where, two.where);
  EXPECT_EQ(problems_of(two_ranges(3)), "where: is 3 (a string, or a list of strings)\n");
  EXPECT_EQ(problems_of(two_ranges(Value::List{"a < b", 3})), "where[1]: is 3 (a string)\n");
}

TEST(WhereField, IsRefusedWhereDrawsWouldNotFindIt) {
  EXPECT_EQ(problems_of(two_ranges("a > b + 99")),
            "where: is satisfied by none of 2000 random configurations (conditions that at least one in 1000 "
            "satisfies; narrow the ranges instead)\n");
  EXPECT_EQ(problems_of(two_ranges("a <= c")).substr(0, 45),
            "where: is \"a <= c\": column 6: there is no \"c\"");
  EXPECT_EQ(problems_of(with(two_ranges("a < b"), "searcher.points_to_evaluate",
                             Value::List{Value::Map{{"a", 1}, {"b", 2}}, Value::Map{{"a", 2}, {"b", 2}}})),
            "searcher.points_to_evaluate[1]: has a 2, b 2 (what satisfies `where`: a < b)\n");
}

// --- searcher ---

TEST(SearcherSection, ReadsTheFieldsOfItsKind) {
  Value tree = small_experiment();
  tree = with(std::move(tree), "searcher",
              Value::Map{{"name", "adaptive_asha"},
                         {"metric", "val.acc"},
                         {"smaller_is_better", false},
                         {"max_length", Value::Map{{"epochs", 81}}},
                         {"max_trials", 50},
                         {"max_concurrent_trials", 0},
                         {"mode", "conservative"},
                         {"divisor", 3},
                         {"max_rungs", 4},
                         {"bracket_rungs", Value::List{3, 1}},
                         {"stop_once", true},
                         {"on_duplicate", "reject"}});
  const SearcherConfig searcher = accepted(tree).searcher;
  EXPECT_EQ(searcher.goal(), Goal::maximize);
  EXPECT_EQ(searcher.max_concurrent_trials, 0U);
  EXPECT_EQ(searcher.mode, AshaMode::conservative);
  EXPECT_EQ(searcher.divisor, 3.0);
  EXPECT_EQ(searcher.max_rungs, 4U);
  EXPECT_EQ(searcher.bracket_rungs, (std::vector<std::uint64_t>{3, 1}));
  EXPECT_TRUE(searcher.stop_once);
  EXPECT_EQ(searcher.on_duplicate, OnDuplicate::reject);
}

TEST(SearcherSection, WantsWhatItsKindNeedsAndNothingElse) {
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.max_trials", Value())),
            "searcher.max_trials: is missing (an integer of at least 1; random needs it)\n");
  EXPECT_EQ(problems_of(with(with(small_experiment(), "searcher.name", "grid"), "searcher.divisor", 3)),
            "searcher.divisor: does not apply to grid (leave it out)\n"
            "searcher.max_trials: does not apply to grid (leave it out)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.max_trails", 3)),
            "searcher.max_trails: is not a known field (did you mean `max_trials`?)\n");
}

TEST(SearcherSection, RefusesBadNumbers) {
  Value tree = with(small_experiment(), "searcher.name", "adaptive_asha");
  tree = with(std::move(tree), "searcher.divisor", 1);
  tree = with(std::move(tree), "searcher.bracket_rungs", Value::List{0, 2, 1'000'000'000});
  tree = with(std::move(tree), "searcher.mode", "fast");
  tree = with(std::move(tree), "searcher.on_duplicate", "rejct");
  EXPECT_EQ(problems_of(tree),
            "searcher.bracket_rungs[0]: is 0 (an integer from 1 to 1000)\n"
            "searcher.bracket_rungs[2]: is 1000000000 (an integer from 1 to 1000)\n"
            "searcher.divisor: is 1 (a number above 1)\n"
            "searcher.mode: is \"fast\" (aggressive, conservative or standard)\n"
            "searcher.on_duplicate: is \"rejct\" (did you mean `reject`? allow or reject)\n");
}

TEST(SearcherSection, NamesSuccessorsOfRemovedSearchers) {
  const std::string rest = "; there are adaptive_asha, annealing, async_halving, grid, random or single)\n";
  for (const char* gone : {"adaptive", "adaptive_simple"}) {
    EXPECT_EQ(problems_of(with(small_experiment(), "searcher.name", gone)),
              "searcher.name: is \"" + std::string(gone) +
                  "\", which is not a searcher here (say adaptive_asha" + rest);
  }
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.name", "sync_halving")),
            "searcher.name: is \"sync_halving\", which is not a searcher here (say async_halving" + rest);
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.name", "randm")),
            "searcher.name: is \"randm\", which is not a searcher here (did you mean `random`? there are "
            "adaptive_asha, "
            "annealing, async_halving, grid, random or single)\n");
}

TEST(SearcherSection, LetsTheKindHaveTheLastWord) {
  Value tree = with(small_experiment(), "searcher",
                    Value::Map{{"name", "single"}, {"metric", "loss"}, {"max_length", 10}});
  EXPECT_EQ(problems_of(tree), "hyperparameters.lr: is a range (a constant)\n");
  EXPECT_EQ(problems_of(with(tree, "name", 3)),
            "hyperparameters.lr: is a range (a constant)\nname: is 3 (a string; put it in quotes)\n")
      << "asked although something else is wrong";
  EXPECT_EQ(accepted(with(tree, "hyperparameters.lr", 0.1)).searcher.name, "single");
}

TEST(SearcherSection, KeepsFieldsOnlyTheKindUnderstands) {
  Value tree = with(small_experiment(), "searcher.name", "annealing");
  tree = with(std::move(tree), "searcher.cooling", 0.9);
  const ExperimentConfig config = accepted(tree);
  ASSERT_NE(config.searcher.kind_fields.find("cooling"), nullptr);
  EXPECT_EQ(*config.searcher.kind_fields.find("cooling"), Value(0.9));
}

TEST(SearcherSection, ReadsTheSamplerAndItsParameters) {
  EXPECT_EQ(accepted(small_experiment()).searcher.sampler, SamplerName::random);
  Value tree = with(small_experiment(), "searcher.sampler", "anneal");
  EXPECT_EQ(accepted(tree).searcher.sampler, SamplerName::anneal);
  EXPECT_EQ(accepted(tree).searcher.anneal, (AnnealConfig{2, 0.1}));
  tree = with(std::move(tree), "searcher.anneal", Value::Map{{"shrink_coef", 0.5}});
  const ExperimentConfig config = accepted(tree);
  EXPECT_EQ(config.searcher.anneal, (AnnealConfig{2, 0.5}));
  const Value written = to_value(config);
  EXPECT_EQ(*written.at_path("searcher.sampler"), Value("anneal"));
  EXPECT_EQ(*written.at_path("searcher.anneal"),
            Value(Value::Map{{"avg_best_idx", 2.0}, {"shrink_coef", 0.5}}));
  EXPECT_EQ(lines(read_config(written).notes), "");
  EXPECT_EQ(accepted(written).searcher.anneal, config.searcher.anneal);
}

TEST(SearcherSection, RefusesParametersOfASamplerThatAreWrong) {
  Value tree = with(small_experiment(), "searcher.sampler", "annea");
  tree = with(std::move(tree), "searcher.anneal",
              Value::Map{{"avg_best_idx", 0}, {"shrink", 1}, {"shrink_coef", "x"}});
  EXPECT_EQ(problems_of(tree),
            "searcher.anneal.avg_best_idx: is 0 (a number above 0)\n"
            "searcher.anneal.shrink: is not a known field (one of avg_best_idx or shrink_coef)\n"
            "searcher.anneal.shrink_coef: is \"x\" (a number above 0)\n"
            "searcher.sampler: is \"annea\" (did you mean `anneal`? random, anneal, model or tpe)\n");
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.anneal", 3)), "searcher.anneal: is 3 (a map)\n");
  EXPECT_EQ(lines(read_config(with(small_experiment(), "searcher.anneal.shrink_coef", 0.5)).notes),
            "searcher.anneal: has no effect: sampler is not anneal\n");
}

Value result(Value hparams, Value length, Value metric) {
  return Value::Map{
      {"hparams", std::move(hparams)}, {"length", std::move(length)}, {"metric", std::move(metric)}};
}

/// Over lr from 0.1 to 1 and a constant.
Value with_prior(Value prior) {
  Value tree =
      with(small_experiment(), "hyperparameters",
           Value::Map{{"lr", Value::Map{{"type", "double"}, {"minval", 0.1}, {"maxval", 1}}}, {"size", 64}});
  return with(with(std::move(tree), "searcher.sampler", "tpe"), "searcher.prior", std::move(prior));
}

TEST(PriorResults, AreMappedIntoTheSpace) {
  const ExperimentConfig config =
      accepted(with_prior(Value::List{result(Value::Map{{"lr", 1}, {"momentum", 0.9}}, 100, 0.5),
                                      result(Value::Map{{"lr", 0.3}, {"size", 64.0}}, 3, 2)}));
  const std::vector<PriorResult> expected = {{Value::Map{{"lr", 1.0}, {"size", 64}}, Units{100}, 0.5},
                                             {Value::Map{{"lr", 0.3}, {"size", 64}}, Units{3}, 2}};
  EXPECT_EQ(config.searcher.prior, expected);
  EXPECT_EQ(accepted(to_value(config)).searcher.prior, expected) << "as they are stored";
}

TEST(PriorResults, ThatDoNotFitAreLeftOutAndCounted) {
  const ParsedConfig parsed = read_config(with_prior(
      Value::List{result(Value::Map{{"lr", 0.2}}, 3, 1.5), result(Value::Map{{"lr", 2}}, 3, 1),
                  result(Value::Map{{"lr", 3}}, 3, 1), result(Value::Map{{"lr", 0.2}, {"size", 32}}, 3, 1),
                  result(Value::Map{{"rate", 0.2}}, 3, 1), result(Value::Map{{"lr", 0.2}}, 101, 1),
                  result(Value::Map{{"lr", 0.2}}, 3, Value()),
                  result(Value::Map{{"lr", 0.2}}, 3, Value::Map{{"class", "nan"}})}));
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(parsed.config->searcher.prior.size(), 1U);
  EXPECT_EQ(
      lines(parsed.notes),
      "searcher.prior: 1 of 8 earlier results are used; left out: 3 outside the space (the first: "
      "hyperparameters.lr is 2.0), 1 without a parameter of the space (the first: lr), 1 longer than "
      "max_length "
      "(the first: 101 batches), 2 without a finite metric; parameters that this search doesn't have are "
      "ignored: rate\n");
}

TEST(PriorResults, ValuesOfInactiveParametersAreLeftOut) {
  Value tree = with_prior(Value::List{result(Value::Map{{"opt", "adam"}, {"momentum", 0.9}}, 1, 1),
                                      result(Value::Map{{"opt", "sgd"}}, 1, 1)});
  tree = with(std::move(tree), "hyperparameters",
              Value::Map{{"opt", Value::Map{{"type", "categorical"}, {"vals", Value::List{"sgd", "adam"}}}},
                         {"momentum", Value::Map{{"type", "double"},
                                                 {"minval", 0},
                                                 {"maxval", 1},
                                                 {"when", Value::Map{{"opt", "sgd"}}}}}});
  const std::vector<PriorResult> expected = {{Value::Map{{"opt", "adam"}}, Units{1}, 1}};
  EXPECT_EQ(accepted(tree).searcher.prior, expected);
}

TEST(PriorResults, AreMapsHere) {
  EXPECT_EQ(
      problems_of(with_prior(Value::List{"first", result(3, 0, "x"),
                                         Value::Map{{"hparams", Value::Map()}, {"length", 1}, {"step", 2}}})),
      "searcher.prior[0]: is \"first\" (a map of hparams, length and metric; only the command line reads "
      "searches "
      "and files)\n"
      "searcher.prior[1].hparams: is 3 (a map of hyperparameters)\n"
      "searcher.prior[1].length: is 0 (an integer of at least 1)\n"
      "searcher.prior[1].metric: is \"x\" (a number)\n"
      "searcher.prior[2].step: is not known here (hparams, length or metric)\n");
  EXPECT_EQ(
      problems_of(with_prior(Value::List(2001, result(Value::Map{{"lr", 1}}, 1, 1)))),
      "searcher.prior: has 2001 results (at most 2000: leave out a search, or name a file with some of the "
      "results)\n");
}

TEST(PriorResults, HaveNoEffectWithoutASamplerThatLearns) {
  const ParsedConfig parsed = read_config(
      with(with_prior(Value::List{result(Value::Map{{"lr", 1}}, 1, 1)}), "searcher.sampler", "random"));
  EXPECT_EQ(lines(parsed.notes),
            "searcher.prior: has no effect: sampler is random; anneal, model and tpe learn from results\n"
            "searcher.prior: 1 of 1 earlier results are used\n");
}

TEST(SearcherSection, ChecksPointsAgainstTheSpace) {
  const Value points =
      Value::List{Value::Map{{"lr", 0.01}}, Value::Map{{"lr", 5}}, Value::Map{{"rate", 0.01}}, 3};
  EXPECT_EQ(problems_of(with(small_experiment(), "searcher.points_to_evaluate", points)),
            "searcher.points_to_evaluate[1].lr: is 5.0 (a number from 0.0001 to 0.1)\n"
            "searcher.points_to_evaluate[2].rate: is not a hyperparameter of this experiment\n"
            "searcher.points_to_evaluate[3]: is 3 (a map of hyperparameters)\n");
}

TEST(SearcherSection, PointsMayLackWhatIsDrawnButNotWhatAnotherValueDependsOn) {
  Value tree = with(small_experiment(), "hyperparameters.kind",
                    Value::Map{{"type", "categorical"}, {"vals", Value::List{"sgd", "adam"}}});
  tree = with(
      std::move(tree), "hyperparameters.momentum",
      Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}, {"when", Value::Map{{"kind", "sgd"}}}});
  tree = with(std::move(tree), "where", "lr < momentum");
  const Value points = Value::List{Value::Map{}, Value::Map{{"kind", "sgd"}}, Value::Map{{"momentum", 0.5}},
                                   Value::Map{{"kind", "adam"}, {"momentum", 0.5}},
                                   Value::Map{{"kind", "sgd"}, {"momentum", 0.5}}};
  EXPECT_EQ(problems_of(with(tree, "searcher.points_to_evaluate", points)),
            "searcher.points_to_evaluate[2].momentum: is 0.5, and what it depends on is drawn (left out, or "
            "together with what it depends on: kind is sgd)\n"
            "searcher.points_to_evaluate[3].momentum: is 0.5, and this configuration does not have it (left "
            "out, except where kind is sgd)\n");
}

TEST(SearcherSection, APointWithTooManyMistakesNamesTheFirst) {
  Value::Map wrong;
  for (int i = 0; i < 5000; ++i) {
    wrong["k" + std::to_string(i)] = i;
  }
  const Problems problems =
      read_config(with(small_experiment(), "searcher.points_to_evaluate", Value::List{wrong})).problems;
  EXPECT_EQ(problems.size(), 100U);
  const Value::List many(5000, Value(Value::Map{{"k", 1}}));
  EXPECT_EQ(read_config(with(small_experiment(), "searcher.points_to_evaluate", many)).problems.size(), 100U);
}

// Each point gets all constants, so that a short file stands for a long one.
TEST(SearcherSection, PointsThatAreLongWithTheirConstantsAreRefused) {
  Value tree = with(small_experiment(), "hyperparameters.lr", 0.1);
  tree = with(std::move(tree), "hyperparameters.text", std::string(1000, 'x'));
  tree = with(std::move(tree), "searcher.max_trials", 100'000);
  EXPECT_EQ(problems_of(with(tree, "searcher.points_to_evaluate", Value::List(4000, Value(Value::Map{})))),
            "");
  EXPECT_EQ(problems_of(with(tree, "searcher.points_to_evaluate", Value::List(5000, Value(Value::Map{})))),
            "searcher.points_to_evaluate: has 5000 points, which with the space's constants in each come to "
            "more than 4194304 "
            "bytes (fewer points, or fewer constants)\n");
}

TEST(SearcherSection, SaysWhatHasNoEffectBesideTheRungsOfBrackets) {
  Value tree = with(small_experiment(), "searcher.name", "adaptive_asha");
  tree = with(std::move(tree), "searcher.bracket_rungs", Value::List{3});
  EXPECT_EQ(lines(read_config(with(with(tree, "searcher.mode", "standard"), "searcher.max_rungs", 5)).notes),
            "");
  EXPECT_EQ(
      lines(read_config(with(with(tree, "searcher.mode", "conservative"), "searcher.max_rungs", 2)).notes),
      "searcher.max_rungs: has no effect: bracket_rungs says how many rungs there are\n"
      "searcher.mode: has no effect: bracket_rungs says which brackets there are\n");
}

TEST(SearcherSection, PointsOfASubmissionMustFitAndDiffer) {
  const Value point = Value::Map{{"lr", 0.01}};
  Value tree = with(small_experiment(), "searcher.points_to_evaluate", Value::List{point, point});
  tree = with(std::move(tree), "searcher.max_trials", 1);
  tree = with(std::move(tree), "searcher.on_duplicate", "reject");
  Problems problems;
  check_points(accepted(tree), problems);
  EXPECT_EQ(lines(problems),
            "searcher.points_to_evaluate: has 2 points (at most max_trials, which is 1)\n"
            "searcher.points_to_evaluate[1]: is the same as points_to_evaluate[0] (each point once, or "
            "on_duplicate: "
            "allow)\n");
  EXPECT_EQ(problems_of(tree), "") << "what has run already may be more than is wanted now";

  // Points that lack a hyperparameter get one drawn for each.
  const Value drawn = Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}};
  problems.clear();
  check_points(accepted(with(with(tree, "hyperparameters.momentum", drawn), "searcher.max_trials", 2)),
               problems);
  EXPECT_EQ(lines(problems), "");
}

TEST(SearcherSection, CompletesPointsWithConstants) {
  Value tree = with(small_experiment(), "hyperparameters.batch", 64);
  tree = with(std::move(tree), "searcher.points_to_evaluate", Value::List{Value::Map{{"lr", 0.01}}});
  EXPECT_EQ(accepted(tree).searcher.points_to_evaluate.at(0), Value(Value::Map{{"batch", 64}, {"lr", 0.01}}));
}

TEST(SearcherSection, IsNeeded) {
  Value::Map tree = small_experiment();
  tree.erase("searcher");
  EXPECT_EQ(problems_of(tree),
            "searcher: is missing (a map of name, metric, max_length and what the searcher needs)\n");
  EXPECT_EQ(problems_of(with(tree, "searcher", "random")), "searcher: is \"random\" (a map)\n");
}

// --- spellings users are known to confuse ---

TEST(Confusions, AreUnderstoodAndNoted) {
  Value tree = with(small_experiment(), "hyperparameters.opt",
                    Value::Map{{"type", "categorical"}, {"val", Value::List{"sgd", "adam"}}});
  tree = with(std::move(tree), "searcher.name", "adaptive_asha");
  tree = with(std::move(tree), "searcher.mode", "agressive");
  tree = with(std::move(tree), "resource", Value::Map{{"slots_per_trial", 2}});
  tree = with(std::move(tree), "environment", Value::Map{{"experiment_seed", 5}});
  const ParsedConfig parsed = read_config(tree);
  ASSERT_TRUE(parsed.config) << lines(parsed.problems);
  EXPECT_EQ(parsed.config->searcher.mode, AshaMode::aggressive);
  EXPECT_EQ(parsed.config->resources.slots_per_trial, 2U);
  EXPECT_EQ(parsed.config->experiment_seed, 5U);
  EXPECT_EQ(lines(parsed.notes),
            "environment.experiment_seed: read as `reproducibility.experiment_seed`\n"
            "hyperparameters.opt.val: read as `vals`\n"
            "resource: read as `resources`\n"
            "searcher.mode: read as `aggressive`\n");
  EXPECT_EQ(*to_value(*parsed.config).at_path("hyperparameters.opt.vals"), Value(Value::List{"sgd", "adam"}));
}

TEST(Confusions, TakeASeedAtTopLevel) {
  EXPECT_EQ(accepted(with(small_experiment(), "experiment_seed", 9)).experiment_seed, 9U);
  Value tree = with(small_experiment(), "experiment_seed", 9);
  EXPECT_EQ(accepted(with(tree, "reproducibility.experiment_seed", 9)).experiment_seed, 9U);
  EXPECT_EQ(problems_of(with(tree, "reproducibility.experiment_seed", 8)),
            "experiment_seed: is 9, but elsewhere 8 (one seed, at reproducibility.experiment_seed)\n");
}

TEST(Confusions, DoNotHideWhichOfTwoCounts) {
  Value tree = with(small_experiment(), "resource", Value::Map{{"slots_per_trial", 2}});
  tree = with(std::move(tree), "resources", Value::Map{{"slots_per_trial", 3}});
  EXPECT_EQ(problems_of(tree), "resource: stands beside `resources`, which means the same (one of them)\n");
}

// --- seed ---

TEST(Seed, IsTheGivenOneOrTheRecordedOne) {
  EXPECT_EQ(accepted(with(small_experiment(), "reproducibility.experiment_seed", 2147483647)).experiment_seed,
            2147483647U);
  EXPECT_EQ(problems_of(
                with(small_experiment(), "reproducibility.experiment_seed", Value(std::int64_t{2147483648}))),
            "reproducibility.experiment_seed: is 2147483648 (an integer from 0 to 2147483647)\n");
  const ParsedConfig wide = parse_config(small_experiment(), test_registry(), "", ~std::uint64_t{0});
  EXPECT_EQ(wide.config->experiment_seed, 2147483647U);
}

}  // namespace
}  // namespace hpsearch::engine
