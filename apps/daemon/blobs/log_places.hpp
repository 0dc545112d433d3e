#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/event_store.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"

namespace hpsearch::daemon {

/// Where an attempt ran or runs: who has its logs.
struct AttemptPlaces {
  engine::AttemptKey key;
  std::vector<engine::Place> nodes;  ///< By rank; never none.
  std::string lost_because;          ///< Its node was lost: why; "" = it was not.

  /// The one on that worker; nullptr: it had nothing there.
  [[nodiscard]] const engine::Place* on(engine::WorkerId worker) const noexcept;
};

/// `attempt` 0: the last one. not_found: the trial has no such attempt.
[[nodiscard]] engine::Result<AttemptPlaces> places_of(EventStore& store, const engine::Numbering& numbering,
                                                      engine::ExperimentId experiment,
                                                      engine::TrialNumber trial, std::uint64_t attempt);

/// Where that worker ran the attempt; nothing if it did not, or if the attempt has another key.
[[nodiscard]] std::optional<engine::Place> place_of(EventStore& store, const engine::Numbering& numbering,
                                                    const engine::AttemptKey& key, engine::WorkerId worker);

}  // namespace hpsearch::daemon
