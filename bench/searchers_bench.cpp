#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "hpsearch/searchers/rung.hpp"
#include "sizes.hpp"
#include "two_heaps.hpp"

// What a decision costs as a search grows: the time per item stays nearly flat from a thousand trials to a
// million. The ratio to the floor (two_heaps.hpp) says more than times of a busy machine.

namespace hpsearch::searchers {
namespace {

using engine::Draw;
using engine::ExperimentConfig;
using engine::Score;
using engine::TrialNumber;
using engine::Units;

using bench::divisor;
using bench::drawn_metrics;
using bench::hundred_to_million;

void count_items(benchmark::State& state, std::uint64_t items_per_iteration) {
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items_per_iteration));
  state.counters["per_item"] =
      benchmark::Counter(static_cast<double>(items_per_iteration),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Each report enters the rung, asks its rank and promotes whoever is promotable.
void rung_report(benchmark::State& state) {
  const std::vector<double> metrics = drawn_metrics(state.range(0));
  for (auto _ : state) {
    Rung rung(Divisor(divisor), Rung::Ties::earlier_first);
    std::uint64_t promoted = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const Score score = Score::from_metric(metrics[i], engine::Goal::minimize);
      const Rung::Arrival arrival = rung.enter({score, TrialNumber(i), Rung::none, Rung::Standing::waiting});
      benchmark::DoNotOptimize(rung.rank_of(arrival));
      while (const auto best = rung.promotable()) {
        rung.move_to(*best, Rung::Standing::promoted);
        ++promoted;
      }
    }
    benchmark::DoNotOptimize(promoted);
  }
  count_items(state, metrics.size());
}

/// Sixty-four slots that a search keeps full from its first trial to its last; which trial reports next, and
/// what, is the same in every run. Returns the number of events: what was created, promoted, validated,
/// closed.
template <class Search>
std::uint64_t run_search(Search& search, const std::vector<double>& metrics) {
  std::vector<TrialNumber> running;
  std::vector<TrialNumber> closed;
  std::uint64_t events = 0;
  std::size_t turn = 0;
  for (;;) {
    while (running.size() < 64) {
      const std::optional<TrialNumber> started = search.start();
      if (!started) {
        break;
      }
      running.push_back(*started);
      ++events;
    }
    if (running.empty()) {
      return events;
    }
    turn = (turn + 17) % running.size();
    const TrialNumber trial = running[turn];
    const engine::Verdict verdict =
        search.report(trial, Score::from_metric(metrics[trial.number()], engine::Goal::minimize));
    ++events;
    if (verdict.action == engine::Verdict::Action::train_on) {
      search.promote(trial, verdict.length);
      ++events;
      continue;
    }
    running[turn] = running.back();
    running.pop_back();
    if (verdict.action == engine::Verdict::Action::stop) {
      search.close(trial);
      ++events;
    }
    const std::span<const TrialNumber> named = search.closable();
    if (!named.empty()) {
      closed.assign(named.begin(), named.end());
      for (const TrialNumber number : closed) {
        search.close(number);
        ++events;
      }
    }
  }
}

/// A schedule alone: what a search costs without its configurations.
class ScheduleAlone {
 public:
  explicit ScheduleAlone(std::unique_ptr<StoppingPolicy> policy) : policy_(std::move(policy)) {}

  std::optional<TrialNumber> start() {
    const Work work = policy_->next();
    if (const auto* wanted = std::get_if<NewTrial>(&work)) {
      policy_->on_created(wanted->rungs.front());
      return TrialNumber(created_++);
    }
    if (const auto* promoted = std::get_if<engine::PromoteTrial>(&work)) {
      policy_->on_promoted(promoted->trial);
      return promoted->trial;
    }
    return std::nullopt;
  }
  engine::Verdict report(TrialNumber trial, Score score) {
    policy_->on_validated(trial, score);
    return policy_->verdict(trial);
  }
  void promote(TrialNumber trial, Units /*length*/) { policy_->on_promoted(trial); }
  void close(TrialNumber trial) { policy_->on_closed(trial); }
  [[nodiscard]] std::span<const TrialNumber> closable() const { return policy_->closable(); }

 private:
  std::unique_ptr<StoppingPolicy> policy_;
  std::uint64_t created_ = 0;
};

/// The whole searcher, through the seam the engine uses.
class WholeSearcher {
 public:
  explicit WholeSearcher(const ExperimentConfig& config)
      : searcher_(engine::find_kind(registry(), config.searcher.name)->make(config)) {}

