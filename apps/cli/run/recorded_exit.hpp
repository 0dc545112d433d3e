#pragma once

#include <optional>

#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/sim/simulation.hpp"

namespace hpsearch::cli {

/// How a trial ended early, or nothing if it did not. `history` holds its events as GET …/explain lists them;
/// `reached` is the highest length that it reported the searcher's metric at, 0 = none. Of one that waited,
/// `waiting_until` is 0: its own history does not tell what others did meanwhile.
[[nodiscard]] std::optional<engine::sim::RecordedExit> recorded_exit(const engine::Value::List& history,
                                                                     engine::Units reached);

}  // namespace hpsearch::cli
