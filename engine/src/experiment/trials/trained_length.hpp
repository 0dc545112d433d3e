#pragma once

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

/// Takes note of a step that the trial's live attempt reports: what was trained in all, by this attempt and
/// by the trial. What an attempt that began anew repeats counts again.
void count_training(ExperimentRecord& record, TrialRecord& trial, Units step);

/// Its attempt is over, and is still there.
void finish_training(ExperimentRecord& record, TrialRecord& trial);

/// Its last attempt ended well one unit before its length, which is complete: either it counts from 0, and
/// then so do the other attempts of its experiment, or its last unit was not reported. O(trials) the first
/// time.
void complete_last_unit(ExperimentRecord& record, TrialNumber number);

/// Whether its program trains no further than it did; the tally learns its own length.
void set_trains_no_further(ExperimentRecord& record, TrialRecord& trial, bool value);

/// Its last attempt ended well at this step, below its length, and no other would train further.
void end_at(ExperimentRecord& record, TrialNumber number, Units step);

/// It has measured on and on beyond the length at which its trial was paused: its program ignores
/// lengths.
[[nodiscard]] bool went_its_own_way(const ExperimentRecord& record, TrialNumber number);

/// It has reached the step at which the programs of other trials ended, each by itself and below its length,
/// and no trial has got further. O(trials) where it has.
[[nodiscard]] bool ends_where_others_do(const ExperimentRecord& record, const TrialRecord& trial);

/// It measured something beyond the length of its trial, which is paused.
void note_ahead(ExperimentRecord& record, TrialNumber number, const Measurement& measured);

}  // namespace hpsearch::engine