  std::optional<TrialNumber> start() {
    engine::Next next = searcher_->next();
    if (auto* create = std::get_if<engine::CreateTrial>(&next)) {
      const TrialNumber trial = create->trial;
      searcher_->on_event(engine::TrialWasCreated{trial, std::move(create->hparams), create->length});
      return trial;
    }
    if (const auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
      searcher_->on_event(engine::TrialWasPromoted{promote->trial, promote->length});
      return promote->trial;
    }
    return std::nullopt;
  }
  engine::Verdict report(TrialNumber trial, Score score) {
    searcher_->on_event(engine::TrialValidated{trial, Units{}, score});
    return searcher_->verdict(trial);
  }
  void promote(TrialNumber trial, Units length) {
    searcher_->on_event(engine::TrialWasPromoted{trial, length});
  }
  void close(TrialNumber trial) { searcher_->on_event(engine::TrialWasClosed{trial}); }
  [[nodiscard]] std::span<const TrialNumber> closable() const { return searcher_->closable(); }
  [[nodiscard]] engine::Searcher& searcher() const { return *searcher_; }

 private:
  std::unique_ptr<engine::Searcher> searcher_;
};

/// So many parameters, one of each kind that is drawn and then the same again.
engine::Space many_parameters(std::int64_t count) {
  using engine::Value;
  const Value kinds[] = {
      Value::Map{{"type", "categorical"}, {"vals", Value::List{32, 64, 128, 256}}},
      Value::Map{{"type", "double"}, {"minval", 0.0}, {"maxval", 0.9}},
      Value::Map{{"type", "int"}, {"minval", 1}, {"maxval", 12}},
      Value::Map{{"type", "log"}, {"minval", -5.0}, {"maxval", -1.0}, {"base", 10.0}},
  };
  Value::Map map;
  for (std::int64_t i = 0; i < count; ++i) {
    map["x" + std::to_string(i)] = kinds[i % 4];
  }
  engine::Problems problems;
  engine::Problems notes;
  engine::Space space = engine::Space::parse(Value(map), "hyperparameters", problems, notes);
  HPSEARCH_CHECK(problems.empty(), "the space of the bench is well-formed");
  return space;
}

ExperimentConfig experiment(const char* searcher, std::int64_t trials, bool stop_once) {
  ExperimentConfig config;
  config.space = many_parameters(4);
  config.searcher.name = searcher;
  config.searcher.max_length = Units{64};
  config.searcher.max_trials = static_cast<std::uint64_t>(trials);
  config.searcher.max_concurrent_trials = 64;
  config.searcher.num_rungs = 4;
  config.searcher.stop_once = stop_once;
  return config;
}

void schedule_event(benchmark::State& state, bool stop_once) {
  const std::vector<double> metrics = drawn_metrics(state.range(0));
  AshaSettings settings;
  settings.lengths = {Units{1}, Units{4}, Units{16}, Units{64}};
  settings.divisor = Divisor(divisor);
  settings.trials = metrics.size();
  std::uint64_t events = 0;
  for (auto _ : state) {
    ScheduleAlone search(make_asha(settings, stop_once));
    events = run_search(search, metrics);
  }
  count_items(state, events);
}

void searcher_event(benchmark::State& state, const char* searcher, bool stop_once) {
  const std::vector<double> metrics = drawn_metrics(state.range(0));
  const ExperimentConfig config = experiment(searcher, state.range(0), stop_once);
  std::uint64_t events = 0;
  for (auto _ : state) {
    WholeSearcher search(config);
    events = run_search(search, metrics);
  }
  count_items(state, events);
}

/// A search in which so many trials have reported once. Those that were promoted train; the others wait.
struct Judged {
  WholeSearcher search;
  std::vector<TrialNumber> waiting;
};

Judged judged_search(const ExperimentConfig& config, const std::vector<double>& metrics) {
  Judged judged{WholeSearcher(config), {}};
  std::vector<bool> waits(metrics.size(), false);
  for (std::size_t created = 0; created < metrics.size();) {
    const TrialNumber trial = *judged.search.start();
    if (trial.number() < created) {
      waits[trial.number()] = false;
      continue;
    }
    const engine::Verdict verdict =
        judged.search.report(trial, Score::from_metric(metrics[created++], engine::Goal::minimize));
    if (verdict.action == engine::Verdict::Action::train_on) {
      judged.search.promote(trial, verdict.length);
    } else {
      waits[trial.number()] = true;
    }
  }
  for (std::size_t trial = 0; trial < waits.size(); ++trial) {
    if (waits[trial]) {
      judged.waiting.push_back(TrialNumber(trial));
    }
  }
  return judged;
}

// Looking alone: what is asked after every event.
void searcher_next(benchmark::State& state) {
  const Judged judged =
      judged_search(experiment("async_halving", state.range(0) + 1, false), drawn_metrics(state.range(0)));
  for (auto _ : state) {
    engine::Next next = judged.search.searcher().next();
    benchmark::DoNotOptimize(&next);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetComplexityN(state.range(0));
}

// A trial in the middle of the first rung, which so many have reached before it.
void searcher_verdict(benchmark::State& state) {
  Judged judged =
      judged_search(experiment("async_halving", state.range(0) + 1, false), drawn_metrics(state.range(0)));
  const TrialNumber newest(static_cast<std::uint64_t>(state.range(0)));
  while (judged.search.start() != newest) {
  }
  judged.search.report(newest, Score::from_metric(0.5, engine::Goal::minimize));
  for (auto _ : state) {
    engine::Verdict verdict = judged.search.searcher().verdict(newest);
    benchmark::DoNotOptimize(&verdict);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetComplexityN(state.range(0));
}

void searcher_standing(benchmark::State& state) {
  const Judged judged =
      judged_search(experiment("async_halving", state.range(0) + 1, false), drawn_metrics(state.range(0)));
  std::size_t turn = 0;
  for (auto _ : state) {
    engine::Reason reason = judged.search.searcher().standing(judged.waiting[turn]);
    benchmark::DoNotOptimize(&reason);
    turn = (turn + 7919) % judged.waiting.size();  // A prime: all over the rung.
  }
  state.SetItemsProcessed(state.iterations());
  state.SetComplexityN(state.range(0));
}

void space_sample(benchmark::State& state) {
  const engine::Space space = many_parameters(state.range(0));
  std::uint64_t trial = 0;
  for (auto _ : state) {
    engine::Value configuration = space.sample(1, TrialNumber(trial++));
    benchmark::DoNotOptimize(&configuration);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetComplexityN(state.range(0));
}

// The last point of a grid of 1000^axes.
void space_grid_point(benchmark::State& state) {
  using engine::Value;
  Value::Map axes;
  for (std::int64_t axis = 0; axis < state.range(0); ++axis) {
    axes["x" + std::to_string(axis)] =
        Value::Map{{"type", "int"}, {"minval", 0}, {"maxval", 99999}, {"count", 1000}};
  }
  engine::Problems problems;
  engine::Problems notes;
  const engine::Space space = engine::Space::parse(Value(axes), "hyperparameters", problems, notes);
  const engine::Cardinality last = space.grid_size().value() - 1;
  for (auto _ : state) {
    engine::Value configuration = space.grid_point(last);
    benchmark::DoNotOptimize(&configuration);
  }
  state.SetItemsProcessed(state.iterations());
  state.SetComplexityN(state.range(0));
}

// The floor of a configuration: one block of random bits for each of its values, without names, kinds or
// bounds.
void philox_blocks(benchmark::State& state) {
  std::uint32_t counter = 0;
  for (auto _ : state) {
    for (std::int64_t value = 0; value < state.range(0); ++value) {
      engine::PhiloxBlock block = engine::philox4x32_10({{counter++, 0, 0, 0}}, 1, 2);
      benchmark::DoNotOptimize(&block);
    }
  }
  state.SetItemsProcessed(state.iterations());
  state.SetComplexityN(state.range(0));
}

BENCHMARK(bench::two_heaps)->Name("searchers/floor/two_heaps")->Apply(hundred_to_million);
BENCHMARK(rung_report)->Name("searchers/rung/report")->Apply(hundred_to_million);
BENCHMARK_CAPTURE(schedule_event, promotion, false)
    ->Name("searchers/schedule/promotion/event")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(schedule_event, stopping, true)
    ->Name("searchers/schedule/stopping/event")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(searcher_event, promotion, "async_halving", false)
    ->Name("searchers/asha/promotion/event")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(searcher_event, stopping, "async_halving", true)
    ->Name("searchers/asha/stopping/event")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(searcher_event, adaptive, "adaptive_asha", false)
    ->Name("searchers/adaptive_asha/promotion/event")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(searcher_event, random, "random", false)
    ->Name("searchers/random/event")
    ->Apply(hundred_to_million);

void looks(benchmark::internal::Benchmark* bench) {
  hundred_to_million(bench);
  bench->Unit(benchmark::kNanosecond);
}

BENCHMARK(searcher_next)->Name("searchers/asha/next")->Apply(looks);
BENCHMARK(searcher_verdict)->Name("searchers/asha/verdict")->Apply(looks);
BENCHMARK(searcher_standing)->Name("searchers/asha/standing")->Apply(looks);
BENCHMARK(philox_blocks)
    ->Name("engine/floor/philox_blocks")
    ->ArgName("values")
    ->Arg(1)
    ->Arg(4)
    ->Arg(5)
    ->Arg(9)
    ->Arg(16)
    ->Arg(64)
    ->Complexity();
BENCHMARK(space_sample)
    ->Name("engine/space/sample")
    ->ArgName("parameters")
    ->RangeMultiplier(4)
    ->Range(4, 64)
    ->Complexity();
BENCHMARK(space_grid_point)
    ->Name("engine/space/grid_point")
    ->ArgName("axes")
    ->DenseRange(1, 9, 4)
    ->Complexity();

}  // namespace
}  // namespace hpsearch::searchers
