#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hpsearch/engine/alloc/queue.hpp"
#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/config/as_written.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/engine/experiment/source_checkpoint.hpp"
#include "hpsearch/engine/experiment/trial_state.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::engine {

// Events are what happened and what was decided. Applying them in order gives the state. They contain the
// decisions, not the input of the decisions, so a newer searcher cannot rewrite the past.
//
// The struct of an event declares everything that the engine and the store need:
//
//   type          its name in the store and in JSON
//   list_fields   its stored fields, in the order in which they are written. `fields(key, member)` is a field
//                 that is always written. `fields.maybe(key, member)` is left out if it is empty, 0 or false;
//                 a field that is added later must be one of these, because old events do not have it
//   apply         changes the state of the engine
//   problem_with  returns "" if the event can follow the events before it, else the reason why it cannot
//
// apply and problem_with are defined next to each other, in the apply_*.cpp of what the event is about. An
// event that lacks one of the four does not compile or does not link.

struct Applier;      // engine/src/applier.hpp
struct EventChecks;  // engine/src/event_checks.hpp

// --- experiments ---

/// A user submitted an experiment.
struct ExperimentCreated {
  static constexpr const char* type = "experiment_created";
  ExperimentId experiment;
  Value config;                     ///< The effective config: with all defaults and the seed.
  std::string context_directory;    ///< Absolute path; "" = none.
  std::string idempotency_key;      ///< The key of the request; "" = none.
  std::string context_digest{};     ///< SHA-256 of the packed context; "" = workers read the directory.
  std::uint64_t context_bytes = 0;  ///< Size of the packed context, in bytes.
  std::optional<SourceCheckpoint> source{};  ///< The checkpoint that its trials start from.
  std::string owner{};                       ///< Who submitted it, by name; "" = not recorded.
  std::string unix_user{};  ///< As whom its programs run where workers distinguish users; "" = none.
  std::optional<SubmittedFile> file{};  ///< The experiment file as its user wrote it.
  std::optional<GitState> git{};        ///< The Git checkout that its context was part of.
  /// The result of parse_config(config), if this process has it already. Not stored.
  std::shared_ptr<const ExperimentConfig> parsed{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("config", self.config);
    fields.maybe("context_directory", self.context_directory);
    fields.maybe("idempotency_key", self.idempotency_key);
    fields.maybe("context_digest", self.context_digest);
    fields.maybe("context_bytes", self.context_bytes);
    fields.maybe("source", self.source);
    fields.maybe("owner", self.owner);
    fields.maybe("unix_user", self.unix_user);
    fields.maybe("file", self.file);
    fields.maybe("git", self.git);
  }
  friend void apply(const Applier& applier, const ExperimentCreated& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentCreated& event);
};

/// A user paused the experiment, or it paused itself. Its running attempts have to save a checkpoint and
/// exit.
struct ExperimentPaused {
  static constexpr const char* type = "experiment_paused";
  ExperimentId experiment;
  std::string reason{};  ///< Why it paused itself; "" = a user paused it.
  std::string actor{};   ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("reason", self.reason);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const ExperimentPaused& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentPaused& event);
};

/// A user resumed a paused experiment.
struct ExperimentResumed {
  static constexpr const char* type = "experiment_resumed";
  ExperimentId experiment;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const ExperimentResumed& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentResumed& event);
};

/// A user changed limits of an experiment that has not ended.
struct LimitsChanged {
  static constexpr const char* type = "limits_changed";
  ExperimentId experiment;
  Value config;               ///< The whole effective config from now on.
  bool points_given = false;  ///< Its points_to_evaluate come next, even if they did not change.
  std::shared_ptr<const ExperimentConfig> parsed{};  ///< As in ExperimentCreated. Not stored.
  std::string actor{};                               ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("config", self.config);
    fields.maybe("points_given", self.points_given);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const LimitsChanged& event);
  friend std::string problem_with(const EventChecks& checks, const LimitsChanged& event);
};

/// A user changed limits of an experiment that had completed or failed: there is more to do. The events that
/// follow queue the trials again that were canceled only because the experiment ended.
struct ExperimentReopened {
  static constexpr const char* type = "experiment_reopened";
  ExperimentId experiment;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const ExperimentReopened& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentReopened& event);
};

/// A user continues with another program. Trials from `from` on run it, and so do those of `also`. A trial
/// that has reported something keeps the program that it started with. Where workers read the directory
/// itself, all attempts that start from now on run what is there.
struct ProgramChanged {
  static constexpr const char* type = "program_changed";
  ExperimentId experiment;
  TrialNumber from;                    ///< The number of the next trial.
  std::vector<TrialNumber> also{};     ///< Earlier trials that have reported nothing yet, in order.
  std::string context_digest{};        ///< SHA-256 of the packed context; "" = workers read the directory.
  std::uint64_t context_bytes = 0;     ///< Size of the packed context, in bytes.
  std::vector<std::string> changed{};  ///< The files that changed, as the user's command names them.
  std::string actor{};                 ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("from", self.from);
    fields.maybe("also", self.also);
    fields.maybe("context_digest", self.context_digest);
    fields.maybe("context_bytes", self.context_bytes);
    fields.maybe("changed", self.changed);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const ProgramChanged& event);
  friend std::string problem_with(const EventChecks& checks, const ProgramChanged& event);
};

