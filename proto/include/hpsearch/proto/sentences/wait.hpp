#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/scheduler/explain.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::sentences {

/// Why a ready trial doesn't run: "2 trials of this experiment are running, and
/// max_concurrent_trials is 2".
[[nodiscard]] std::string why_trial_waits(const engine::Wait& wait, Language language = Language::english);

/// Why no trial of an experiment runs. Includes the trial's number if the cause concerns one trial.
/// "" without a cause.
[[nodiscard]] std::string why_experiment_waits(const std::optional<engine::Wait>& wait,
                                               Language language = Language::english);

/// Why a worker gets no leases now, and when it gets the next one; "" without a cause.
[[nodiscard]] std::string why_worker_rests(const std::optional<engine::WorkerRest>& rest,
                                           Language language = Language::english);

/// When a worker in quarantine gets a trial to test it; "" if it is in none, or an operator must release it.
[[nodiscard]] std::string probation_text(const engine::WorkerRecord& worker, engine::Instant now,
                                         Language language = Language::english);

}  // namespace hpsearch::sentences
