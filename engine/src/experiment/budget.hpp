#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// Which budget the experiment has spent by `now`, as a sentence; nothing while none is.
[[nodiscard]] std::optional<std::string> spent_budget(const ExperimentRecord& record, Instant now);

/// The same under another budget.
[[nodiscard]] std::optional<std::string> spent_of(const BudgetConfig& budget, const ExperimentRecord& record,
                                                  Instant now);

/// The first instant at which spent_budget() will name one of time, if nothing else happens before.
[[nodiscard]] std::optional<Instant> next_deadline(const ExperimentRecord& record);

}  // namespace hpsearch::engine
