#pragma once

#include <cstdint>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"

namespace hpsearch::engine {

/// A moment at which an experiment's best metric became better.
struct BestPoint {
  TrialNumber trial;  ///< That measured it …
  Units step{};       ///< … here.
  double metric = 0;  ///< Finite.
  Instant at;
  Duration slot_time;        ///< Slots × time under lease until then, over all trials.
  std::uint64_t trials = 0;  ///< Trials there were.
};

}  // namespace hpsearch::engine
