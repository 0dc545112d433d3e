#pragma once

#include <optional>

#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/sim/simulation.hpp"

namespace hpsearch::cli {

/// How a trial ended early, or null if it did not. `history` has its events as GET …/explain lists them;
/// `reached` is the highest length at which it reported the searcher's metric, 0 = none. For a trial that
/// waited, `waiting_until` is 0: its own history does not contain the progress of other trials.
[[nodiscard]] std::optional<engine::sim::RecordedExit> recorded_exit(const engine::Value::List& history,
                                                                     engine::Units reached);

}  // namespace hpsearch::cli