/// The experiment starts no more trials. It ends when its last attempt has ended.
struct ExperimentStopping {
  static constexpr const char* type = "experiment_stopping";
  ExperimentId experiment;
  ExperimentState target{};  ///< The state that it ends in.
  bool at_once = false;      ///< Programs are killed, not asked to stop.
  std::string reason;
  std::string actor{};  ///< Who requested it; "" = not recorded.
  /// A user wants it, or a limit of time is over: programs at their lengths do not finish what they do there.
  bool cuts_short = false;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("target", self.target);
    fields.maybe("at_once", self.at_once);
    fields.maybe("reason", self.reason);
    fields.maybe("actor", self.actor);
    fields.maybe("cuts_short", self.cuts_short);
  }
  friend void apply(const Applier& applier, const ExperimentStopping& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentStopping& event);
};

/// The experiment has ended.
struct ExperimentEnded {
  static constexpr const char* type = "experiment_ended";
  ExperimentId experiment;
  ExperimentState state{};
  std::string reason;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("state", self.state);
    fields.maybe("reason", self.reason);
  }
  friend void apply(const Applier& applier, const ExperimentEnded& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentEnded& event);
};

/// A user hides an experiment that has ended from lists.
struct ExperimentArchived {
  static constexpr const char* type = "experiment_archived";
  ExperimentId experiment;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const ExperimentArchived& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentArchived& event);
};

/// A user shows an archived experiment in lists again. So does ExperimentReopened.
struct ExperimentUnarchived {
  static constexpr const char* type = "experiment_unarchived";
  ExperimentId experiment;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const ExperimentUnarchived& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentUnarchived& event);
};

/// An experiment that had ended was deleted. Its checkpoints, logs and files are removed, and no user can
/// read it any more. Its events stay in the store, its slot time stays in the accounts, and its number is not
/// used again.
struct ExperimentDeleted {
  static constexpr const char* type = "experiment_deleted";
  ExperimentId experiment;
  std::string actor{};  ///< Who requested it; "" = not recorded.
  /// The daemon's retention removed it, which keeps experiments for that long after their end. 0 = a user
  /// deleted it.
  Duration kept_for{};

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("actor", self.actor);
    fields.maybe("kept_for_ms", self.kept_for);
  }
  friend void apply(const Applier& applier, const ExperimentDeleted& event);
  friend std::string problem_with(const EventChecks& checks, const ExperimentDeleted& event);
};

// --- trials ---

/// The searcher created a trial. It waits for a slot.
struct TrialCreated {
  static constexpr const char* type = "trial_created";
  ExperimentId experiment;
  TrialNumber trial;
  TrialId id;
  Value hparams;
  Units length{};  ///< Length that it has to reach, from its start.
  Reason reason;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("trial_id", self.id);
    fields("hparams", self.hparams);
    fields("length", self.length);
    fields("reason", self.reason);
  }
  friend void apply(const Applier& applier, const TrialCreated& event);
  friend std::string problem_with(const EventChecks& checks, const TrialCreated& event);
};

/// The searcher lets a trial train to a greater length.
struct TrialPromoted {
  static constexpr const char* type = "trial_promoted";
  ExperimentId experiment;
  TrialNumber trial;
  Units length{};         ///< Length that it has to reach now, from its start.
  bool in_place = false;  ///< The running attempt trains on; else the trial waits for a slot.
  Reason reason;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("length", self.length);
    fields.maybe("in_place", self.in_place);
    fields("reason", self.reason);
  }
  friend void apply(const Applier& applier, const TrialPromoted& event);
  friend std::string problem_with(const EventChecks& checks, const TrialPromoted& event);
};

/// The trial reached the length that its searcher wanted. The searcher gets `metric`.
struct LengthReached {
  static constexpr const char* type = "length_reached";
  ExperimentId experiment;
  TrialNumber trial;
  Units length{};
  Units step{};  ///< Step of the report; one less than `length` if the program did not report its last one.
  std::optional<double> metric;  ///< Empty if it was not reported. May be NaN.
  /// Its program ended well at `step`, below `length`, and trains no further: the trial has what it will
  /// have.
  bool ended = false;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("length", self.length);
    fields("step", self.step);
    fields.maybe("metric", self.metric);
    fields.maybe("ended", self.ended);
  }
  friend void apply(const Applier& applier, const LengthReached& event);
  friend std::string problem_with(const EventChecks& checks, const LengthReached& event);
};

