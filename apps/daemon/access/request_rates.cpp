#include "daemon/access/request_rates.hpp"

#include <algorithm>
#include <cmath>

namespace hpsearch::daemon {

std::optional<engine::Duration> RequestRates::take(const std::string& token, engine::Instant now) {
  if (left_.size() >= most_tokens && !left_.contains(token)) {
    // After two seconds a token has all its requests again, so its entry can be removed.
    const auto refilled = engine::Duration::seconds(static_cast<std::int64_t>(at_once / a_second));
    std::erase_if(left_, [&](const auto& one) { return one.second.at + refilled <= now; });
  }
  Left& left = left_.try_emplace(token, Left{at_once, now}).first->second;
  if (now > left.at) {
    left.requests = std::min(at_once, left.requests + (now - left.at).in_seconds() * a_second);
    left.at = now;
  }
  if (left.requests < 1) {
    return engine::Duration::micros(std::llround((1 - left.requests) / a_second * 1e6));
  }
  left.requests -= 1;
  return std::nullopt;
}

}  // namespace hpsearch::daemon
