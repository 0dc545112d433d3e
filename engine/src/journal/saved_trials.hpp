#pragma once

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// The trials of an experiment: a row of digits each, their configurations, what runs, and what few of them
/// have.
[[nodiscard]] Value save_trials(const ExperimentRecord& record);

/// The inverse; sets the trials, hparams, by_state, pending and running. False: it is no such save.
[[nodiscard]] bool load_trials(const Value& saved, ExperimentRecord& record);

}  // namespace hpsearch::engine