/// The trial waits at a rung (Why::waits_at_rung), or because its experiment is paused (Why::user,
/// Why::paused_itself).
struct TrialPaused {
  static constexpr const char* type = "trial_paused";
  ExperimentId experiment;
  TrialNumber trial;
  Reason reason;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("reason", self.reason);
  }
  friend void apply(const Applier& applier, const TrialPaused& event);
  friend std::string problem_with(const EventChecks& checks, const TrialPaused& event);
};

/// A trial that was paused by the user, lost its attempt, or was canceled with its experiment before that was
/// reopened, waits for a slot again.
struct TrialQueued {
  static constexpr const char* type = "trial_queued";
  ExperimentId experiment;
  TrialNumber trial;
  bool judged = false;  ///< Its program has ended, and what becomes of the trial follows at once.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields.maybe("judged", self.judged);
  }
  friend void apply(const Applier& applier, const TrialQueued& event);
  friend std::string problem_with(const EventChecks& checks, const TrialQueued& event);
};

/// The trial ended before its length. The searcher gets `exit`.
struct TrialExitedEarly {
  static constexpr const char* type = "trial_exited_early";
  ExperimentId experiment;
  TrialNumber trial;
  ExitReason exit{};
  std::string detail;
  bool unmeasured = false;  ///< Because the searcher's metric was not reported.
  std::string actor{};      ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("exit", self.exit);
    fields.maybe("detail", self.detail);
    fields.maybe("unmeasured", self.unmeasured);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const TrialExitedEarly& event);
  friend std::string problem_with(const EventChecks& checks, const TrialExitedEarly& event);
};

/// The trial will never run again.
struct TrialEnded {
  static constexpr const char* type = "trial_ended";
  ExperimentId experiment;
  TrialNumber trial;
  TrialState state{};
  Reason reason;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("state", self.state);
    fields("reason", self.reason);
  }
  friend void apply(const Applier& applier, const TrialEnded& event);
  friend std::string problem_with(const EventChecks& checks, const TrialEnded& event);
};

/// A user wants a failed trial to be tried once more. Its searcher takes the failure back.
struct TrialRetried {
  static constexpr const char* type = "trial_retried";
  ExperimentId experiment;
  TrialNumber trial;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const TrialRetried& event);
  friend std::string problem_with(const EventChecks& checks, const TrialRetried& event);
};

// --- attempts ---

/// Slots of one worker.
struct Place {
  WorkerId worker;
  std::vector<SlotIndex> slots;
  friend bool operator==(const Place&, const Place&) = default;

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields("slots", self.slots);
  }
};

/// An attempt of the trial starts on these slots. The number of this event is its lease (Numbering).
struct LeaseGranted {
  static constexpr const char* type = "lease_granted";
  ExperimentId experiment;
  TrialNumber trial;
  AttemptNumber attempt;
  WorkerId worker;
  std::vector<SlotIndex> slots;
  Units length{};               ///< Length that the program is started for.
  std::vector<Place> others{};  ///< Slots of ranks 1, 2, …, if the attempt has several workers.
  std::uint64_t port = 0;       ///< Where the processes of several workers meet; else 0.
  Duration lease_for{};         ///< A client runs it, and reports at least so often; 0: a worker runs it.
  std::string request{};        ///< SHA-256 of the client and its Idempotency-Key; "" = none, or a worker.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("attempt", self.attempt);
    fields("worker", self.worker);
    fields("slots", self.slots);
    fields("length", self.length);
    fields.maybe("others", self.others);
    fields.maybe("port", self.port);
    fields.maybe("lease_ms", self.lease_for);
    fields.maybe("request", self.request);
  }
  friend void apply(const Applier& applier, const LeaseGranted& event);
  friend std::string problem_with(const EventChecks& checks, const LeaseGranted& event);
};

/// The program of an attempt runs.
struct AttemptStarted {
  static constexpr const char* type = "attempt_started";
  AttemptKey key;
  WorkerId member{};  ///< The worker of a rank above 0; 0 = rank 0, or the attempt has one worker.

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields.maybe("member", self.member);
  }
  friend void apply(const Applier& applier, const AttemptStarted& event);
  friend std::string problem_with(const EventChecks& checks, const AttemptStarted& event);
};

/// An attempt sent a report.
struct ReportTaken {
  static constexpr const char* type = "report_taken";
  AttemptKey key;
  std::uint64_t seq = 0;  ///< Its number within the attempt, from 1.
  Report report;

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields("seq", self.seq);
    fields("report", self.report);
  }
  friend void apply(const Applier& applier, const ReportTaken& event);
  friend std::string problem_with(const EventChecks& checks, const ReportTaken& event);
};

/// The attempt is over without an exit report: its worker is lost or never had it. This does not count as a
/// failure of the program.
struct AttemptLost {
  static constexpr const char* type = "attempt_lost";
  AttemptKey key;
  std::string why;
  bool may_return = false;  ///< Its worker is only silent and may come back with it.

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields.maybe("why", self.why);
    fields.maybe("may_return", self.may_return);
  }
  friend void apply(const Applier& applier, const AttemptLost& event);
  friend std::string problem_with(const EventChecks& checks, const AttemptLost& event);
};

