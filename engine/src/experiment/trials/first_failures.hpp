#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/experiment/experiment_record.hpp"

namespace hpsearch::engine {

struct EngineState;
class Step;

/// How an attempt ended and the last line of its log, which is cut after 300 letters.
[[nodiscard]] std::string failure_in_one_line(const std::string& message, const std::string& log_tail);

/// The trial's attempt, which is live still, failed on this worker.
void note_failure(const EngineState& state, ExperimentRecord& record, TrialRecord& trial,
                  const ExitReport& exit, WorkerId where);
/// The trial ended without a value of the searcher's metric.
void note_unmeasured(ExperimentRecord& record, TrialNumber trial, const std::string& why);
/// Some attempt of it said something.
void note_sign_of_life(ExperimentRecord& record);
/// An attempt measured the searcher's metric at this step.
void note_measurement(ExperimentRecord& record, const LiveAttempt& live, const Measurement& measured);
/// A trial reached a length with this value.
void note_length_with(ExperimentRecord& record, TrialNumber trial, double metric);

/// It paused itself and is resumed: what failed may have been mended. O(trials), which are few then.
void forget_first_failures(ExperimentRecord& record, Instant now);

/// Its last attempts, two at least, failed in the same way without a report, on another worker too if there
/// is one: a third would as well.
[[nodiscard]] bool fails_for_certain(const EngineState& state, const ExperimentRecord& record,
                                     const TrialRecord& trial);

/// Its first attempts have only just started, and none has got on.
[[nodiscard]] bool takes_first_look(const ExperimentRecord& record, Instant now);

/// How many trials may have failed in the same way or be running, while no attempt has got on.
[[nodiscard]] std::uint64_t most_first_trials(const ExperimentRecord& record, bool at_first_look);

/// Its first attempts fail in the same way, or have only just started: so few run at once that a mistake
/// costs no more attempts than it takes to see that it is one.
/// Not `looks`: it doesn't matter that they have only just started.
[[nodiscard]] bool holds_back(const ExperimentRecord& record, Instant now, bool looks = true);

/// The trial failed as the first trials of the search do: any other one goes before its next attempt, because
/// it shows more. One that has reported goes on from its checkpoint once before.
[[nodiscard]] bool lets_others_try(const ExperimentRecord& record, TrialNumber trial);

/// It pauses itself if enough of its first trials failed in the same way (pause_on_failures). True: it did.
bool pause_if_all_fail(Step& step, ExperimentId id);
/// The same if its trials end without a value that can be compared.
bool pause_if_unmeasured(Step& step, ExperimentId id);

}  // namespace hpsearch::engine
