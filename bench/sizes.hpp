#pragma once

#include <benchmark/benchmark.h>

namespace hpsearch::bench {

/// Sizes of what grows with a search. Which growth fits is not said beforehand: a scan in each step shows as
/// N^2.
inline void hundred_to_million(benchmark::internal::Benchmark* bench) {
  bench->ArgName("trials")
      ->RangeMultiplier(10)
      ->Range(100, 1'000'000)
      ->Unit(benchmark::kMillisecond)
      ->Complexity();
}

}  // namespace hpsearch::bench