/// A worker holds an attempt that had no lease any more. The trial continues with this attempt. The number of
/// this event is the new lease.
struct AttemptAdopted {
  static constexpr const char* type = "attempt_adopted";
  AttemptKey key;  ///< As its worker knows it: with the lease that it was started under.
  WorkerId worker;
  std::vector<SlotIndex> slots;
  Units length{};          ///< Length that its program was started for.
  std::uint64_t upto = 0;  ///< Its next report has the number after this.
  bool trains_on = false;  ///< It has to train to its trial's length, whatever was decided before.
  bool has_unlogged_decision = false;  ///< It got a decision that this log lacks, and may end because of it.
  std::string actor{};                 ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields("worker", self.worker);
    fields("slots", self.slots);
    fields("length", self.length);
    fields.maybe("upto", self.upto);
    fields.maybe("trains_on", self.trains_on);
    fields.maybe("has_unlogged_decision", self.has_unlogged_decision);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const AttemptAdopted& event);
  friend std::string problem_with(const EventChecks& checks, const AttemptAdopted& event);
};

/// An operator wants to end an attempt that a worker holds and that this log does not know.
struct AttemptDisowned {
  static constexpr const char* type = "attempt_disowned";
  WorkerId worker;
  AttemptKey key;       ///< As its worker knows it. Its experiment and trial need not exist here.
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    AttemptKey::list_fields(fields, self.key);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const AttemptDisowned& event);
  friend std::string problem_with(const EventChecks& checks, const AttemptDisowned& event);
};

/// An attempt ended without a report and was not asked to end. Its trial waits before it is tried again, each
/// time longer, and fails after 10 of them in a row. So does its worker wait, if attempts of several
/// experiments were over as soon as it got their leases and no program failed.
struct StartDelayed {
  static constexpr const char* type = "start_delayed";
  ExperimentId experiment;
  TrialNumber trial;
  std::uint64_t times = 0;         ///< Attempts of this trial in a row.
  Duration wait;                   ///< The trial gets no lease before this time has passed.
  WorkerId worker{};               ///< The worker that caused it; 0 = the program.
  std::uint64_t worker_times = 0;  ///< How often in a row, for this worker.
  Duration worker_wait{};          ///< The worker gets no lease before this time has passed.
  std::string why{};
  bool evicted = false;      ///< The worker ended it: for the trial it does not count.
  bool again_there = false;  ///< Its program failed where it had failed before, and others may do better: the
                             ///< failure does not count.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("times", self.times);
    fields("wait_ms", self.wait);
    fields.maybe("worker", self.worker);
    fields.maybe("worker_times", self.worker_times);
    fields.maybe("worker_wait_ms", self.worker_wait);
    fields.maybe("why", self.why);
    fields.maybe("evicted", self.evicted);
    fields.maybe("again_there", self.again_there);
  }
  friend void apply(const Applier& applier, const StartDelayed& event);
  friend std::string problem_with(const EventChecks& checks, const StartDelayed& event);
};

// --- attempts on several workers ---

/// The program of a rank above 0 has ended. The attempt has other members.
struct MemberExited {
  static constexpr const char* type = "member_exited";
  AttemptKey key;
  WorkerId worker;
  ExitReport exit;

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields("worker", self.worker);
    fields("exit", self.exit);
  }
  friend void apply(const Applier& applier, const MemberExited& event);
  friend std::string problem_with(const EventChecks& checks, const MemberExited& event);
};

/// A member of an attempt on several workers is over without an exit report. This does not count as a failure
/// of the program.
struct MemberLost {
  static constexpr const char* type = "member_lost";
  AttemptKey key;
  WorkerId worker;
  std::string why;

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields("worker", self.worker);
    fields.maybe("why", self.why);
  }
  friend void apply(const Applier& applier, const MemberLost& event);
  friend std::string problem_with(const EventChecks& checks, const MemberLost& event);
};

/// The last member of an attempt on several workers has ended.
struct GangEnded {
  static constexpr const char* type = "gang_ended";
  AttemptKey key;

  static void list_fields(auto& fields, auto& self) { AttemptKey::list_fields(fields, self.key); }
  friend void apply(const Applier& applier, const GangEnded& event);
  friend std::string problem_with(const EventChecks& checks, const GangEnded& event);
};

// --- checkpoints ---

/// No trial needs these checkpoints any more. They will be deleted.
struct CheckpointsCollected {
  static constexpr const char* type = "checkpoints_collected";
  ExperimentId experiment;
  TrialNumber trial;
  std::vector<std::string> paths;  ///< As they were reported.
  std::string actor{};             ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("paths", self.paths);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const CheckpointsCollected& event);
  friend std::string problem_with(const EventChecks& checks, const CheckpointsCollected& event);
};

