#include "daemon/hello_limit.hpp"

#include <algorithm>

namespace hpsearch::daemon {
namespace {

constexpr std::uint64_t longest_retry_ms = 30'000;

}  // namespace

std::optional<std::uint64_t> HelloLimit::retry_after_ms(engine::Instant now) {
  if (now - since_ >= engine::Duration::seconds(1)) {
    since_ = now;
    admitted_ = 0;
    turned_away_ = 0;
  }
  if (admitted_ < per_second_) {
    ++admitted_;
    return std::nullopt;
  }
  ++turned_away_;
  const std::uint64_t seconds = 2 * (1 + turned_away_ / std::max<std::uint64_t>(1, per_second_));
  return std::min(longest_retry_ms, 1'000 * seconds);
}

}  // namespace hpsearch::daemon
