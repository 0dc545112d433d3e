#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "contract/searcher_properties.hpp"
#include "engine/sampler_names.hpp"
#include "searchers/halving/halving_judge.hpp"
#include "searchers/halving/late_starts.hpp"
#include "settings.hpp"

namespace hpsearch::contract {
namespace {

using engine::Draw;
using engine::ExperimentConfig;
using engine::Units;
using engine::Value;
using searchers::test::categorical;
using searchers::test::int_range;
using searchers::test::settings;
using searchers::test::space_of;
using searchers::test::with_count;

/// Parameters that only some trials have, on scales of every sort.
Value::Map networks() {
  const auto only_with = [](Value::Map parameter, Value::Map condition) {
    parameter["when"] = std::move(condition);
    return parameter;
  };
  return {
      {"optimizer", categorical({"sgd", "adam"})},
      {"momentum", only_with(Value::Map{{"type", "double"}, {"minval", 0.5}, {"maxval", 1.0}, {"step", 0.25}},
                             {{"optimizer", Value::List{"sgd"}}})},
      {"layers", int_range(1, 3)},
      {"third", only_with(Value::Map{{"width", categorical({16, 32, 64})}}, {{"layers", Value::List{3}}})},
      {"units", Value::Map{{"type", "int"}, {"minval", 8}, {"maxval", 32}, {"scale", "log"}, {"step", 8}}}};
}

// Settings that random and halving searches share: spaces of every kind, small ones too, given points, both
// directions, few slots and many.
ExperimentConfig drawn_settings(const char* name, Draw& draw) {
  ExperimentConfig config = settings(name, 1 + draw.below(200), 1 + draw.below(60));
  config.experiment_seed = draw.below(1000);
  config.searcher.max_concurrent_trials = draw.below(3) == 0 ? draw.below(3) : draw.below(20);
  config.searcher.smaller_is_better = draw.below(2) == 0;
  if (draw.below(2) == 0) {
    const auto values = static_cast<std::int64_t>(draw.below(40));
    config.space =
        space_of({{"layers", int_range(0, values + 1)}, {"act", categorical({"relu", "gelu", 7})}});
    config.searcher.on_duplicate =
        draw.below(2) == 0 ? engine::OnDuplicate::allow : engine::OnDuplicate::reject;
    if (draw.below(3) == 0) {
      config.searcher.points_to_evaluate.push_back(Value::Map{{"act", "gelu"}, {"layers", 1}});
    }
  } else if (draw.below(2) == 0) {
    config.space = space_of(networks());
    config.where = {"layers * units <= 48"};
    engine::Problems problems;
    config.space.constrain(config.where, "where", problems);
    EXPECT_TRUE(problems.empty());
    config.searcher.on_duplicate =
        draw.below(2) == 0 ? engine::OnDuplicate::allow : engine::OnDuplicate::reject;
  }
  return config;
}

void draw_halving(ExperimentConfig& config, Draw& draw) {
  constexpr double divisors[] = {2, 3, 4, 4, 1.5, 2.5};
  config.searcher.divisor = divisors[draw.below(6)];
  config.searcher.num_rungs = 1 + draw.below(5);
  config.searcher.max_rungs = 1 + draw.below(6);
}

struct SingleUnderContract {
  static constexpr bool replaces_invalid = false;
  static constexpr Spaces spaces = Spaces::constants;
  static engine::SearcherKind kind() { return *engine::find_kind(searchers::registry(), "single"); }
  static engine::Cardinality planned(const ExperimentConfig& /*config*/) { return 1; }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = settings("single", 1 + draw.below(50));
    config.space = space_of({{"lr", 0.1}, {"net", Value::Map{{"width", 64}}}});
    return config;
  }
};

struct RandomUnderContract {
  static constexpr bool replaces_invalid = true;
  static engine::SearcherKind kind() { return *engine::find_kind(searchers::registry(), "random"); }
  static ExperimentConfig config(Draw& draw) { return drawn_settings("random", draw); }
};

/// The points of a grid, one by one: its axes are grids of a single parameter, and places on axes of inactive
/// parameters do not count.
engine::Cardinality points_of_grid(const ExperimentConfig& config) {
  const engine::Space& space = config.space;
  std::vector<std::vector<Value>> axes;
  for (const engine::Space::Leaf& leaf : space.leaves()) {
    Value parameter = *config.hyperparameters.at_keys(leaf.keys);
    if (parameter.as_map() != nullptr) {
      parameter.as_map()->erase("when");
    }
    const engine::Space alone = space_of({{"p", parameter}});
    std::vector<Value>& axis = axes.emplace_back();
    for (engine::Cardinality point = 0; point < alone.grid_size().value(); ++point) {
      axis.push_back(*alone.grid_point(point).at_path("p"));
    }
  }
  std::set<std::vector<std::size_t>> points;
  std::vector<std::size_t> at(axes.size(), 0);
  std::size_t turned = 0;
  do {
    std::vector<Value> values;
    for (std::size_t leaf = 0; leaf < axes.size(); ++leaf) {
      values.push_back(axes[leaf][at[leaf]]);
    }
    const std::vector<bool> active = space.active_among(values);
    std::vector<std::size_t> places = at;
    for (std::size_t leaf = 0; leaf < axes.size(); ++leaf) {
      places[leaf] = active[leaf] ? at[leaf] : axes[leaf].size();
    }
    if (space.allows(space.configuration_of(std::move(values)))) {
      points.insert(std::move(places));
    }
    for (turned = 0; turned < axes.size() && ++at[turned] == axes[turned].size(); ++turned) {
      at[turned] = 0;
    }
  } while (turned < axes.size());
  return points.size();
}

struct GridUnderContract {
  static constexpr bool replaces_invalid = false;
  static constexpr Spaces spaces = Spaces::counted;
  static engine::SearcherKind kind() { return *engine::find_kind(searchers::registry(), "grid"); }
  static engine::Cardinality planned(const ExperimentConfig& config) { return points_of_grid(config); }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = settings("grid", 1 + draw.below(50));
    config.searcher.max_concurrent_trials = draw.below(8);
    const int count = static_cast<int>(1 + draw.below(6));
    Value::Map hyperparameters{{"a", with_count(int_range(0, 5), count)},
                               {"b", categorical({"x", "y"})},
                               {"c", with_count(searchers::test::double_range(0, 1), 2)}};
    if (draw.below(2) == 0) {
      hyperparameters = networks();
      hyperparameters["layers"] = with_count(int_range(1, 3), 1 + count % 3);
    }
    config.space = space_of(hyperparameters);
    config.hyperparameters = std::move(hyperparameters);
    return config;
  }
};