/// These checkpoints are deleted.
struct CheckpointsDeleted {
  static constexpr const char* type = "checkpoints_deleted";
  ExperimentId experiment;
  std::vector<std::string> paths;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("paths", self.paths);
  }
  friend void apply(const Applier& applier, const CheckpointsDeleted& event);
  friend std::string problem_with(const EventChecks& checks, const CheckpointsDeleted& event);
};

// --- workers ---

/// A worker connected for the first time, or came back.
struct WorkerJoined {
  static constexpr const char* type = "worker_joined";
  WorkerId worker;
  std::string uid;
  std::string name;
  std::uint64_t incarnation = 0;  ///< How often it was started.
  std::uint64_t slots = 0;
  std::string slot_kind;
  std::vector<SlotDevice> devices{};  ///< One per slot, or none.
  std::string pool{};                 ///< "" = the default pool.
  std::map<std::string, std::string> labels{};
  std::string address{};  ///< Where other workers reach it; "" = unknown.
  /// Most attempts without slots that it runs at once. Empty: no bound.
  std::optional<std::uint64_t> max_unslotted{};
  std::string allocation{};  ///< The allocation that it runs in, as "gpu/17"; "" = none.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields("uid", self.uid);
    fields("name", self.name);
    fields("incarnation", self.incarnation);
    fields("slots", self.slots);
    fields("slot_kind", self.slot_kind);
    fields.maybe("devices", self.devices);
    fields.maybe("pool", self.pool);
    fields.maybe("labels", self.labels);
    fields.maybe("address", self.address);
    fields.maybe("max_unslotted", self.max_unslotted);
    fields.maybe("allocation", self.allocation);
  }
  friend void apply(const Applier& applier, const WorkerJoined& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerJoined& event);
};

/// A worker is lost.
struct WorkerLost {
  static constexpr const char* type = "worker_lost";
  WorkerId worker;
  std::string why;
  bool silent = false;  ///< The daemon heard nothing from it. Otherwise it said goodbye.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields.maybe("why", self.why);
    fields.maybe("silent", self.silent);
  }
  friend void apply(const Applier& applier, const WorkerLost& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerLost& event);
};

/// The worker gets no new leases until it is released. The failures in a row that led to this do not count
/// against its trials.
struct WorkerQuarantined {
  static constexpr const char* type = "worker_quarantined";
  WorkerId worker;
  std::string why;
  std::string actor{};         ///< Who requested it; "" = not recorded.
  Duration probation_after{};  ///< Then it gets one trial, which may end the quarantine; 0 = never.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields("why", self.why);
    fields.maybe("actor", self.actor);
    fields.maybe("probation_after_ms", self.probation_after);
  }
  friend void apply(const Applier& applier, const WorkerQuarantined& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerQuarantined& event);
};

/// An operator wants the worker to become idle: it gets no new leases until it is released, and what runs
/// there runs on.
struct WorkerDraining {
  static constexpr const char* type = "worker_draining";
  WorkerId worker;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const WorkerDraining& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerDraining& event);
};

/// The worker gets leases again.
struct WorkerReleased {
  static constexpr const char* type = "worker_released";
  WorkerId worker;
  std::string actor{};  ///< Who requested it; "" = not recorded.
  bool proven = false;  ///< A trial on probation reported: the quarantine is over, and nothing else.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields.maybe("actor", self.actor);
    fields.maybe("proven", self.proven);
  }
  friend void apply(const Applier& applier, const WorkerReleased& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerReleased& event);
};

/// A lost worker is not waited for any more. Its number is never given to another one.
struct WorkerForgotten {
  static constexpr const char* type = "worker_forgotten";
  WorkerId worker;
  std::string why;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields.maybe("why", self.why);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const WorkerForgotten& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerForgotten& event);
};

/// Processes of an attempt that is over survive SIGKILL. Its slots on this worker get no leases.
struct SlotsQuarantined {
  static constexpr const char* type = "slots_quarantined";
  WorkerId worker;
  AttemptKey key;  ///< As its worker knows it: with the lease that it was started under.
  std::vector<SlotIndex> slots;

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    AttemptKey::list_fields(fields, self.key);
    fields("slots", self.slots);
  }
  friend void apply(const Applier& applier, const SlotsQuarantined& event);
  friend std::string problem_with(const EventChecks& checks, const SlotsQuarantined& event);
};

/// The slots of SlotsQuarantined get leases again.
struct SlotsReleased {
  static constexpr const char* type = "slots_released";
  WorkerId worker;
  AttemptKey key;
  bool gone = false;  ///< The processes have ended; else an operator wants to use the slots nevertheless.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    AttemptKey::list_fields(fields, self.key);
    fields.maybe("gone", self.gone);
  }
  friend void apply(const Applier& applier, const SlotsReleased& event);
  friend std::string problem_with(const EventChecks& checks, const SlotsReleased& event);
};

