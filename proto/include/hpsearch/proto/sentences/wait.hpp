#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/scheduler/explain.hpp"

namespace hpsearch::sentences {

/// Why a trial that is ready does not run: "2 trials of this experiment are running, and
/// max_concurrent_trials is 2".
[[nodiscard]] std::string why_trial_waits(const engine::Wait& wait);

/// Why nothing of an experiment runs: the same, with the trial's number where the cause is that of one trial.
/// "" without a cause.
[[nodiscard]] std::string why_experiment_waits(const std::optional<engine::Wait>& wait);

/// Why a worker gets no leases for a while, and when it gets the next one; "" without a cause.
[[nodiscard]] std::string why_worker_rests(const std::optional<engine::WorkerRest>& rest);

/// When a worker in quarantine is tried with one trial; "" = it is in none, or an operator has to release it.
[[nodiscard]] std::string probation_text(const engine::WorkerRecord& worker, engine::Instant now);

}  // namespace hpsearch::sentences
