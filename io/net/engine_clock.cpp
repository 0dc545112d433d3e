#include "hpsearch/io/net/engine_clock.hpp"

namespace hpsearch::net {

engine::Instant EngineClock::now() const noexcept {
  return clocks_->steady() + offset_;
}

void EngineClock::start_at_least(engine::Instant at_least) noexcept {
  if (const engine::Instant present = now(); present < at_least) {
    offset_ = offset_ + (at_least - present);
  }
}

engine::Duration EngineClock::wall_ahead() const noexcept {
  constexpr int most_tries = 3;
  constexpr engine::Duration at_once = engine::Duration::millis(100);
  engine::Duration ahead;
  for (int tries = 0; tries < most_tries; ++tries) {
    const engine::Instant before = now();
    const engine::Instant wall = clocks_->wall();
    const engine::Instant after = now();
    ahead = wall - after;
    if (after - before <= at_once) {  // Else this process stood still between the two.
      break;
    }
  }
  return ahead;
}

}  // namespace hpsearch::net
