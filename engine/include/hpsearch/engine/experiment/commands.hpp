#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/alloc/worker_end.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/as_written.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/annotation.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

// Commands ask; the engine may refuse. Everything that can change the engine enters as one of these.

/// Takes a new experiment. `config` is a tree as parse_config reads it.
struct CreateExperiment {
  Value config;
  std::string fallback_name;  ///< Name when the config has none.
  std::uint64_t seed = 0;     ///< Seed when the config has none, 0 … 2^31-1.
  /// The config if the caller has read it already, instead of `config`, fallback_name and seed.
  std::optional<ParsedConfig> parsed{};
  std::string context_directory;    ///< Absolute, or "".
  std::string context_digest{};     ///< SHA-256 of the packed context; "" = it is read where it lies.
  std::uint64_t context_bytes = 0;  ///< Size of the packed context.
  std::string idempotency_key;      ///< The same key again gives the first answer again; "" = none.
  std::string owner{};              ///< The name of the user who submits it; "" = unknown.
  std::string unix_user{};          ///< The submitter's user on the workers' machines; "" = none.
  /// As its user wrote it. These two may differ when a request is repeated under its idempotency key.
  std::optional<SubmittedFile> file{};
  std::optional<GitState> git{};
};
struct PauseExperiment {
  ExperimentId experiment;
};
struct ResumeExperiment {
  ExperimentId experiment;
};
/// Graceful: programs may checkpoint, then stop. Asking again is not an error.
struct CancelExperiment {
  ExperimentId experiment;
};
/// At once.
struct KillExperiment {
  ExperimentId experiment;
};

/// Hides an experiment that has ended from lists, and shows it again. Asking again is not an error.
struct ArchiveExperiment {
  ExperimentId experiment;
};
struct UnarchiveExperiment {
  ExperimentId experiment;
};
/// Forgets an experiment that has ended, with its checkpoints. wrong_state: it has not ended, or another one
/// that has not ended starts its trials from one of its checkpoints.
struct DeleteExperiment {
  ExperimentId experiment;
  Duration kept_for{};  ///< Longer than 0: no user wants it, but the daemon keeps ended ones for that long.
};

/// Changes limits of an experiment. One that has completed or failed continues if the changes give it more to
/// do: more trials, a larger budget, another target. `changes` has the shape of the experiment file and names
/// only what changes: searcher.max_trials, .max_concurrent_trials, .points_to_evaluate (what comes next,
/// instead of given points not started yet), .on_duplicate, budget.*, resources.max_slots, .weight,
/// .priority; null takes an optional limit away.
struct ChangeExperiment {
  ExperimentId experiment;
  Value changes;
};
/// Trials that have reported nothing yet, and those to come, run this program; the others keep theirs. The
/// same program again is not an error and leaves no trace. wrong_state: the experiment is stopping or
/// canceled.
struct ChangeProgram {
  ExperimentId experiment;
  std::string context_digest{};        ///< SHA-256 of the packed context; "" = it is read where it lies.
  std::uint64_t context_bytes = 0;     ///< Size of the packed context.
  std::vector<std::string> changed{};  ///< The files that changed, for people.
};
/// A user wants no more of one trial; `reason` is user_canceled or user_stopped. Its searcher hears of an
/// early exit; a running attempt gets the order to stop.
struct EndTrial {
  ExperimentId experiment;
  TrialNumber trial;
  ExitReason reason = ExitReason::user_canceled;
};

/// A user wants one more attempt of a failed trial. It counts once, as before, and fails for good with its
/// next failure. wrong_state: it has not failed, its experiment is ending or has ended, or its searcher
/// cannot take the failure back.
struct RetryTrial {
  ExperimentId experiment;
  TrialNumber trial;
};

/// A user wants room: these checkpoints of a trial go, whatever the retention says. wrong_state: the trial
/// may still go on from one of them.
struct DeleteCheckpoints {
  ExperimentId experiment;
  TrialNumber trial;
  std::vector<std::string> paths;
};
/// Collected checkpoints were removed from their storage.
struct ConfirmDeleted {
  ExperimentId experiment;
  std::vector<std::string> paths;
};

/// An attempt as its worker knows it.
struct HeldAttempt {
  AttemptKey key;                  ///< With the lease it was started under, whatever happened to that since.
  bool exited = false;             ///< Its exit report is waiting to be acknowledged.
  std::uint64_t last_seq = 0;      ///< The number of the last report it made.
  Lsn last_decision;               ///< Highest decision it has seen; 0 = none.
  std::uint64_t first_seq = 0;     ///< The first report it still keeps, or would make next; 0 = unknown.
  std::vector<SlotIndex> slots{};  ///< Those its program uses.
  Units length{};                  ///< The length that its program was started for.
  bool unkillable = false;         ///< It has exited, and something of it survives SIGKILL still.
  bool waits =
      false;  ///< Its program has not begun: its slots are not free on the worker, or it is made ready.
  Duration held_for{};  ///< How long it has had its slots, by the worker's clock; 0 = not known.
};

