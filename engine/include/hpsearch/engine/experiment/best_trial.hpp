#pragma once

#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

/// The finalists of its search, best mean first (Searcher::finalists).
[[nodiscard]] std::vector<Finalist> finalists_of(const ExperimentRecord& record);

/// The trial that a search comes to: the one with the best metric so far. Once it repeats its finalists: the
/// best training of the finalist with the best mean.
[[nodiscard]] std::optional<TrialNumber> best_trial(const ExperimentRecord& record);
/// The same where the searcher's finalists are known.
[[nodiscard]] std::optional<TrialNumber> best_trial(const ExperimentRecord& record,
                                                    const std::vector<Finalist>& finalists);

}  // namespace hpsearch::engine
