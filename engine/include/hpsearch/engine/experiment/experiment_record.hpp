#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"

namespace hpsearch::engine {

/// What the engine keeps of one experiment. Read by shells, changed only by apply().
struct ExperimentRecord {
  ExperimentId id;
  ExperimentState state = ExperimentState::active;
  ExperimentConfig config;
  Value effective;  ///< The config as the created event carries it.
  std::string context_directory;
  std::string idempotency_key;
  std::unique_ptr<Searcher> searcher;
  std::vector<TrialRecord> trials;          ///< Indexed by TrialNumber.
  std::set<TrialNumber> pending;            ///< Trials that wait for a slot.
  std::set<TrialNumber> running;            ///< Trials with a live attempt.
  std::array<std::uint64_t, 7> by_state{};  ///< Indexed by TrialState.
  std::optional<TrialNumber> best;          ///< With the best metric so far; ties go to the first that had it.
  ExperimentState stopping_as = ExperimentState::canceled;
  bool stop_at_once = false;
  std::string reason;  ///< Why it is stopping or ended.
  Instant created_at;
  Instant ended_at;
  Instant first_lease_at;
  Instant last_release_at;
};

}  // namespace hpsearch::engine
