#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::engine {

/// Why an attempt gave its slots back.
enum class AttemptEnd : std::uint8_t {
  finished,   ///< Its program ended by itself, or its trial is complete.
  paused,     ///< Its trial waits at a rung, or its experiment is paused.
  stopped,    ///< The search wanted no more of its trial.
  failed,     ///< Its program failed.
  lost,       ///< Its worker is lost, or never had it.
  preempted,  ///< It was interrupted, and its trial goes on elsewhere.
  canceled,   ///< A user ended its trial or its experiment.
};

/// "finished", "paused", … as users see it.
[[nodiscard]] std::string_view name_of(AttemptEnd end) noexcept;

/// One slot of one worker, held by one attempt. There may be a million: numbers are kept as narrow as they
/// get.
struct AttemptSpan {
  static constexpr std::uint16_t no_slot = std::numeric_limits<std::uint16_t>::max();

  Instant from;  ///< When the attempt got the slot, by the clock: time without a daemon is in it.
  Instant to;    ///< When it was given back.
  std::uint32_t trial = 0;
  std::uint32_t attempt = 0;
  std::uint32_t worker = 0;
  std::uint16_t slot = no_slot;  ///< no_slot: it ran beside the slots.
  AttemptEnd end = AttemptEnd::finished;
};

}  // namespace hpsearch::engine
