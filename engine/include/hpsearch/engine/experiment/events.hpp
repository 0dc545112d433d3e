#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/slot_device.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/engine/trial/trial_state.hpp"

namespace hpsearch::engine {

// Events are what happened and what was decided; folding them gives the state. They carry decisions, not
// what is needed to decide again, so a newer searcher cannot rewrite the past.

struct ExperimentCreated {
  ExperimentId experiment;
  Value config;  ///< Effective: every default and the seed filled in.
  std::string context_directory;
  std::string idempotency_key;
  std::string context_digest{};     ///< SHA-256 of the packed context; "" = it is read where it lies.
  std::uint64_t context_bytes = 0;  ///< Of the packed context.
  std::optional<SourceCheckpoint> source{};  ///< What its trials begin from.
  /// What parse_config makes of `config`, when this process has read it already; not part of the event.
  std::shared_ptr<const ExperimentConfig> parsed{};
};
struct ExperimentPaused {
  ExperimentId experiment;
};
struct ExperimentResumed {
  ExperimentId experiment;
};
/// Limits of a living experiment were changed; `config` is the whole effective config from now on.
struct LimitsChanged {
  ExperimentId experiment;
  Value config;
  bool points_given =
      false;  ///< Its points to evaluate come next, also if they are those that it had before.
  std::shared_ptr<const ExperimentConfig> parsed{};  ///< As ExperimentCreated::parsed.
};
/// From now on it only ends; `target` is what it will have become.
struct ExperimentStopping {
  ExperimentId experiment;
  ExperimentState target{};
  bool at_once = false;
  std::string reason;
};
struct ExperimentEnded {
  ExperimentId experiment;
  ExperimentState state{};
  std::string reason;
};

struct TrialCreated {
  ExperimentId experiment;
  TrialNumber trial;
  TrialId id;
  Value hparams;
  Units length{};
  Reason reason;
};
struct TrialPromoted {
  ExperimentId experiment;
  TrialNumber trial;
  Units length{};
  bool in_place = false;  ///< The running attempt trains on; else the trial waits for a slot.
  Reason reason;
};
/// The trial reached the length it was asked for; `score` is what its searcher hears.
struct LengthReached {
  ExperimentId experiment;
  TrialNumber trial;
  Units length{};
  Units step{};                  ///< Where it really is, at least `length`.
  std::optional<double> metric;  ///< Nothing when missing; may be NaN.
};
/// It waits: at a rung (Why::waits_at_rung) or because its experiment was paused (Why::user).
struct TrialPaused {
  ExperimentId experiment;
  TrialNumber trial;
  Reason reason;
};
/// A trial that was paused by the user or lost its attempt is ready to run again.
struct TrialQueued {
  ExperimentId experiment;
  TrialNumber trial;
};
struct TrialExitedEarly {
  ExperimentId experiment;
  TrialNumber trial;
  ExitReason exit{};
  std::string detail;
};
struct TrialEnded {
  ExperimentId experiment;
  TrialNumber trial;
  TrialState state{};
  Reason reason;
};

/// Slots of one worker.
struct Place {
  WorkerId worker;
  std::vector<SlotIndex> slots;
  friend bool operator==(const Place&, const Place&) = default;
};

/// Its own Lsn is the lease.
struct LeaseGranted {
  ExperimentId experiment;
  TrialNumber trial;
  AttemptNumber attempt;
  WorkerId worker;
  std::vector<SlotIndex> slots;
  Units length{};
  std::vector<Place>
      others{};            ///< Of ranks 1, 2, …, when it has several workers: all of them at once, or none.
  std::uint64_t port = 0;  ///< For its processes to meet at; only then.
};
struct AttemptStarted {
  AttemptKey key;
  WorkerId member{};  ///< Of a rank above 0: where. 0 = rank 0, or the attempt has one worker.
};
/// One report, as it came; `seq` is its number within the attempt.
struct ReportTaken {
  AttemptKey key;
  std::uint64_t seq = 0;
  Report report;
};
/// The lease is over without an exit report: the worker is gone or never had it. Not the program's failure.
struct AttemptLost {
  AttemptKey key;
  std::string why;
  bool may_return = false;  ///< Its worker only went silent and may come back with it.
};
/// The program of a rank above 0 has ended; the attempt has other members.
struct MemberExited {
  AttemptKey key;
  WorkerId worker;
  ExitReport exit;
};
/// A member of an attempt on several workers is over without an exit report. Not the program's failure.
struct MemberLost {
  AttemptKey key;
  WorkerId worker;
  std::string why;
};
/// The last member of an attempt on several workers is gone.
struct GangEnded {
  AttemptKey key;
};
/// A worker has an attempt that no lease covered any more, and the trial is given back to it. Its own number
/// is the new lease.
struct AttemptAdopted {
  AttemptKey key;  ///< As its worker knows it: with the lease it was started under.
  WorkerId worker;
  std::vector<SlotIndex> slots;
  Units length{};
  std::uint64_t upto = 0;  ///< Its next report is the one after this.
  bool trains_on =
      false;  ///< It is told to, to its trial's length, whatever it was told before and has not heard.
  bool has_unlogged_decision =
      false;  ///< It heard a decision that is not in this log, and may end because of it.
};

/// An operator wants an attempt that the log does not know, which a worker holds, to end there.
struct AttemptDisowned {
  WorkerId worker;
  AttemptKey key;  ///< As its worker knows it; its experiment and trial need not exist here.
};

/// Checkpoints that nobody may rely on any more: they will be deleted.
struct CheckpointsCollected {
  ExperimentId experiment;
  TrialNumber trial;
  std::vector<std::string> paths;
};
/// They are gone.
struct CheckpointsDeleted {
  ExperimentId experiment;
  std::vector<std::string> paths;
};

struct WorkerJoined {
  WorkerId worker;
  std::string uid;
  std::string name;
  std::uint64_t incarnation = 0;
  std::uint64_t slots = 0;
  std::string slot_kind;
  std::vector<SlotDevice> devices{};  ///< One per slot, or none.
  std::string pool{};                 ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::string address{};  ///< By which other workers reach it; "" = not said.
};
struct WorkerLost {
  WorkerId worker;
  std::string why;
};
/// It gets no new leases until it is released. What failed there in a row is not held against its trials.
struct WorkerQuarantined {
  WorkerId worker;
  std::string why;
};
struct WorkerReleased {
  WorkerId worker;
};
/// Something of an attempt that is over survives SIGKILL: these slots of its worker get no leases.
struct SlotsQuarantined {
  WorkerId worker;
  AttemptKey key;  ///< As its worker knows it: with the lease it was started under.
  std::vector<SlotIndex> slots;
};
/// They may be leased again.
struct SlotsReleased {
  WorkerId worker;
  AttemptKey key;
  bool gone = false;  ///< Nothing of the attempt is left; else an operator wants them used nevertheless.
};

/// The device behind a slot is broken, or cannot be asked: no leases. What runs there is its worker's to end.
struct SlotWithdrawn {
  WorkerId worker;
  SlotIndex slot;
  std::string why;
};
/// It may be leased again.
struct SlotRestored {
  WorkerId worker;
  SlotIndex slot;
  bool healthy = false;  ///< Its worker says so; else an operator wants it used nevertheless.
};

/// An attempt was over as soon as it was leased, by nobody's failure: its trial, and its worker where that is
/// to blame, are tried again later, and each time later than before.
struct StartDelayed {
  ExperimentId experiment;
  TrialNumber trial;
  std::uint64_t times = 0;         ///< In a row, for this trial.
  Duration wait;                   ///< It is not leased before so much time has passed.
  WorkerId worker{};               ///< Whose doing it was; 0 = the program's own.
  std::uint64_t worker_times = 0;  ///< In a row, for this worker.
  Duration worker_wait{};          ///< It gets no leases before so much time has passed.
  std::string why{};
};

/// The log so far was copied from a store that may have gone on differently (hpsearch store restore,
/// salvage): leases and decisions are numbered anew from here (Numbering).
struct StoreRestored {
  std::uint64_t numbers_from = 0;  ///< Number = this + Lsn.
};

using EventBody =
    std::variant<ExperimentCreated, ExperimentPaused, ExperimentResumed, ExperimentStopping, ExperimentEnded,
                 TrialCreated, TrialPromoted, LengthReached, TrialPaused, TrialQueued, TrialExitedEarly,
                 TrialEnded, LeaseGranted, AttemptStarted, ReportTaken, AttemptLost, WorkerJoined, WorkerLost,
                 LimitsChanged, AttemptAdopted, WorkerQuarantined, WorkerReleased, SlotsQuarantined,
                 SlotsReleased, CheckpointsCollected, CheckpointsDeleted, SlotWithdrawn, SlotRestored,
                 MemberExited, MemberLost, GangEnded, StartDelayed, StoreRestored, AttemptDisowned>;

struct Event {
  Lsn lsn;     ///< From 1 without gaps.
  Instant at;  ///< What the shell said the time was. Never smaller than the event before.
  EventBody body;
};

}  // namespace hpsearch::engine