/// The device of a slot is broken or does not answer. The slot gets no leases. Its worker ends what runs
/// there.
struct SlotWithdrawn {
  static constexpr const char* type = "slot_withdrawn";
  WorkerId worker;
  SlotIndex slot;
  std::string why;

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields("slot", self.slot);
    fields.maybe("why", self.why);
  }
  friend void apply(const Applier& applier, const SlotWithdrawn& event);
  friend std::string problem_with(const EventChecks& checks, const SlotWithdrawn& event);
};

/// The slot of SlotWithdrawn gets leases again.
struct SlotRestored {
  static constexpr const char* type = "slot_restored";
  WorkerId worker;
  SlotIndex slot;
  bool healthy = false;  ///< The worker reports it healthy; else an operator wants to use it nevertheless.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields("slot", self.slot);
    fields.maybe("healthy", self.healthy);
  }
  friend void apply(const Applier& applier, const SlotRestored& event);
  friend std::string problem_with(const EventChecks& checks, const SlotRestored& event);
};

// --- the store ---

/// The log so far was copied from a store that may have continued differently (hpsearch store restore or
/// salvage). From here on, leases and decisions get numbers that the other store never gave out (Numbering).
struct StoreRestored {
  static constexpr const char* type = "store_restored";
  std::uint64_t numbers_from = 0;  ///< Number = this + Lsn.
  Duration uncounted{};            ///< Time between the last event of the copy and this one.

  static void list_fields(auto& fields, auto& self) {
    fields("numbers_from", self.numbers_from);
    fields.maybe("uncounted_ms", self.uncounted);
  }
  friend void apply(const Applier& applier, const StoreRestored& event);
  friend std::string problem_with(const EventChecks& checks, const StoreRestored& event);
};

/// A daemon starts, or it runs and nothing else happened for a while. The time of this event is where the
/// next start continues.
struct TimeNoted {
  static constexpr const char* type = "time_noted";
  Duration uncounted{};  ///< Time before this event without a daemon. Budgets and pauses do not count it.

  static void list_fields(auto& fields, auto& self) { fields.maybe("uncounted_ms", self.uncounted); }
  friend void apply(const Applier& applier, const TimeNoted& event);
  friend std::string problem_with(const EventChecks& checks, const TimeNoted& event);
};

/// A restored log lacks time during which this attempt held its slots. Its worker tells how much.
struct LeaseTimeAdded {
  static constexpr const char* type = "lease_time_added";
  AttemptKey key;
  Duration more{};  ///< It held its slots so much longer than the log had it.

  static void list_fields(auto& fields, auto& self) {
    AttemptKey::list_fields(fields, self.key);
    fields.maybe("more_ms", self.more);
  }
  friend void apply(const Applier& applier, const LeaseTimeAdded& event);
  friend std::string problem_with(const EventChecks& checks, const LeaseTimeAdded& event);
};

// --- workspaces ---

/// An admin created a workspace. From the first one on, experiments are refused that name an unknown one.
struct WorkspaceCreated {
  static constexpr const char* type = "workspace_created";
  std::string workspace;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("workspace", self.workspace);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const WorkspaceCreated& event);
  friend std::string problem_with(const EventChecks& checks, const WorkspaceCreated& event);
};

/// An admin gave a workspace these limits instead of those it had. A field that is missing is no limit.
struct QuotaChanged {
  static constexpr const char* type = "quota_changed";
  std::string workspace;
  std::optional<std::uint64_t> max_slots{};           ///< In use at once.
  std::optional<std::uint64_t> max_slots_per_user{};  ///< The same, by experiments of one owner.
  std::optional<std::uint64_t> max_active_experiments{};
  std::optional<std::uint64_t> max_trials_per_experiment{};
  std::optional<std::uint64_t> max_context_bytes{};   ///< Sum over its contexts, each content once.
  std::optional<std::uint64_t> slot_hours_per_30d{};  ///< Slots × hours in the last 30 days.
  std::string actor{};                                ///< Who requested it; "" = not recorded.

  [[nodiscard]] Quota quota() const {
    return {max_slots,         max_slots_per_user, max_active_experiments, max_trials_per_experiment,
            max_context_bytes, slot_hours_per_30d};
  }
  static void list_fields(auto& fields, auto& self) {
    fields("workspace", self.workspace);
    fields.maybe("max_slots", self.max_slots);
    fields.maybe("max_slots_per_user", self.max_slots_per_user);
    fields.maybe("max_active_experiments", self.max_active_experiments);
    fields.maybe("max_trials_per_experiment", self.max_trials_per_experiment);
    fields.maybe("max_context_bytes", self.max_context_bytes);
    fields.maybe("slot_hours_per_30d", self.slot_hours_per_30d);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const QuotaChanged& event);
  friend std::string problem_with(const EventChecks& checks, const QuotaChanged& event);
};

// --- clients ---

/// The events before this one, since the last of its kind or the last commit, are what a client's request
/// asked for. They become durable together, therefore the same request again can be recognized after a crash.
struct RequestTaken {
  static constexpr const char* type = "request_taken";
  std::string key;      ///< SHA-256 of the client and its Idempotency-Key.
  std::string request;  ///< SHA-256 of the request.

