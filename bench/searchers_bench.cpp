#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "hpsearch/searchers/rung.hpp"

// What a decision costs as a search grows: the time per item stays nearly flat from a thousand trials to a
// million. The floor does the least that knowing who may be promoted takes, without ranks, cut-offs or ties:
// the ratio to it says more than times of a busy machine.

namespace hpsearch::searchers {
namespace {

using engine::Draw;
using engine::Score;
using engine::TrialNumber;
using engine::Units;

constexpr std::uint64_t divisor = 4;

std::vector<double> drawn_metrics(std::int64_t count) {
  Draw draw(1, TrialNumber(0), "bench");
  std::vector<double> metrics(static_cast<std::size_t>(count));
  std::generate(metrics.begin(), metrics.end(), [&draw] { return draw.unit(); });
  return metrics;
}

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

// The same promotions from two heaps: the kept ones with the worst on top, the others with the best on top.
void two_heaps(benchmark::State& state) {
  const std::vector<double> metrics = drawn_metrics(state.range(0));
  for (auto _ : state) {
    std::priority_queue<double> kept;
    std::priority_queue<double, std::vector<double>, std::greater<>> others;
    std::uint64_t promoted = 0;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (!kept.empty() && metrics[i] < kept.top()) {
        kept.push(metrics[i]);
        others.push(kept.top());
        kept.pop();
        ++promoted;
      } else {
        others.push(metrics[i]);
      }
      if (kept.size() < (i + 1) / divisor) {
        kept.push(others.top());
        others.pop();
        ++promoted;
      }
    }
    benchmark::DoNotOptimize(promoted);
  }
  count_items(state, metrics.size());
}

/// A whole bracket of four rungs with 64 slots, from the first trial to the last; returns the number of
/// events.
std::uint64_t run_bracket(const std::vector<double>& metrics) {
  AshaSettings settings;
  settings.lengths = {Units{1}, Units{4}, Units{16}, Units{64}};
  settings.divisor = Divisor(divisor);
  settings.trials = metrics.size();
  const std::unique_ptr<Schedule> asha = make_asha(std::move(settings), false);

  std::vector<TrialNumber> running;
  std::vector<TrialNumber> closed;
  std::uint64_t created = 0;
  std::uint64_t events = 0;
  std::size_t turn = 0;
  for (;;) {
    while (running.size() < 64) {
      const Work work = asha->next();
      if (std::holds_alternative<NewTrial>(work)) {
        asha->hear_created();
        running.push_back(TrialNumber(created++));
      } else if (const auto* promoted = std::get_if<engine::PromoteTrial>(&work)) {
        asha->hear_promoted(promoted->trial);
        running.push_back(promoted->trial);
      } else {
        break;
      }
      ++events;
    }
    if (running.empty()) {
      break;
    }
    turn = (turn + 17) % running.size();
    const TrialNumber trial = running[turn];
    asha->hear_validated(trial, Score::from_metric(metrics[trial.number()], engine::Goal::minimize));
    ++events;
    const engine::Verdict verdict = asha->verdict(trial);
    if (verdict.action == engine::Verdict::Action::train_on) {
      asha->hear_promoted(trial);
      ++events;
      continue;
    }
    running[turn] = running.back();
    running.pop_back();
    if (verdict.action == engine::Verdict::Action::stop) {
      asha->hear_closed(trial);
      ++events;
    }
    closed.assign(asha->closable().begin(), asha->closable().end());
    for (const TrialNumber named : closed) {
      asha->hear_closed(named);
      ++events;
    }
  }
  HPSEARCH_CHECK(std::holds_alternative<Over>(asha->next()), "a bracket runs to its end");
  return events;
}

void asha_event(benchmark::State& state) {
  const std::vector<double> metrics = drawn_metrics(state.range(0));
  std::uint64_t events = 0;
  for (auto _ : state) {
    events = run_bracket(metrics);
  }
  count_items(state, events);
}

void thousand_to_million(benchmark::internal::Benchmark* bench) {
  bench->ArgName("trials")
      ->RangeMultiplier(10)
      ->Range(1'000, 1'000'000)
      ->Unit(benchmark::kMillisecond)
      ->Complexity(benchmark::oNLogN);
}

BENCHMARK(two_heaps)->Name("searchers/floor/two_heaps")->Apply(thousand_to_million);
BENCHMARK(rung_report)->Name("searchers/rung/report")->Apply(thousand_to_million);
BENCHMARK(asha_event)->Name("searchers/asha/event")->Apply(thousand_to_million);

}  // namespace
}  // namespace hpsearch::searchers
