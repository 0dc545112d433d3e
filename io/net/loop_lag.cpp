#include "hpsearch/io/net/loop_lag.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "net/asio.hpp"

namespace hpsearch::net {
namespace {

constexpr std::chrono::milliseconds look_every{100};

}  // namespace

LoopLag::Turn::~Turn() {
  lag_.longest_turn_ = std::max(lag_.longest_turn_, lag_.meter_() - began_);
}

std::uint64_t LoopLag::nanoseconds() {
  const auto passed = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
}

void LoopLag::was_late(std::chrono::nanoseconds time) noexcept {
  const double seconds = std::max(0.0, std::chrono::duration<double>(time).count());
  const auto bound = std::lower_bound(bounds_seconds.begin(), bounds_seconds.end(), seconds);
  ++lateness_.counts[static_cast<std::size_t>(bound - bounds_seconds.begin())];
  lateness_.sum_seconds += seconds;
}

std::uint64_t LoopLag::take_longest_turn() noexcept {
  return std::exchange(longest_turn_, 0);
}

LoopLag& lag_of(Loop& loop) noexcept {
  return loop.impl().lag;
}

Watch watch_lateness(Loop& loop) {
  // A late look moves the later ones, so that a standstill is counted once.
  const auto due =
      std::make_shared<std::chrono::steady_clock::time_point>(std::chrono::steady_clock::now() + look_every);
  return loop.every(look_every, [&loop, due] {
    const auto now = std::chrono::steady_clock::now();
    lag_of(loop).was_late(now - *due);
    *due = std::max(*due + look_every, now);
  });
}

}  // namespace hpsearch::net
