#pragma once

#include <cstdint>

namespace hpsearch::engine {

/// An absolute amount of training, from the trial's start. Whether one is a batch, a record, an epoch or
/// something else is the experiment's `unit`; the engine only compares.
enum class Units : std::uint64_t {};

[[nodiscard]] constexpr std::uint64_t count(Units units) noexcept {
  return static_cast<std::uint64_t>(units);
}

}  // namespace hpsearch::engine