struct AsyncHalvingUnderContract {
  static constexpr bool replaces_invalid = true;
  static void settle(ExperimentConfig& config) { config.searcher.stop_once = false; }
  static std::unique_ptr<Judge> judge(const ExperimentConfig& config) {
    return searchers::test::make_halving_judge(kind(), config);
  }
  static engine::SearcherKind kind() { return *engine::find_kind(searchers::registry(), "async_halving"); }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = drawn_settings("async_halving", draw);
    draw_halving(config, draw);
    return config;
  }
};

struct AsyncHalvingStopOnceUnderContract : AsyncHalvingUnderContract {
  static void settle(ExperimentConfig& config) { config.searcher.stop_once = true; }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = AsyncHalvingUnderContract::config(draw);
    config.searcher.stop_once = true;
    return config;
  }
};

struct AdaptiveAshaUnderContract {
  static constexpr bool replaces_invalid = true;
  static void settle(ExperimentConfig& config) { config.searcher.stop_once = false; }
  static std::unique_ptr<Judge> judge(const ExperimentConfig& config) {
    return searchers::test::make_halving_judge(kind(), config);
  }
  static engine::SearcherKind kind() { return *engine::find_kind(searchers::registry(), "adaptive_asha"); }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = drawn_settings("adaptive_asha", draw);
    draw_halving(config, draw);
    config.searcher.mode = static_cast<engine::AshaMode>(draw.below(3));
    if (draw.below(4) == 0) {
      config.searcher.bracket_rungs = {1 + draw.below(4), 1 + draw.below(4)};
    }
    return config;
  }
};

struct AdaptiveAshaStopOnceUnderContract : AdaptiveAshaUnderContract {
  static void settle(ExperimentConfig& config) { config.searcher.stop_once = true; }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = AdaptiveAshaUnderContract::config(draw);
    config.searcher.stop_once = true;
    return config;
  }
};

/// The same searcher with one of the samplers that learn, another one for each seed.
template <class Fixture>
struct Sampled : Fixture {
  static constexpr bool learns = true;
  static void settle(ExperimentConfig& config) {
    if constexpr (requires { Fixture::settle(config); }) {
      Fixture::settle(config);
    }
    const std::uint64_t samplers = engine::sampler_names().size();
    config.searcher.sampler = static_cast<engine::SamplerName>(1 + config.experiment_seed % (samplers - 1));
    for (std::uint64_t i = 0; i < config.experiment_seed % 7; ++i) {  // Half of the configurations twice.
      config.searcher.prior.push_back({config.space.sample(11, engine::TrialNumber(i / 2)),
                                       engine::Units{1 + i % engine::count(config.searcher.max_length)},
                                       0.1 * static_cast<double>(i)});
    }
    // A small model, soon: thousands of searches.
    config.searcher.model = {
        .initial_results = 2, .explore = 0.1, .size = 64, .fit_size = 32, .candidates = 50};
  }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = Fixture::config(draw);
    settle(config);
    return config;
  }
};
using SampledRandom = Sampled<RandomUnderContract>;
using SampledHalving = Sampled<AsyncHalvingUnderContract>;
using SampledHalvingStopOnce = Sampled<AsyncHalvingStopOnceUnderContract>;
using SampledAdaptiveAsha = Sampled<AdaptiveAshaUnderContract>;
using SampledAdaptiveAshaStopOnce = Sampled<AdaptiveAshaStopOnceUnderContract>;

