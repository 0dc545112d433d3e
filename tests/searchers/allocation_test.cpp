#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/searchers/asha.hpp"
#include "settings.hpp"

// This binary counts every allocation and every byte that is held: a rung of a million results must neither
// allocate per report nor hold more than it says.

namespace {

std::uint64_t allocations = 0;
std::uint64_t bytes_held = 0;

// The size stands in front of what is given out, in a block as wide as the alignment asked for.
void* allocate(std::size_t size, std::size_t alignment) {
  void* block = std::aligned_alloc(alignment, (size + 2 * alignment - 1) / alignment * alignment);
  if (block == nullptr) {
    throw std::bad_alloc();
  }
  *static_cast<std::size_t*>(block) = size;
  ++allocations;
  bytes_held += size;
  return static_cast<std::byte*>(block) + alignment;
}

void release(void* given, std::size_t alignment) noexcept {
  if (given != nullptr) {
    void* block = static_cast<std::byte*>(given) - alignment;
    bytes_held -= *static_cast<std::size_t*>(block);
    std::free(block);
  }
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return allocate(size, alignof(std::max_align_t));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* given) noexcept {
  release(given, alignof(std::max_align_t));
}
void operator delete(void* given, std::size_t /*size*/) noexcept {
  release(given, alignof(std::max_align_t));
}
void operator delete(void* given, const std::nothrow_t& /*tag*/) noexcept {
  release(given, alignof(std::max_align_t));
}
void operator delete(void* given, std::align_val_t alignment) noexcept {
  release(given, static_cast<std::size_t>(alignment));
}
void operator delete(void* given, std::size_t /*size*/, std::align_val_t alignment) noexcept {
  release(given, static_cast<std::size_t>(alignment));
}

namespace hpsearch::searchers {
namespace {

using engine::TrialNumber;
using engine::Units;
using engine::Verdict;
using test::score;

struct Spent {
  std::uint64_t events = 0;
  std::uint64_t allocations = 0;
};

/// Trials one after the other, as many slots as it takes; the events from the `from`-th trial on are counted.
Spent run(StoppingPolicy& schedule, std::uint64_t trials, std::uint64_t from) {
  engine::Draw draw(1, TrialNumber(0), "allocation");
  Spent spent;
  std::uint64_t created = 0;
  std::uint64_t before = allocations;
  while (created < trials) {
    if (created == from) {
      before = allocations;
      spent.events = 0;
    }
    Work work = schedule.next();
    TrialNumber trial(created);
    if (const auto* promoted = std::get_if<engine::PromoteTrial>(&work)) {
      trial = promoted->trial;
      schedule.on_promoted(trial);
    } else {
      schedule.on_created(Units{});
      ++created;
    }
    ++spent.events;
    for (bool trains = true; trains;) {
      schedule.on_reported(trial, Units{1}, score(draw.unit()));
      schedule.on_validated(trial, score(draw.unit()));
      const Verdict verdict = schedule.verdict(trial);
      spent.events += 2;
      trains = verdict.action == Verdict::Action::train_on;
      if (trains) {
        schedule.on_promoted(trial);
      } else if (verdict.action == Verdict::Action::stop) {
        schedule.on_closed(trial);
      }
      ++spent.events;
    }
  }
  spent.allocations = allocations - before;
  return spent;
}

AshaSettings four_rungs(std::uint64_t trials) {
  AshaSettings settings;
  settings.lengths = {Units{1}, Units{4}, Units{16}, Units{64}};
  settings.divisor = Divisor(4);
  settings.trials = trials;
  return settings;
}

class Allocation : public ::testing::TestWithParam<bool> {};

TEST_P(Allocation, NoneForReportsVerdictsAndPromotions) {
  const auto asha = make_asha(four_rungs(1'000'000), GetParam());
  const Spent spent = run(*asha, 200'000, 100'000);
  EXPECT_GT(spent.events, 300'000U);
  // Chunks and blocks of what grows, and nothing else.
  EXPECT_LT(static_cast<double>(spent.allocations) / static_cast<double>(spent.events), 0.01)
      << spent.allocations << " allocations for " << spent.events << " events";
}

TEST_P(Allocation, AtMost75BytesPerTrial) {
  constexpr std::uint64_t trials = 200'000;
  const std::uint64_t before = bytes_held;
  const auto asha = make_asha(four_rungs(2 * trials), GetParam());
  run(*asha, trials, 0);
  EXPECT_LT(static_cast<double>(bytes_held - before) / static_cast<double>(trials), 75.0);
}

TEST(AllocationCounters, Count) {
  const std::uint64_t before = allocations;
  const std::uint64_t held = bytes_held;
  const auto block = std::make_unique<std::vector<double>>(100);
  EXPECT_EQ(allocations - before, 2U);
  EXPECT_EQ(bytes_held - held, 100 * sizeof(double) + sizeof(std::vector<double>));
}

INSTANTIATE_TEST_SUITE_P(Types, Allocation, ::testing::Bool(), [](const auto& instance) {
  return std::string(instance.param ? "Stopping" : "Promotion");
});

}  // namespace
}  // namespace hpsearch::searchers
