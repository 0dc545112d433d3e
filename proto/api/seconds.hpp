#pragma once

#include <optional>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::api {

/// Since the epoch.
[[nodiscard]] inline double seconds(engine::Instant at) {
  return static_cast<double>(at.micros()) / 1e6;
}

/// Records store the epoch in place of an instant that hasn't come yet.
[[nodiscard]] inline std::optional<double> seconds_if_any(engine::Instant at) {
  return at == engine::Instant{} ? std::nullopt : std::optional(seconds(at));
}

}  // namespace hpsearch::api
