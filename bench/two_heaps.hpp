#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"

// The floor of everything that decides who goes on: the least that knowing it takes, without ranks, cut-offs,
// ties, reasons or orders. The ratio to it says more than times of a busy machine, as long as both come from
// one run of one program.

namespace hpsearch::bench {

inline constexpr std::uint64_t divisor = 4;

inline std::vector<double> drawn_metrics(std::int64_t count) {
  engine::Draw draw(1, engine::TrialNumber(0), "bench");
  std::vector<double> metrics(static_cast<std::size_t>(count));
  std::generate(metrics.begin(), metrics.end(), [&draw] { return draw.unit(); });
  return metrics;
}

/// The promotions of one rung from two heaps: the kept ones with the worst on top, the others with the best
/// on top. One item is one result.
inline void two_heaps(benchmark::State& state) {
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
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetComplexityN(state.range(0));
}

}  // namespace hpsearch::bench