/// Processes of an ended attempt that survive SIGKILL on its worker.
struct LeakedProcesses {
  AttemptKey key;  ///< With the lease it was started under.
  std::vector<SlotIndex> slots;
};

/// A worker introduces itself, for the first time or again.
struct JoinWorker {
  std::string uid;                ///< Made by the worker once, kept in its state directory.
  std::string name;               ///< For people.
  std::uint64_t incarnation = 0;  ///< Grows with each start of the agent on that state directory.
  std::uint64_t slots = 0;
  std::string slot_kind;  ///< "gpu", "cpu" or another.
  std::vector<HeldAttempt> held;
  std::vector<SlotDevice> devices{};  ///< One per slot, or none.
  std::string pool{};                 ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::vector<SlotTrouble> troubles{};
  std::string address{};  ///< By which other workers reach it; "" = it takes part in no attempt on several.
  std::optional<std::uint64_t> max_unslotted{};  ///< Most attempts without slots at once; nothing: no bound.
  std::string allocation{};                      ///< The allocation that it runs in, as "gpu/17"; "" = none.
  std::optional<TimeLeft> time_left{};           ///< Nothing: no end is known.
};
/// The worker lasts so long from now on. What differs little from what is known leaves no trace.
struct NoteTimeLeft {
  WorkerId worker;
  std::optional<TimeLeft> time_left{};
};
/// A worker did not name these when it introduced itself, and has spoken in that session since: it does not
/// have them. Those of them that are its own still are lost.
struct DisclaimAttempts {
  WorkerId worker;
  std::vector<AttemptKey> keys;
};
/// A worker said goodbye: its programs have ended, and nothing of it comes back.
struct LoseWorker {
  WorkerId worker;
  std::string why;
};
/// Nothing was heard of a worker since `heard`. Its attempts whose time is up (lease_patience) are lost, and
/// the worker itself when none is left and `lost_after` is over. What it still runs it may bring back.
struct ExpireLeases {
  WorkerId worker;
  Instant heard;
  Duration lost_after;  ///< For the worker, and for attempts at least (unless their experiment says less).
  Duration at_least;    ///< Nothing is lost before: after a restart of ours everybody gets time to come back.
};
/// No new leases for this worker until ReleaseWorker; what runs there runs on.
struct QuarantineWorker {
  WorkerId worker;
  std::string why;
};
/// The same because it is to become idle: nothing is wrong with it. Asking again is not an error.
struct DrainWorker {
  WorkerId worker;
};
/// Ends its draining, its quarantine, and that of each of its slots: they are leased again although something
/// of an earlier program survives there.
struct ReleaseWorker {
  WorkerId worker;
};
/// A lost worker does not come back: its record goes, its name stays in history. Asking again is not an
/// error.
struct ForgetWorker {
  WorkerId worker;
  std::string why;
};
/// A worker says what survives SIGKILL there now: all of it. Slots of ended processes are leased again.
struct NoteLeakedProcesses {
  WorkerId worker;
  std::vector<LeakedProcesses> leaked_processes;
};
/// A worker says which of its slots cannot be used now: all of them. The others are leased again.
struct NoteTroubles {
  WorkerId worker;
  std::vector<SlotTrouble> troubles;
};
/// A user's answer to an attempt that a worker holds and the log does not know (an older store was brought
/// back): its trial has it from now on.
struct AdoptAttempt {
  WorkerId worker;
  HeldAttempt held;
};
/// The other answer: it is ended, also when its worker is away and comes back with it. Refused for what the
/// log knows.
struct DisownAttempt {
  WorkerId worker;
  AttemptKey key;
};

/// The worker has the lease and has started the program.
struct ConfirmStart {
  WorkerId worker;
  AttemptKey key;
};
/// Reports first_seq, first_seq+1, … of one attempt.
struct TakeReports {
  WorkerId worker;
  AttemptKey key;
  std::uint64_t first_seq = 0;
  std::vector<Report> reports;
};

/// A client that runs trials itself wants some of an experiment with `workers: external`. It gets as many as
/// the experiment's limits and its searcher allow now, which may be none; Effects::asked names them.
/// wrong_state: workers of the cluster run its trials.
struct AskTrials {
  ExperimentId experiment;
  std::uint64_t count = 1;  ///< At most most_trials_at_once.
  Duration lease_for;       ///< Each is lost if its client reports nothing for so long.
  std::string request{};    ///< SHA-256 of the client and its Idempotency-Key; "" = it has none.
};
inline constexpr std::uint64_t most_trials_at_once = 256;
/// Nothing was reported of these attempts of clients for as long as their leases last: they are lost. Those
/// that are over meanwhile are none of them.
struct ExpireExternal {
  std::vector<AttemptKey> keys;
};