/// The same searcher with rules that stop trials, others for each seed.
template <class Fixture>
struct Ruled : Fixture {
  static void settle(ExperimentConfig& config) {
    if constexpr (requires { Fixture::settle(config); }) {
      Fixture::settle(config);
    }
    const std::uint64_t seed = config.experiment_seed;
    engine::StoppingConfig& rules = config.searcher.stopping;
    rules.rule = static_cast<engine::StoppingRule>(seed % 3);
    rules.percentile = 1 + seed % 99;
    rules.least_trials = 1 + seed % 4;
    if (seed % 2 == 0) {
      rules.after = 1 + seed % 5;
      rules.every = 2 + seed % 7;  // At most 100 comparisons.
    }
    if (seed % 5 < 3) {
      rules.patience = 1 + seed % 6;
      rules.min_delta = 0.1 * static_cast<double>(seed % 2);
    }
  }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = Fixture::config(draw);
    config.experiment_seed = draw.below(1000);
    settle(config);
    return config;
  }
};
using RuledRandom = Ruled<RandomUnderContract>;
using RuledGrid = Ruled<GridUnderContract>;

/// The same searcher with repeats of its finalists.
template <class Fixture>
struct Repeated : Fixture {
  static constexpr bool learns = true;
  /// None: reasons of the search are recounted without repeats.
  static std::unique_ptr<Judge> judge(const ExperimentConfig& /*config*/) { return nullptr; }
  static void settle(ExperimentConfig& config) {
    if constexpr (requires { Fixture::settle(config); }) {
      Fixture::settle(config);
    }
    config.searcher.repeats = 2 + config.experiment_seed % 3;
    config.searcher.finalists = 1 + config.experiment_seed % 4;
  }
  static ExperimentConfig config(Draw& draw) {
    ExperimentConfig config = Fixture::config(draw);
    settle(config);
    return config;
  }
};
using RepeatedSingle = Repeated<SingleUnderContract>;
using RepeatedRandom = Repeated<RandomUnderContract>;
using RepeatedGrid = Repeated<GridUnderContract>;
using RepeatedHalving = Repeated<AsyncHalvingUnderContract>;
using RepeatedAdaptiveAshaStopOnce = Repeated<AdaptiveAshaStopOnceUnderContract>;
using RepeatedSampled = Repeated<SampledAdaptiveAsha>;
using RepeatedRuled = Repeated<RuledRandom>;

template <class Fixture>
struct LateHalving : Fixture {
  static engine::SearcherKind kind() { return searchers::test::late_async_halving(); }
};
template <class Fixture>
struct LateAdaptive : Fixture {
  static engine::SearcherKind kind() { return searchers::test::late_adaptive_asha(); }
};
using LateStart = LateHalving<AsyncHalvingUnderContract>;
using LateStartOnce = LateHalving<AsyncHalvingStopOnceUnderContract>;
using LateStartInBrackets = LateAdaptive<AdaptiveAshaUnderContract>;
using LateStartInBracketsOnce = LateAdaptive<AdaptiveAshaStopOnceUnderContract>;

HPSEARCH_SEARCHER_UNDER_CONTRACT(Single, SingleUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(Random, RandomUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(Grid, GridUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(AsyncHalving, AsyncHalvingUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(AsyncHalvingStopOnce, AsyncHalvingStopOnceUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(AdaptiveAsha, AdaptiveAshaUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(AdaptiveAshaStopOnce, AdaptiveAshaStopOnceUnderContract);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedSingle, RepeatedSingle);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedRandom, RepeatedRandom);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedGrid, RepeatedGrid);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedHalving, RepeatedHalving);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedAdaptiveAshaStopOnce, RepeatedAdaptiveAshaStopOnce);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedSampled, RepeatedSampled);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RuledRandom, RuledRandom);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RuledGrid, RuledGrid);
HPSEARCH_SEARCHER_UNDER_CONTRACT(RepeatedRuled, RepeatedRuled);
HPSEARCH_SEARCHER_UNDER_CONTRACT(LateStart, LateStart);
HPSEARCH_SEARCHER_UNDER_CONTRACT(LateStartOnce, LateStartOnce);
HPSEARCH_SEARCHER_UNDER_CONTRACT(LateStartInBrackets, LateStartInBrackets);
HPSEARCH_SEARCHER_UNDER_CONTRACT(LateStartInBracketsOnce, LateStartInBracketsOnce);
HPSEARCH_SEARCHER_UNDER_CONTRACT(SampledRandom, SampledRandom);
HPSEARCH_SEARCHER_UNDER_CONTRACT(SampledHalving, SampledHalving);
HPSEARCH_SEARCHER_UNDER_CONTRACT(SampledHalvingStopOnce, SampledHalvingStopOnce);
HPSEARCH_SEARCHER_UNDER_CONTRACT(SampledAdaptiveAsha, SampledAdaptiveAsha);
HPSEARCH_SEARCHER_UNDER_CONTRACT(SampledAdaptiveAshaStopOnce, SampledAdaptiveAshaStopOnce);

}  // namespace
}  // namespace hpsearch::contract
