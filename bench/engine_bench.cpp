#include <benchmark/benchmark.h>
#ifdef HPSEARCH_JEMALLOC
#include <jemalloc/jemalloc.h>
#else
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

#include "engine_search.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "sizes.hpp"
#include "two_heaps.hpp"

// What a command costs as experiments grow: whole searches, every event and order included, from the first
// trial to the last. The programs are played by a queue that reports at each length and follows each
// decision.

namespace hpsearch {
namespace {

using namespace bench;  // NOLINT(google-build-using-namespace)

/// Bytes handed out by the allocator, with what it rounds up.
std::size_t heap_in_use() {
#ifdef HPSEARCH_JEMALLOC
  // What was given back is kept at hand for a while, and counts until it is flushed; the counters are those
  // of the last epoch.
  std::uint64_t epoch = 1;
  std::size_t bytes = 0;
  std::size_t size = sizeof bytes;
  HPSEARCH_CHECK(mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0) == 0 &&
                     mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) == 0 &&
                     mallctl("stats.allocated", &bytes, &size, nullptr, 0) == 0,
                 "jemalloc was built with its counters");
  return bytes;
#else
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
#endif
}

void whole_search(benchmark::State& state, bool stop_once) {
  double bytes_per_trial = 0;
  std::uint64_t steps = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    const std::size_t before = heap_in_use();
    Search search({.trials = state.range(0), .stop_once = stop_once});
    while (!search.over()) {
      search.advance();
    }
    steps += search.steps();
    events += search.events();
    HPSEARCH_CHECK(search.trials() == static_cast<std::uint64_t>(state.range(0)),
                   "a search runs all its trials");
    state.PauseTiming();
    search.forget_effects();
    bytes_per_trial = static_cast<double>(heap_in_use() - before) / static_cast<double>(state.range(0));
    {
      const Search gone = std::move(search);  // Its end is not what is measured.
    }
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(steps));
  state.counters["events_per_second"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["per_step"] = benchmark::Counter(static_cast<double>(steps),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes_per_trial"] = bytes_per_trial;
  state.SetComplexityN(state.range(0));
}

enum class Deed { report, promote, create };

std::int64_t created_by(const Effects& effects) {
  return std::count_if(effects.events.begin(), effects.events.end(),
                       [](const Event& event) { return std::holds_alternative<TrialCreated>(event.body); });
}

/// The most expensive effect of a command.
Deed deed_of(const Effects& effects) {
  const auto promotes = [](const Event& event) { return std::holds_alternative<TrialPromoted>(event.body); };
  if (created_by(effects) > 0) {
    return Deed::create;
  }
  return std::any_of(effects.events.begin(), effects.events.end(), promotes) ? Deed::promote : Deed::report;
}

// The steps of a whole search in which trials are created (per trial), or one is promoted and none is
// created, or neither: each with all the events and orders that come of it. Takes in two looks at the clock
// per step.
void steps_of(benchmark::State& state, Deed deed) {
  std::int64_t items = 0;
  for (auto _ : state) {
    std::chrono::nanoseconds took{};
    Search search({.trials = state.range(0)},
                  [&](const Effects& effects, std::chrono::nanoseconds step_took) {
                    if (deed_of(effects) == deed) {
                      took += step_took;
                      items += deed == Deed::create ? created_by(effects) : 1;
                    }
                  });
    while (!search.over()) {
      search.advance();
    }
    state.SetIterationTime(std::chrono::duration<double>(took).count());
  }
  state.SetItemsProcessed(items);
  state.SetComplexityN(state.range(0));
}

// Complexity is fitted to processor time, and theirs is that of the whole search.
void steps_alone(benchmark::internal::Benchmark* bench) {
  hundred_to_million(bench);
  bench->UseManualTime()->Complexity(benchmark::oNone);
}

BENCHMARK(two_heaps)->Name("engine/floor/two_heaps")->Apply(hundred_to_million);
BENCHMARK_CAPTURE(whole_search, promotion, false)
    ->Name("engine/step/promotion_search")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(whole_search, stopping, true)
    ->Name("engine/step/stopping_search")
    ->Apply(hundred_to_million);
BENCHMARK_CAPTURE(steps_of, create, Deed::create)->Name("engine/step/create")->Apply(steps_alone);
BENCHMARK_CAPTURE(steps_of, report, Deed::report)->Name("engine/step/report")->Apply(steps_alone);
BENCHMARK_CAPTURE(steps_of, promote, Deed::promote)->Name("engine/step/promote")->Apply(steps_alone);

}  // namespace
}  // namespace hpsearch
