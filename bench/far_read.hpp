#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"

namespace hpsearch::bench {

/// How long a read takes that nothing foresees, all over as much memory as a rung of so many results takes
/// (20 bytes each): whoever looks up one of them waits so long. The address of each is in the one before. One
/// item is one read.
inline void far_read(benchmark::State& state) {
  struct alignas(64) Line {
    std::uint32_t next = 0;
  };
  const auto count = static_cast<std::uint32_t>((state.range(0) * 20 + 63) / 64);
  std::vector<Line> lines(count);
  std::vector<std::uint32_t> turns(count);
  std::iota(turns.begin(), turns.end(), 0U);
  engine::Draw draw(1, engine::TrialNumber(0), "far_read");
  for (std::uint32_t i = count - 1; i > 0; --i) {  // One round through all lines (Sattolo).
    std::swap(turns[i], turns[draw.below(i)]);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    lines[i].next = turns[i];
  }
  std::uint32_t at = 0;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < count; ++i) {
      at = lines[at].next;
    }
    benchmark::DoNotOptimize(at);
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.SetComplexityN(state.range(0));
}

}  // namespace hpsearch::bench
