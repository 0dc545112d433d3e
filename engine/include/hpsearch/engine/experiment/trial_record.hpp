#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/engine/trial/trial_state.hpp"

namespace hpsearch::engine {

/// A validated metric and where it was measured.
struct Measurement {
  Units step{};
  double metric = 0;
};

/// The attempt that holds a trial's lease.
struct LiveAttempt {
  AttemptKey key;
  WorkerId worker;
  std::vector<SlotIndex> slots;
  Units granted_length{};  ///< What the program was started for; promotion in place does not change it.
  Units reached{};  ///< Highest step this attempt reported.
  bool started = false;
  std::uint64_t applied_seq = 0;
  std::optional<Decision> decision;  ///< The latest.
  Instant leased_at;
};

/// What the engine keeps of one trial.
struct TrialRecord {
  TrialId id;
  TrialState state = TrialState::pending;
  Value hparams;
  Units length{};   ///< Asked for.
  Units reached{};  ///< Highest step reported.
  std::optional<Measurement> latest;  ///< Last value of the searcher's metric; may be NaN.
  std::optional<Measurement> best;    ///< Best finite one.
  bool awaits_resume = false;         ///< Paused by the user, not at a rung.
  std::uint32_t restarts = 0;         ///< Failures of the program so far.
  AttemptNumber attempts;             ///< How many were leased; the last one's number.
  std::optional<LiveAttempt> live;
  LeaseId last_lease;                 ///< Of the last attempt, live or over.
  std::uint64_t last_seq = 0;         ///< applied_seq of the last attempt when it exited.
  std::string checkpoint;             ///< Latest complete one; "" = none.
  Units checkpoint_step{};
  std::string best_checkpoint;        ///< Of those measured at their exact step, the best; "" = none.
  Units best_checkpoint_step{};
  std::optional<double> best_checkpoint_metric;  ///< Measured there.
  Reason reason;                      ///< Of its last change of state.
  bool exited = false;                ///< The last attempt ended with an exit report (and was not lost).
  std::string other_metrics;          ///< Names reported while the searcher's metric never was; "" otherwise.
  std::string last_failure;           ///< Exit cause and log tail of the last failed attempt; "" = none.
  Instant created_at;
  Instant ended_at;
  Duration busy;                      ///< Sum of slots × time under lease, without the live attempt.
};

}  // namespace hpsearch::engine
