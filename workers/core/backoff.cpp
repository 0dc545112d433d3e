#include "hpsearch/workers/core/backoff.hpp"

#include <algorithm>
#include <cstdint>

namespace hpsearch::workers {

using engine::Duration;

namespace {

Duration part_of(Duration whole, double part) noexcept {
  return Duration::micros(static_cast<std::int64_t>(static_cast<double>(whole.in_micros()) * part));
}

}  // namespace

Duration Backoff::next() noexcept {
  const Duration wait = part_of(step_, 0.5 + 0.5 * draw_.unit());
  step_ = std::min(longest_, step_ + step_);
  return wait;
}

Duration Backoff::within(Duration most) noexcept {
  return part_of(most, draw_.unit());
}

Duration Backoff::about(Duration around) noexcept {
  return part_of(around, 0.8 + 0.4 * draw_.unit());
}

}  // namespace hpsearch::workers
