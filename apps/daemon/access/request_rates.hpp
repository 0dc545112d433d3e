#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// How many requests each token may still send: 300 a second, and 600 at once after a pause. So one script
/// that asks without a pause leaves time for others.
///
/// Threads: one. Cost: O(log tokens).
class RequestRates {
 public:
  static constexpr double a_second = 300;
  static constexpr double at_once = 600;
  static constexpr std::size_t most_tokens = 2'000;

  /// Takes one request of the token into account. Nothing: it may be answered. Else it is too early by this
  /// time, and does not count.
  [[nodiscard]] std::optional<engine::Duration> take(const std::string& token, engine::Instant now);

 private:
  struct Left {
    double requests = at_once;
    engine::Instant at;
  };
  std::map<std::string, Left, std::less<>> left_;  ///< By token.
};

}  // namespace hpsearch::daemon
