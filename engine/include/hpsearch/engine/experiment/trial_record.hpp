#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/box.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/kept_reason.hpp"
#include "hpsearch/engine/experiment/trial_state.hpp"

namespace hpsearch::engine {

/// A validated metric and where it was measured.
struct Measurement {
  Units step{};
  double metric = 0;
};

/// An attempt on several workers. It lives until the last of its members has ended; whatever ends it first
/// ends it everywhere and says what it came to.
struct Gang {
  struct Member {
    WorkerId worker;
    std::vector<SlotIndex> slots;  ///< Become free when it has ended.
    bool started = false;
    bool gone = false;    ///< It has exited, or its worker does not have it any more.
    bool exited = false;  ///< With an exit report.
  };
  /// What ended it, as far as its trial is concerned.
  enum class Ending : std::uint8_t {
    none,       ///< Nothing so far.
    by_itself,  ///< The program of rank 0 exited.
    asked_for,  ///< The same, on an order or because some member was interrupted.
    failed,  ///< A member's program failed: once, however many follow it. What it costs is known at the end
             ///< of all: a member that loses a peer fails before the peer's machine is known to be lost.
    lost,    ///< A member's worker is lost, or its machine failed it: also when another had failed of it
             ///< before.
  };
  std::vector<Member> members;  ///< By rank; the first speaks for the attempt.
  std::uint64_t port = 0;
  Ending ending = Ending::none;
  ExitReport exit;    ///< The exit of the member that ended it.
  WorkerId ended_by;  ///< Where that was.

  [[nodiscard]] Member* member_on(WorkerId worker) noexcept;
  [[nodiscard]] const Member* member_on(WorkerId worker) const noexcept;
  [[nodiscard]] bool all_gone() const noexcept;
};

/// The part of an attempt on one worker.
struct AttemptPart {
  const std::vector<SlotIndex>* slots = nullptr;  ///< Never nullptr; lives as long as the attempt does.
  std::uint64_t rank = 0;
  bool started = false;
  std::uint64_t applied_seq = 0;  ///< The number of its last report that counts.
};

/// The lease of a client that runs a trial itself.
struct ExternalLease {
  Duration lease_for;   ///< It is lost if its client reports nothing for so long.
  std::string request;  ///< LeaseGranted::request
};

/// The attempt that holds a trial's lease.
struct LiveAttempt {
  AttemptKey key;
  WorkerId worker;
  std::vector<SlotIndex> slots;
  Units granted_length{};  ///< What the program was started for; promotion in place does not change it.
  Units began_at{};        ///< Where its program went on: at a checkpoint's step, or at 0.
  std::optional<Units> first_step;  ///< The step of its first report.
  Units reached{};                  ///< Highest step this attempt reported.
  Units stride{};                   ///< The most that it trained from one report to the next.
  bool went_on = false;   ///< It reported from beyond the step at which it had reached granted_length.
  bool measured = false;  ///< It reported the searcher's metric.
  bool started = false;
  bool reported = false;  ///< Something of it was taken that shows that it works: no note, and not its exit.
  bool has_unlogged_decision = false;  ///< The lost part of a restored log took reports of it or sent it
                                       ///< something: it may end by that.
  std::uint64_t applied_seq = 0;
  std::optional<Decision> decision;  ///< The latest.
  Instant leased_at;                 ///< Moved on by time that does not count.
  Instant slots_since;               ///< When it got its slots, by the clock.
  Duration held_before;              ///< How long it was under lease before it was lost and came back.
  bool lacks_time = false;        ///< A restore lost time of its lease, and its worker has not said how much.
  Instant checkpoint_at;          ///< When its last checkpoint was taken; before the first one, leased_at.
  Units saved{};                  ///< The step of that checkpoint; before the first one, 0.
  Instant first_report_at;        ///< When it reported first_step …
  Instant last_report_at;         ///< … and when it reported `reached`.
  LeaseId origin;                 ///< The lease it was started under: after an adoption not its present one.
  std::uint64_t last_digest = 0;  ///< The digest of report applied_seq.
  Box<ExternalLease> external;    ///< When no worker runs it but a client.
  Box<Gang> gang;  ///< When it has several workers; `worker`, `slots`, `started` are rank 0's then.

