#include "hpsearch/workers/core/printed_steps.hpp"

namespace hpsearch::workers {

using engine::Duration;
using engine::Instant;

namespace {

constexpr std::size_t fewest_steps = 3;
constexpr Duration shortest_silence = Duration::seconds(2);
constexpr std::int64_t silence_to_burst = 50;

}  // namespace

void PrintedSteps::take(engine::Units step, Instant now) noexcept {
  if (last_ && step <= *last_) {
    return;
  }
  if (!last_) {
    first_at_ = now;
  }
  last_ = step;
  last_at_ = now;
  ++count_;
}

bool PrintedSteps::came_at_once() const noexcept {
  return count_ >= fewest_steps && silence() >= shortest_silence &&
         (last_at_ - first_at_).in_micros() <= silence().in_micros() / silence_to_burst;
}

Duration PrintedSteps::silence() const noexcept {
  return last_ ? first_at_ - began_ : Duration{};
}

}  // namespace hpsearch::workers
