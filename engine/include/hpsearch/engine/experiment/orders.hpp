#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::engine {

// Orders are what a step wants said to workers, once its events are durable. The engine repeats whatever
// is still outstanding when a worker joins again, so losing one on the way costs only time.

/// The answer to JoinWorker.
struct WelcomeWorker {
  enum class Fate : std::uint8_t {
    go_on,   ///< Still its owner; send every report after `upto`.
    fenced,  ///< Somebody else owns the trial, or it has ended: stop it, keep nothing.
    hold,    ///< We do not know this attempt (an older store?): leave it running, send nothing.
  };
  struct Attempt {
    AttemptKey key;
    Fate fate = Fate::hold;
    std::uint64_t upto = 0;  ///< Reports up to here are durable.
    LeaseId lease{};         ///< The one to speak under from now on; 0 = that in `key`.
  };
  WorkerId worker;
  std::vector<Attempt> attempts;
  /// What the log says it has and its HELLO does not name. Lost once it speaks in this session
  /// (DisclaimAttempts), not before: a HELLO that came late, or again, does not know what was leased since.
  std::vector<AttemptKey> in_doubt{};
};
struct LaunchAttempt {
  WorkerId worker;
  AttemptSpec spec;
};
struct DecideAttempt {
  WorkerId worker;
  AttemptKey key;
  Decision decision;
};
/// Reports 1 … upto are durable and need not be kept.
struct AckReports {
  WorkerId worker;
  AttemptKey key;
  std::uint64_t upto = 0;
};
/// Reports are missing: send from `expect` on.
struct ResendReports {
  WorkerId worker;
  AttemptKey key;
  std::uint64_t expect = 0;
};
/// The sender no longer speaks for this trial.
struct FenceAttempt {
  WorkerId worker;
  AttemptKey key;
  std::uint64_t late_reports = 0;  ///< So many came too late to count.
};
/// Reports of an attempt we know nothing of: leave it alone.
struct HoldAttempt {
  WorkerId worker;
  AttemptKey key;
};

/// What the log knows of this worker has changed: ask it to introduce itself again.
struct GreetAgain {
  WorkerId worker;
};

/// Delete these checkpoints, which were collected; then ConfirmDeleted. For the shell, not for a worker.
struct DiscardCheckpoints {
  ExperimentId experiment;
  std::vector<std::string> paths;
};

/// Delete what is kept of this experiment beside the store: its logs and files, and contexts that only it
/// named. For the shell, not for a worker.
struct DiscardExperiment {
  ExperimentId experiment;
};

/// Submit this allocation to its other scheduler, then NoteSubmitted or NoteEnded. For the shell, not for a
/// worker.
struct SubmitAllocation {
  AllocationName name;
};
/// Cancel this allocation, then NoteEnded. For the shell, not for a worker.
struct WithdrawAllocation {
  AllocationName name;
};

using Order = std::variant<WelcomeWorker, LaunchAttempt, DecideAttempt, AckReports, ResendReports,
                           FenceAttempt, HoldAttempt, GreetAgain, DiscardCheckpoints, DiscardExperiment,
                           SubmitAllocation, WithdrawAllocation>;

}  // namespace hpsearch::engine
