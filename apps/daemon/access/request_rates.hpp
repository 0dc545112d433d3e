#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Limits how many requests each token may send: 300 a second, and 600 at once after a pause. So one script
/// that sends requests without a pause leaves time for others.
///
/// Threads: one. Cost: O(log tokens).
class RequestRates {
 public:
  static constexpr double a_second = 300;
  static constexpr double at_once = 600;
  static constexpr std::size_t most_tokens = 2'000;

  /// Counts one request of the token. Null: it may be answered. Otherwise it comes too early by this time,
  /// and is not counted.
  [[nodiscard]] std::optional<engine::Duration> take(const std::string& token, engine::Instant now);

 private:
  struct Left {
    double requests = at_once;
    engine::Instant at;
  };
  std::map<std::string, Left, std::less<>> left_;  ///< By token.
};

}  // namespace hpsearch::daemon
