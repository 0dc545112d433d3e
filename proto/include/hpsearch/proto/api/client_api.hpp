#pragma once

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::proto {

// The shapes of HTTP/JSON answers and of `--output json`; docs/openapi.json describes their fields. Times are
// seconds since the epoch, durations seconds, lengths in the experiment's unit.

/// One line of a list: id, name, state, progress, trials by state, best metric, times.
[[nodiscard]] engine::Value experiment_summary(const engine::ExperimentRecord& experiment);
/// The summary plus context_directory, notes (trial, attempt, about, text, attempts), rungs (per length:
/// trials that got there), final_counts, length trained and in full, slot use. O(n log n) in its trials.
[[nodiscard]] engine::Value experiment_detail(const engine::ExperimentRecord& experiment,
                                              engine::Instant now);
/// One trial, which must exist: number, id, state, hparams, length, reached, metrics, attempts, checkpoint,
/// reason, times.
[[nodiscard]] engine::Value trial_value(const engine::ExperimentRecord& experiment, engine::TrialNumber trial,
                                        engine::Instant now);
/// The trial's checkpoints in order of their coming: id, trial, step, metric, path, files, bytes, latest,
/// best. The trial must exist.
[[nodiscard]] engine::Value::List checkpoints_of(const engine::ExperimentRecord& experiment,
                                                 engine::TrialNumber trial);
/// How many checkpoints_of has, and one of them by its place from 0, which must exist.
[[nodiscard]] std::size_t count_of_checkpoints(const engine::ExperimentRecord& experiment,
                                               engine::TrialNumber trial);
[[nodiscard]] engine::Value checkpoint_of(const engine::ExperimentRecord& experiment,
                                          engine::TrialNumber trial, std::size_t place);
/// The best trial as trial_value, or null.
[[nodiscard]] engine::Value best_trial(const engine::ExperimentRecord& experiment, engine::Instant now);
[[nodiscard]] engine::Value device_value(const engine::SlotDevice& device);
[[nodiscard]] engine::Value worker_value(const engine::WorkerRecord& worker);
/// A preview as JSON text over several lines: trials, brackets (each lengths, trials, share), final_counts,
/// total_length, expected_reach, expected_length, full_length, warnings. Its numbers are JSON integers of any
/// size: a grid may have more points than a Value can count. A length past counting is null. Advice stands
/// behind the warnings, after "advice: ".
[[nodiscard]] std::string to_json(const engine::Preview& preview);
/// Why a trial is where it is: experiment, trial, state, now, next, results_needed, results_to_come, ahead,
/// reason, and its history, events as to_value(Event) spells them.
[[nodiscard]] engine::Value explanation_value(const engine::ExperimentRecord& experiment,
                                              engine::TrialNumber trial,
                                              const engine::Explanation& explanation,
                                              engine::Value::List history);
/// What the model of its search has learnt, or null if it has none: experiment, metric, unit, results,
/// needed, hyperparameters (name, share, length_scale), lengths (length, results, correlation), best
/// (hparams, mean, deviation, trial) or null. Costs as much as the configuration of a new trial.
[[nodiscard]] engine::Value model_value(const engine::ExperimentRecord& experiment);
/// Its fields that say something, and `text`, the sentence.
[[nodiscard]] engine::Value to_value(const engine::Reason& reason);
/// {"error": {"code", "message", "problems": [{"path", "what", "allowed"}]}}; no problems, no list.
[[nodiscard]] engine::Value to_value(const engine::Error& error, const engine::Problems& problems = {});

}  // namespace hpsearch::proto
