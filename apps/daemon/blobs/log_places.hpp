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

/// The workers where an attempt ran or runs, which have its logs.
struct AttemptPlaces {
  engine::AttemptKey key;
  std::vector<engine::Place> nodes;  ///< By rank; never empty.
  std::string lost_because;          ///< Why its node was lost; "" = it was not.

  /// The attempt's place on that worker; nullptr: it had none.
  [[nodiscard]] const engine::Place* on(engine::WorkerId worker) const noexcept;
};

/// `attempt` 0: the last one. not_found: the trial has no such attempt.
[[nodiscard]] engine::Result<AttemptPlaces> places_of(EventStore& store, const engine::Numbering& numbering,
                                                      engine::ExperimentId experiment,
                                                      engine::TrialNumber trial, std::uint64_t attempt);

/// Where that worker ran the attempt; null if it did not, or if the attempt has another key.
[[nodiscard]] std::optional<engine::Place> place_of(EventStore& store, const engine::Numbering& numbering,
                                                    const engine::AttemptKey& key, engine::WorkerId worker);

}  // namespace hpsearch::daemon
