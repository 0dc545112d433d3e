#pragma once

#include <string>
#include <vector>

#include "imports/draft.hpp"

namespace hpsearch::jobs {

/// Sets searcher, budget and metrics from the `spec` of a Katib experiment: its objective, algorithm, early
/// stopping, numbers of trials, and metrics collector. The hyperparameters must be in the draft. `words` is
/// the entrypoint, which may name the number of epochs.
void read_katib_search(const Value& spec, const std::vector<std::string>& words, Draft& draft);

}  // namespace hpsearch::jobs
