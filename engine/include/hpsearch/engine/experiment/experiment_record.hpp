#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/engine/base/box.hpp"
#include "hpsearch/engine/base/chunked_vector.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/config/as_written.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/annotation.hpp"
#include "hpsearch/engine/experiment/attempt_span.hpp"
#include "hpsearch/engine/experiment/best_checkpoints.hpp"
#include "hpsearch/engine/experiment/best_point.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/failures.hpp"
#include "hpsearch/engine/experiment/pace.hpp"
#include "hpsearch/engine/experiment/slot_time.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/engine/experiment/trial_tally.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/engine/space/hparam_table.hpp"

namespace hpsearch::engine {

/// Notes about the way programs report, each kind once.
struct ExperimentNote {
  std::string about;
  std::string text;  ///< As the first attempt had it …
  TrialNumber trial;
  AttemptNumber attempt;
  std::uint64_t attempts = 1;  ///< … of so many.
};

/// A program that takes the place of the one that the experiment was submitted with (ProgramChanged).
struct ProgramChange {
  TrialNumber from;               ///< Trials from here on run it …
  std::vector<TrialNumber> also;  ///< … and these, in order.
  std::string context_digest;
  std::uint64_t context_bytes = 0;
  std::vector<std::string> changed;  ///< The files that changed.
  Instant at;
};

/// Trials whose programs ended well below the lengths that they were asked for (LengthReached::ended).
struct OwnLengths {
  std::uint64_t trials = 0;
  Cardinality trained = 0;     ///< The sum of the lengths at which the programs of those trials ended.
  Units last{};                ///< The last of those ends …
  std::uint64_t in_a_row = 0;  ///< … which so many trials before had too, without another in between.
};

/// The record of one experiment. Read by shells, changed only by apply().
struct ExperimentRecord {
  ExperimentId id;
  Lsn created_by;  ///< The event that created it.
  Lsn changed_by;  ///< The last one that may have changed it.
  ExperimentState state = ExperimentState::active;
  bool archived = false;  ///< It has ended, and lists leave it out.
  ExperimentConfig config;
  Value effective;          ///< The config as the events have it: defaults filled in, limits as last changed.
  Box<Value> created_with;  ///< The first one, which its searcher was made from, once limits were changed.
  std::string context_directory;
  std::string context_digest;           ///< SHA-256 of the packed context; "" = it is read where it lies.
  std::uint64_t context_bytes = 0;      ///< Size of the packed context.
  std::vector<ProgramChange> programs;  ///< Those that came later, in order; few.
  std::string idempotency_key;
  std::string owner;      ///< The user who submitted it; "" = not recorded.
  std::string unix_user;  ///< ExperimentCreated::unix_user.
  Box<GitState> git;      ///< ExperimentCreated::git. Its `file` is only in the log: it may be large.
  /// The one it belongs to, in the engine; nullptr only in a record that no engine has.
  const WorkspaceRecord* workspace = nullptr;
  std::optional<SourceCheckpoint> source;  ///< The start of its trials; not deleted while it lives.
  std::unique_ptr<Searcher> searcher;
  ChunkedVector<TrialRecord> trials;        ///< Indexed by TrialNumber.
  HparamTable hparams;                      ///< The hyperparameters of the same trials.
  std::set<TrialNumber> pending;            ///< Trials that wait for a slot.
  std::set<TrialNumber> running;            ///< Trials with a live attempt.
  std::array<std::uint64_t, 7> by_state{};  ///< Indexed by TrialState.
  TrialTally tally;                         ///< How far they are.
  BestCheckpoints best_checkpoints;
  std::optional<TrialNumber> best;  ///< With the best metric so far; ties go to the first that had it, or,
                                    ///< once a best turned out to be invalid, to the lowest number.
  std::vector<BestPoint> best_history;  ///< When it became better, each better than the one before; without
                                        ///< what invalid trials measured.
  ChunkedVector<AttemptSpan> spans;     ///< The slots of ended attempts, in the order of their ends.
  ExperimentState stopping_as = ExperimentState::canceled;
  bool stop_at_once = false;
  std::string reason;  ///< Why it is stopping or ended, or paused itself.
  FirstFailures first_failures;
  FailureCauses failure_causes;
  std::uint64_t good_starts = 0;  ///< Attempts that reported something.
  /// Trials that failed on this worker before their first report and then worked on another one.
  std::map<WorkerId, std::uint64_t> worked_elsewhere;
  Annotation annotation;
  std::map<TrialNumber, Annotation> trial_annotations;  ///< Those of trials that have one.
  std::vector<ExperimentNote> notes;                    ///< In the order of their coming, few.
  bool counts_from_zero = false;  ///< Its program's first step is 0, and its last one length - 1.
  OwnLengths own_lengths;
  std::uint64_t unreported = 0;  ///< Trials with trained_unreported.
  bool ran_unlogged = false;     ///< It had not ended when the store was restored: what it ran between
                                 ///< the backup and the restore is not known.
  /// What programs measured beyond the length of their paused trials: a promotion finds it there.
  std::map<TrialNumber, std::vector<Measurement>> ahead;
  Instant created_at;
  Instant ended_at;
  Instant first_lease_at;
  Duration uncounted;  ///< Since then, without a daemon.
  Instant last_release_at;
  SlotTime slot_time;
  Pace pace;
  std::vector<std::string> condemned;  ///< Checkpoints that were collected and may still be there.

  // The scheduler's own marks; they follow from the rest.
  std::set<TrialNumber> uncollected;  ///< Settled trials whose checkpoints were not looked at since.
  std::set<TrialNumber> delayed;      ///< Those that wait for a slot and whose delay is not over.
  std::size_t ended_before =
      0;  ///< While it is stopping: trials before this one have ended, or their programs have yet to.
  bool on_agenda = false;         ///< It will be looked after before this step ends.
  bool searcher_is_idle = false;  ///< Its searcher wanted nothing, and nothing happened since.
};

/// The latest change of the program that the trial runs; nullptr: the program that the experiment was
/// submitted with. Where workers read the directory itself, that is the last change for every trial.
/// O(changes).
[[nodiscard]] const ProgramChange* program_of(const ExperimentRecord& record, TrialNumber trial) noexcept;

/// Trials that have reported nothing and may still run: another program takes them over. O(trials).
[[nodiscard]] std::vector<TrialNumber> trials_without_reports(const ExperimentRecord& record);

}  // namespace hpsearch::engine
