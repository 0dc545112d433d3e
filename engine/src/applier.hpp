#pragma once

#include <string>
#include <vector>

#include "experiment/engine_state.hpp"

namespace hpsearch::engine {

/// What the events have in common when they are applied. What each kind does is its function `apply`
/// (events.hpp), in the file of what the event is about (apply_trials.cpp, …).
struct Applier {
  EngineState& state;
  const Event& event;  ///< The one that is applied: its Lsn and its time.

  /// The id of a decision that follows from this event.
  [[nodiscard]] Lsn decision_id() const noexcept { return Lsn(state.numbering.of(event.lsn)); }
  [[nodiscard]] LeaseId lease_id() const noexcept { return state.numbering.lease_of(event.lsn); }
  /// Whatever happens to an experiment goes through here, so that the scheduler looks after it.
  ExperimentRecord& experiment(ExperimentId id) const;
  /// With max_concurrent_trials 0, the slots there are bound every experiment.
  void touch_all() const;
  /// The time before this event does not count: whatever waits for a time, or adds time up, moves by it.
  void leave_out(Duration uncounted) const;
  /// Lower limits take hold at once: the trials leased last give their slots back, from a checkpoint if their
  /// programs write one, and wait.
  void pause_excess(ExperimentRecord& record) const;

  /// The trial is its attempt's from now on.
  void hold(ExperimentRecord& record, TrialRecord& trial, LiveAttempt live) const;
  void take_slots(ExperimentRecord& record, const AttemptKey& key, WorkerId where,
                  const std::vector<SlotIndex>& slots) const;
  /// Gives back what the trial's attempt has on one worker.
  void release_slots(ExperimentRecord& record, TrialRecord& trial, WorkerId where,
                     const std::vector<SlotIndex>& slots, AttemptEnd end) const;
  /// Gives back all that the attempt on one worker has; the trial has none any more.
  void release(ExperimentRecord& record, TrialNumber number, AttemptEnd end) const;

  void take_exit(ExperimentRecord& record, TrialNumber number, const ExitReport& exit) const;

  /// The first end of a part ends an attempt on all its workers: the others get the order to follow.
  void end_everywhere(TrialRecord& trial, WorkerId where, Gang::Ending ending, const ExitReport& exit) const;
  void end_by_first_rank(TrialRecord& trial, const ExitReport& exit, bool failed) const;
  /// One member has ended: its slots become free, the attempt's others stay.
  void leave_gang(ExperimentRecord& record, TrialRecord& trial, WorkerId where, bool exited,
                  AttemptEnd end) const;

  void take_metrics(ExperimentRecord& record, TrialNumber number, TrialRecord& trial,
                    const MetricsReport& report) const;
  /// Applies what a report means for the health of its trial and worker. Before an exit releases them.
  void note_health(ExperimentRecord& record, TrialRecord& trial, const ReportTaken& taken) const;
  /// Whatever of an attempt on this worker goes well, what went wrong at the start of earlier ones is over.
  void note_good_start(WorkerId where, const LiveAttempt& live) const;
  /// Its live attempt reported something: that speaks for where it runs, and against where it failed.
  void note_good_report(ExperimentRecord& record, const TrialRecord& trial) const;
  /// It failed there without a single report, with this exit.
  void note_crash(TrialRecord& trial, const AttemptKey& key, WorkerId where, const ExitReport& exit) const;
};

// --- what events of several kinds do to a trial ---

void move(ExperimentRecord& experiment, TrialRecord& trial, TrialMove step);

/// Notifies its attempt, if there is one. A pause or stop that was sent before is not weakened by a later
/// "train on".
void decide(TrialRecord& trial, Lsn id, Directive directive, bool may_finish = false);
/// Its program was let finish what it does, and is not any longer.
void hurry(TrialRecord& trial, Lsn id);

/// It waits for a slot; if its time has not come, not for every slot.
void wait_for_slot(EngineState& state, ExperimentRecord& record, TrialNumber number, Instant now);

/// It does not wait for a slot any more.
void stop_waiting(ExperimentRecord& record, TrialNumber number);

/// Notes to people about the way its programs report: each kind once.
void take_note(ExperimentRecord& record, const AttemptKey& key, const NoteReport& note);

/// One more failure of its program.
void count_failure(TrialRecord& trial, const ExitReport& exit, const std::string& where = "");

/// If its hyperparameters were invalid, its results count as no best. O(trials) if it was.
void note_invalid(ExperimentRecord& record, TrialNumber number, Instant now);

/// The experiment's best is better than before.
void note_best(ExperimentRecord& record, Instant now);

/// What an exit report says of its attempt, which is still live.
[[nodiscard]] AttemptEnd end_of(const ExperimentRecord& record, const TrialRecord& trial,
                                const ExitReport& exit) noexcept;

/// Its checkpoints may be examined, now that no trial can need more of them than its experiment's retention
/// says.
void note_settled(ExperimentRecord& record, TrialNumber number);

}  // namespace hpsearch::engine
