#include "hpsearch/net/engine_clock.hpp"

namespace hpsearch::net {

engine::Instant EngineClock::now() const noexcept {
  return clocks_->steady() + offset_;
}

void EngineClock::start_at_least(engine::Instant at_least) noexcept {
  if (const engine::Instant present = now(); present < at_least) {
    offset_ = offset_ + (at_least - present);
  }
}

}  // namespace hpsearch::net
