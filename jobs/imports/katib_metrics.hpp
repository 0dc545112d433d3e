#pragma once

#include <string>
#include <vector>

#include "imports/draft.hpp"

namespace hpsearch::jobs {

/// Sets the patterns by which hpsearch reads what a metrics collector of Katib reads. The first of `metrics`
/// is the objective. `collector` is the experiment's `metricsCollectorSpec`, which may be null.
void read_katib_metrics(const Value& collector, const std::vector<std::string>& metrics, Draft& draft);

}  // namespace hpsearch::jobs