/// Nothing happened but time. Deadlines are looked at in every step; this is one without anything else.
struct CheckTimers {};

/// To be the first command after a replay. Nothing was decided since the last event, and how long that
/// was only a wall clock knows, which anybody may set: that time counts for no budget and no pause.
struct ContinueTime {};
/// The log is to say how late it is: a restart continues from its last event. For when nothing else happens.
struct NoteTime {};

/// bad_request: no workspace may have that name; wrong_state: there is one of that name.
struct CreateWorkspace {
  std::string name;
};
/// The workspace has these limits from now on. What runs beyond them runs on; nothing new starts until there
/// is room. The same limits again are not an error and leave no trace. not_found: there is no such workspace.
struct ChangeQuota {
  std::string workspace;
  Quota quota;
};

/// A client's request is done by the command before, whose events become durable together with those of this
/// one.
struct NoteRequest {
  std::string key;      ///< SHA-256 of the client and its Idempotency-Key.
  std::string request;  ///< SHA-256 of the request.
};

/// A queue asks another scheduler for allocations. bad_request: its name or a setting is wrong; wrong_state:
/// there is one of that name.
struct AddQueue {
  std::string queue;
  QueueSettings settings;
};
/// The queue has these settings from now on. The same again is not an error and leaves no trace.
struct ChangeQueue {
  std::string queue;
  QueueSettings settings;
};
/// The queue asks for no more allocations; those that there are stay. Asking again is not an error.
struct PauseQueue {
  std::string queue;
};
/// The queue asks for allocations again, and its failures are forgotten. Asking again is not an error.
struct ResumeQueue {
  std::string queue;
};
/// The queue goes when its last allocation has ended. `at_once`: all of them are canceled.
struct RemoveQueue {
  std::string queue;
  bool at_once = false;
};
/// Decides whether an allocation is wanted or not needed any more, by what the trials that wait need.
struct PlanAllocations {
  std::string
      key;  ///< For one more allocation, if one is wanted: 128 random bits. "": none may be wanted now.
};
/// The other scheduler took the allocation.
struct NoteSubmitted {
  AllocationName name;
  std::string job;  ///< As the other scheduler names it.
};
/// The allocation runs.
struct NoteStarted {
  AllocationName name;
};
/// The other scheduler will not start the allocation, as `why` says, or an operator wants it to end.
struct CancelAllocation {
  AllocationName name;
  std::string why;
  bool will_not_start = false;
};
/// The allocation has ended. `processes_ended`: the other scheduler has ended the processes of its workers;
/// their attempts need not wait until the workers count as lost.
struct NoteEnded {
  AllocationName name;
  AllocationEnd end{};
  std::string detail{};
  bool processes_ended = false;
};

/// The daemon has removed the kept logs of these trials. Unknown trials are left out.
struct NoteLogsRemoved {
  ExperimentId experiment;
  std::vector<TrialNumber> trials;
};
/// The daemon's retention removes reports of a trial that has ended from its curve; `removed` as in
/// CurveThinned. wrong_state: it has not ended, or the same was done before.
struct ThinCurve {
  ExperimentId experiment;
  TrialNumber trial;
  std::uint64_t left = 0;
  std::vector<std::uint64_t> removed{};
};

/// Removes the rows of at most so many more trials of a deleted experiment from the tables beside the log.
/// wrong_state: none is left.
struct RemoveRows {
  ExperimentId experiment;
  std::uint64_t trials = 0;
};

using Command =
    std::variant<CreateExperiment, PauseExperiment, ResumeExperiment, CancelExperiment, KillExperiment,
                 ChangeExperiment, ChangeProgram, EndTrial, JoinWorker, LoseWorker, ExpireLeases,
                 QuarantineWorker, ReleaseWorker, AdoptAttempt, ConfirmStart, TakeReports, CheckTimers,
                 NoteLeakedProcesses, DeleteCheckpoints, ConfirmDeleted, NoteTroubles, DisclaimAttempts,
                 DisownAttempt, ContinueTime, NoteTime, NoteRequest, CreateWorkspace, ChangeQuota,
                 ArchiveExperiment, UnarchiveExperiment, DeleteExperiment, RetryTrial, DrainWorker, AskTrials,
                 ExpireExternal, ForgetWorker, AddQueue, ChangeQueue, PauseQueue, ResumeQueue, RemoveQueue,
                 PlanAllocations, NoteSubmitted, NoteStarted, CancelAllocation, NoteEnded, NoteTimeLeft,
                 Annotate, NoteLogsRemoved, ThinCurve, RemoveRows>;

}  // namespace hpsearch::engine
