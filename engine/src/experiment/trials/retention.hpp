#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"

namespace hpsearch::engine {

/// Checkpoints of one experiment by trial and place in KnownCheckpoints::kept.
using CheckpointPlaces = std::set<std::pair<TrialNumber, std::size_t>>;

/// The experiment's save_experiment_best best: by the searcher's metric, ties to the older trial and
/// checkpoint. With finalists, if it saves any: also the best of best_trial(record), and of every finalist's
/// best training until the experiment has ended. O(those × checkpoints of their trials).
[[nodiscard]] CheckpointPlaces best_of_experiment(const ExperimentRecord& record);

/// What of a trial's checkpoints its experiment's retention does not keep, in the order they came: all but
/// the best save_trial_best, the latest save_trial_latest and the experiment's best. Checkpoints that were
/// not measured at their very step count only as latest.
[[nodiscard]] std::vector<std::string> surplus_checkpoints(const ExperimentRecord& record, TrialNumber trial,
                                                           const CheckpointPlaces& experiment_best);

/// Nothing of it can be promoted, resumed or reported any more.
[[nodiscard]] bool is_settled(const TrialRecord& trial) noexcept;

/// Without its latest checkpoint it goes on from the one before, or begins anew.
[[nodiscard]] bool has_own_checkpoint(const TrialRecord& trial);

/// Sets latest and best anew after a checkpoint came, was measured or was removed.
void name_checkpoints(KnownCheckpoints& checkpoints, Goal goal);

}  // namespace hpsearch::engine
