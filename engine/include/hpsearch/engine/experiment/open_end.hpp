#pragma once

#include <string>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// What the last events of a log leave open, as the end of a sentence; "" if nothing. A step never ends so: a
/// log that does was cut off within one. O(trials · log trials).
[[nodiscard]] std::string open_end(const ExperimentRecord& record);

}  // namespace hpsearch::engine