  /// How its worker names it when it introduces itself.
  [[nodiscard]] AttemptKey known_as() const { return {key.experiment, key.trial, key.attempt, origin}; }
  /// Its end is decided; its program may have yet to hear of it, or be saving what it has.
  [[nodiscard]] bool is_ending() const noexcept {
    return decision && decision->directive != Directive::train_on;
  }
  /// What of it is on this worker still, or nothing.
  [[nodiscard]] std::optional<AttemptPart> part_on(WorkerId where) const noexcept;
};

/// Attempts of a trial that end one after another without a report, for whatever reason: after that many the
/// trial fails.
inline constexpr std::uint64_t most_fruitless_attempts = 10;

/// The latest failures of a trial; removed once it succeeds again.
struct FailureHistory {
  std::optional<LiveAttempt>
      lost;  ///< Its worker went silent and may come back with it; no other has started since.
  std::uint32_t crashes = 0;      ///< Attempts in a row that failed without a single report.
  WorkerId crashed_on;            ///< The last of them.
  WorkerId marked_on;             ///< The worker that has a mark of this trial (WorkerMark); 0 = none.
  bool crashes_anywhere = false;  ///< It crashed soon on two workers: it marks none.
  std::uint64_t fruitless = 0;    ///< Attempts in a row that ended without a report and were not asked to …
  WorkerId last_culprit;          ///< … the last of them by this worker's doing; 0 = by none's …
  std::string last_why;           ///< … and why.
  Instant not_before;             ///< When it is tried again, therefore.
  std::string way;          ///< How the last one failed without a report (FirstFailures::way); "" = not so.
  std::uint32_t alike = 0;  ///< Attempts in a row that failed in this way …
  WorkerId alike_on;        ///< … the last of them here …
  bool elsewhere = false;   ///< … and one of them somewhere else.
};

/// A complete checkpoint in the store's checkpoint storage.
struct KnownCheckpoint {
  std::string path;  ///< As it was reported.
  Units step{};
  std::optional<double> metric;  ///< The searcher's, finite, measured at that very step.
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

/// The complete checkpoints that the engine knows of one trial.
struct KnownCheckpoints {
  std::vector<KnownCheckpoint>
      kept;  ///< Those that were not collected, in the order they came; what follows names two of them.
  std::string latest;  ///< Directory; "" = none.
  Units latest_step{};
  std::string best;  ///< The best of those measured at their exact step; "" = none.
  Units best_step{};
  std::optional<double> best_metric;  ///< Measured there.
};

/// The record of one trial. There may be a million: what few trials have stands in a Box, and the
/// configuration in the experiment's HparamTable.
struct TrialRecord {
  TrialId id;
  Units length{};                     ///< Asked for.
  Units reached{};                    ///< Highest step reported.
  Units trained{};                    ///< By all its attempts, each from where it began, as reported.
  std::optional<Measurement> latest;  ///< Last value of the searcher's metric; may be NaN.
  std::optional<Measurement> best;    ///< Best finite one.
  KeptReason reason;                  ///< Why its state changed last.
  Box<LiveAttempt> live;
  Box<FailureHistory> failure_history;
  Box<KnownCheckpoints> checkpoints;
  Box<std::string> other_metrics;  ///< Names reported while the searcher's metric never was.
  Box<std::string> last_failure;   ///< Exit cause and log tail of the last failed attempt.
  LeaseId last_lease;              ///< The lease of the last attempt, live or over.
  std::uint64_t last_seq = 0;      ///< applied_seq of the last attempt when it exited.
  Instant created_at;
  Instant ended_at;
  Instant best_at;             ///< When `best` was reported.
  Duration busy;               ///< Sum of slots × time under lease, without the live attempt.
  std::uint32_t attempts = 0;  ///< How many were leased; the last one's number.
  std::uint32_t restarts = 0;  ///< Failures of the program so far.
  TrialState state = TrialState::pending;
  bool awaits_resume = false;   ///< Paused by the user, or canceled, while it was not at a rung.
  bool invalid = false;         ///< Its hyperparameters were: nothing it measured is anybody's best.
  bool exited = false;          ///< The last attempt ended with an exit report (and was not lost).
  bool from_zero = false;       ///< The last attempt's first step was 0, and it was not counted from 1 yet.
  bool best_is_recent = false;  ///< The last attempt measured `best`.
  bool trains_no_further = false;  ///< Its program ended well below its length (LengthReached::ended).
  bool trained_unreported =
      false;                   ///< Some attempt ran and reported no step: it trained more than `trained`.
  bool ran_unlogged = false;   ///< It was not closed when the store was restored: attempts that are not known
                               ///< may have run.
  bool curve_thinned = false;  ///< The retention removed reports from its curve (CurveThinned).
};

/// What its reason says of a trial that a user wants once more.
inline constexpr const char* retried_by_user = "retried by a user";

/// It was canceled only because its experiment ended: if that is reopened, it continues.
[[nodiscard]] inline bool ended_with_experiment(const TrialRecord& trial) noexcept {
  return trial.state == TrialState::canceled && trial.reason.why() == Reason::Why::experiment_end;
}

}  // namespace hpsearch::engine