  static void list_fields(auto& fields, auto& self) {
    fields("key", self.key);
    fields("request", self.request);
  }
  friend void apply(const Applier& applier, const RequestTaken& event);
  friend std::string problem_with(const EventChecks& checks, const RequestTaken& event);
};

// --- queues of allocations ---

/// An operator added a queue, which asks another scheduler for allocations.
struct QueueAdded {
  static constexpr const char* type = "queue_added";
  std::string queue;
  QueueSettings settings;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("queue", self.queue);
    QueueSettings::list_fields(fields, self.settings);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const QueueAdded& event);
  friend std::string problem_with(const EventChecks& checks, const QueueAdded& event);
};

/// An operator gave a queue other settings. Allocations that were wanted before keep theirs.
struct QueueChanged {
  static constexpr const char* type = "queue_changed";
  std::string queue;
  QueueSettings settings;  ///< All of them.
  std::string actor{};     ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("queue", self.queue);
    QueueSettings::list_fields(fields, self.settings);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const QueueChanged& event);
  friend std::string problem_with(const EventChecks& checks, const QueueChanged& event);
};

/// The queue asks for no more allocations until it is resumed.
struct QueuePaused {
  static constexpr const char* type = "queue_paused";
  std::string queue;
  std::string why{};    ///< Why it paused itself; "" = an operator paused it.
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("queue", self.queue);
    fields.maybe("why", self.why);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const QueuePaused& event);
  friend std::string problem_with(const EventChecks& checks, const QueuePaused& event);
};

/// The queue asks for allocations again.
struct QueueResumed {
  static constexpr const char* type = "queue_resumed";
  std::string queue;
  std::string actor{};  ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("queue", self.queue);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const QueueResumed& event);
  friend std::string problem_with(const EventChecks& checks, const QueueResumed& event);
};

/// An operator removed a queue. It is forgotten when its last allocation has ended.
struct QueueRemoved {
  static constexpr const char* type = "queue_removed";
  std::string queue;
  bool at_once = false;  ///< Its allocations are canceled; else they end by themselves.
  std::string actor{};   ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("queue", self.queue);
    fields.maybe("at_once", self.at_once);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const QueueRemoved& event);
  friend std::string problem_with(const EventChecks& checks, const QueueRemoved& event);
};

/// One more allocation is wanted. The job of the other scheduler carries the key, so that it is found again
/// after a crash.
struct AllocationWanted {
  static constexpr const char* type = "allocation_wanted";
  AllocationName name;
  std::uint64_t workers = 1;
  std::string key;  ///< Random.

  static void list_fields(auto& fields, auto& self) {
    AllocationName::list_fields(fields, self.name);
    fields("workers", self.workers);
    fields("key", self.key);
  }
  friend void apply(const Applier& applier, const AllocationWanted& event);
  friend std::string problem_with(const EventChecks& checks, const AllocationWanted& event);
};

/// The other scheduler took the allocation.
struct AllocationSubmitted {
  static constexpr const char* type = "allocation_submitted";
  AllocationName name;
  std::string job;  ///< As the other scheduler names it.

  static void list_fields(auto& fields, auto& self) {
    AllocationName::list_fields(fields, self.name);
    fields("job", self.job);
  }
  friend void apply(const Applier& applier, const AllocationSubmitted& event);
  friend std::string problem_with(const EventChecks& checks, const AllocationSubmitted& event);
};

/// The allocation runs.
struct AllocationStarted {
  static constexpr const char* type = "allocation_started";
  AllocationName name;

  static void list_fields(auto& fields, auto& self) { AllocationName::list_fields(fields, self.name); }
  friend void apply(const Applier& applier, const AllocationStarted& event);
  friend std::string problem_with(const EventChecks& checks, const AllocationStarted& event);
};

/// The allocation is to be canceled.
struct AllocationCanceled {
  static constexpr const char* type = "allocation_canceled";
  AllocationName name;
  std::string why;
  bool will_not_start = false;  ///< The other scheduler would never start it.
  std::string actor{};          ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    AllocationName::list_fields(fields, self.name);
    fields("why", self.why);
    fields.maybe("will_not_start", self.will_not_start);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const AllocationCanceled& event);
  friend std::string problem_with(const EventChecks& checks, const AllocationCanceled& event);
};

/// The allocation has ended.
struct AllocationEnded {
  static constexpr const char* type = "allocation_ended";
  AllocationName name;
  AllocationEnd end{};
  std::string detail{};  ///< What the other scheduler said about it.

  static void list_fields(auto& fields, auto& self) {
    AllocationName::list_fields(fields, self.name);
    fields("end", self.end);
    fields.maybe("detail", self.detail);
  }
  friend void apply(const Applier& applier, const AllocationEnded& event);
  friend std::string problem_with(const EventChecks& checks, const AllocationEnded& event);
};

