#include "daemon/sessions/hello_limit.hpp"

#include <algorithm>

namespace hpsearch::daemon {
namespace {

using engine::Duration;

constexpr std::uint64_t longest_retry_ms = 30'000;
// With 200 searches a greeting takes a millisecond or two: this many delay other work by less than a tenth of
// a second.
constexpr std::uint64_t most_at_once = 64;

}  // namespace

HelloLimit::HelloLimit(std::uint64_t per_second)
    : per_second_(std::max<std::uint64_t>(1, per_second)),
      share_(
          Duration::micros(static_cast<std::int64_t>(std::max<std::uint64_t>(1, 1'000'000 / per_second_)))),
      most_(Duration::micros(share_.in_micros() *
                             static_cast<std::int64_t>(std::min(per_second_, most_at_once)))),
      room_(most_) {
}

std::optional<std::uint64_t> HelloLimit::retry_after_ms(engine::Instant now) {
  room_ = std::min(most_, room_ + (now - counted_));
  counted_ = now;
  if (now - since_ >= Duration::seconds(1)) {
    since_ = now;
    turned_away_ = 0;
  }
  if (room_ >= share_) {
    room_ = Duration::micros(room_.in_micros() - share_.in_micros());
    return std::nullopt;
  }
  ++turned_away_;
  const std::uint64_t seconds = 2 * (1 + turned_away_ / per_second_);
  return std::min(longest_retry_ms, 1'000 * seconds);
}

}  // namespace hpsearch::daemon
