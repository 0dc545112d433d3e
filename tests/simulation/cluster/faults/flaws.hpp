#pragma once

#include <cstdint>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "simulation/cluster/faults/faults.hpp"

namespace hpsearch::simulation {

/// What a configuration does to its program, each time and wherever it runs.
enum class Flaw : std::uint8_t { none, exits_at_once, kills_its_shim };

/// The same for every attempt of the trial, also when everything is healed.
[[nodiscard]] inline Flaw flaw_of(const Faults& faults, std::uint64_t seed, engine::ExperimentId experiment,
                                  engine::TrialNumber trial) {
  engine::Draw draw(seed + experiment.number(), trial, "configuration");
  const double drawn = draw.unit();
  const double exits = faults.drawn_rate(Fault::configuration_exits_at_once);
  if (drawn < exits) {
    return Flaw::exits_at_once;
  }
  return drawn < exits + faults.drawn_rate(Fault::configuration_kills_its_shim) ? Flaw::kills_its_shim
                                                                                : Flaw::none;
}

}  // namespace hpsearch::simulation