/// The worker lasts for a limited time, or not any more.
struct WorkerEndNoted {
  static constexpr const char* type = "worker_end_noted";
  WorkerId worker;
  Duration ends_in{};        ///< From this event on; 0 = no end is known.
  Duration gives_back_in{};  ///< Until it takes no trials any more.

  static void list_fields(auto& fields, auto& self) {
    fields("worker", self.worker);
    fields.maybe("ends_in_ms", self.ends_in);
    fields.maybe("gives_back_in_ms", self.gives_back_in);
  }
  friend void apply(const Applier& applier, const WorkerEndNoted& event);
  friend std::string problem_with(const EventChecks& checks, const WorkerEndNoted& event);
};

/// A user wrote something about an experiment, or about a trial of it.
struct Annotated {
  static constexpr const char* type = "annotated";
  ExperimentId experiment;
  std::optional<TrialNumber> trial{};  ///< Nothing: the experiment itself.
  std::string note{};                  ///< All that is written there from now on.
  std::vector<std::string> labels{};   ///< All labels from now on.
  bool starred = false;                ///< Marked to be found again.
  std::string actor{};                 ///< Who requested it; "" = not recorded.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields.maybe("trial", self.trial);
    fields.maybe("note", self.note);
    fields.maybe("labels", self.labels);
    fields.maybe("starred", self.starred);
    fields.maybe("actor", self.actor);
  }
  friend void apply(const Applier& applier, const Annotated& event);
  friend std::string problem_with(const EventChecks& checks, const Annotated& event);
};

/// The daemon removed the kept logs of a trial, to make room.
struct LogsRemoved {
  static constexpr const char* type = "logs_removed";
  ExperimentId experiment;
  TrialNumber trial;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
  }
  friend void apply(const Applier& applier, const LogsRemoved& event);
  friend std::string problem_with(const EventChecks& checks, const LogsRemoved& event);
};

/// The retention removed reports of a trial that has ended from its curve. Reports at the lengths where the
/// trial was judged, its best and its last one stay. The events of all reports stay in the log.
struct CurveThinned {
  static constexpr const char* type = "curve_thinned";
  ExperimentId experiment;
  TrialNumber trial;
  std::uint64_t left = 0;                ///< Number of reports that stay in the curve.
  std::vector<std::uint64_t> removed{};  ///< Three numbers for each row of removed reports: their attempt,
                                         ///< and the sequence numbers of the first and the last one.

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("trial", self.trial);
    fields("left", self.left);
    fields("removed", self.removed);
  }
  friend void apply(const Applier& applier, const CurveThinned& event);
  friend std::string problem_with(const EventChecks& checks, const CurveThinned& event);
};

/// The store removed the rows of some trials of a deleted experiment from the tables beside the log: their
/// curves, and the places of their events. The events stay in the log.
struct RowsRemoved {
  static constexpr const char* type = "rows_removed";
  ExperimentId experiment;
  TrialNumber first;
  TrialNumber last;

  static void list_fields(auto& fields, auto& self) {
    fields("experiment", self.experiment);
    fields("first", self.first);
    fields("last", self.last);
  }
  friend void apply(const Applier& applier, const RowsRemoved& event);
  friend std::string problem_with(const EventChecks& checks, const RowsRemoved& event);
};

/// All kinds of events. Add new kinds at the end.
using EventBody =
    std::variant<ExperimentCreated, ExperimentPaused, ExperimentResumed, ExperimentStopping, ExperimentEnded,
                 TrialCreated, TrialPromoted, LengthReached, TrialPaused, TrialQueued, TrialExitedEarly,
                 TrialEnded, LeaseGranted, AttemptStarted, ReportTaken, AttemptLost, WorkerJoined, WorkerLost,
                 LimitsChanged, AttemptAdopted, WorkerQuarantined, WorkerReleased, SlotsQuarantined,
                 SlotsReleased, CheckpointsCollected, CheckpointsDeleted, SlotWithdrawn, SlotRestored,
                 MemberExited, MemberLost, GangEnded, StartDelayed, StoreRestored, AttemptDisowned, TimeNoted,
                 LeaseTimeAdded, ExperimentReopened, ProgramChanged, RequestTaken, WorkspaceCreated,
                 QuotaChanged, ExperimentArchived, ExperimentUnarchived, ExperimentDeleted, TrialRetried,
                 WorkerDraining, WorkerForgotten, QueueAdded, QueueChanged, QueuePaused, QueueResumed,
                 QueueRemoved, AllocationWanted, AllocationSubmitted, AllocationStarted, AllocationCanceled,
                 AllocationEnded, WorkerEndNoted, Annotated, LogsRemoved, CurveThinned, RowsRemoved>;

struct Event {
  Lsn lsn;     ///< From 1 without gaps.
  Instant at;  ///< Time that the shell gave. Never before the event before.
  EventBody body;
};

}  // namespace hpsearch::engine
