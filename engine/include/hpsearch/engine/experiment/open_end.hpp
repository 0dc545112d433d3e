#pragma once

#include <string>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// Names the decision that the last event of a log leaves unmade, as the end of a sentence; "" if none. Every
/// step makes all its decisions, so a log that leaves one unmade was cut off within a step. O(trials · log
/// trials).
[[nodiscard]] std::string open_end(const ExperimentRecord& record);

}  // namespace hpsearch::engine
