#pragma once

#include <map>
#include <optional>

#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"

namespace hpsearch::engine {

/// The checkpoint that source_trial_id (the trial's latest) or source_checkpoint_uuid (exactly it: its
/// checkpoint_id or its path) means now. Nothing when neither is given, or with one problem more when there
/// is no such checkpoint: unknown, deleted, being deleted, or of an upload that never finished. O(experiments
/// × log trials + the trial's checkpoints).
[[nodiscard]] std::optional<SourceCheckpoint> find_source(
    const std::map<ExperimentId, ExperimentRecord>& experiments, const SearcherConfig& searcher,
    Problems& problems);

}  // namespace hpsearch::engine
