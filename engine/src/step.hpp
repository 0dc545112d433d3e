#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "experiment/engine_state.hpp"
#include "hpsearch/engine/engine.hpp"

namespace hpsearch::engine {

/// One command being carried out: what it makes happen is applied at once and written down.
class Step {
 public:
  Step(EngineState& state, Effects& effects, Instant now, const std::string& actor)
      : state_(state),
        effects_(effects),
        now_(now),
        actor_(&actor),
        first_(state.last_lsn.number() + 1),
        ends_left_(state.most_ends) {}

  [[nodiscard]] const EngineState& state() const noexcept { return state_; }
  [[nodiscard]] Effects& effects() noexcept { return effects_; }
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] Agenda& agenda() noexcept { return state_.agenda; }
  /// Its searcher wanted nothing: it is not asked again before something of it changes.
  void searcher_is_idle(ExperimentId experiment) {
    state_.experiments.at(experiment).searcher_is_idle = true;
  }
  void looked_after(ExperimentId experiment) {
    ExperimentRecord& record = state_.experiments.at(experiment);
    record.on_agenda = false;
    record.searcher_is_idle = false;
  }
  /// Its trials whose checkpoints are to be looked at, which they then were.
  [[nodiscard]] std::set<TrialNumber> take_uncollected(ExperimentId experiment) {
    return std::exchange(state_.experiments.at(experiment).uncollected, {});
  }
  /// Trials of it are left that end in the next step.
  void continue_in_next_step(ExperimentId experiment) {
    std::vector<ExperimentId>& unfinished = state_.agenda.unfinished;
    if (std::find(unfinished.begin(), unfinished.end(), experiment) == unfinished.end()) {
      unfinished.push_back(experiment);
    }
  }
  [[nodiscard]] std::vector<ExperimentId> take_unfinished() {
    return std::exchange(state_.agenda.unfinished, {});
  }
  /// It is stopping, and all trials before this one have ended or run.
  void ended_before(ExperimentId experiment, std::size_t trial) {
    state_.experiments.at(experiment).ended_before = trial;
  }
  void look_after(ExperimentId experiment) { touch(state_, state_.experiments.at(experiment)); }

  /// A trial whose time has come is leased again; such a worker gets leases.
  void end_start_delays() { engine::end_start_delays(state_, now_); }

  /// A client wants trials of it in this step.
  void ask(ExperimentId experiment, const AskTrials& command) {
    // As the log has it, in whole milliseconds.
    asked_ = {experiment, command.count, Duration::millis(command.lease_for.in_micros() / 1'000),
              command.request};
    look_after(experiment);
  }
  /// Leases may begin in this step that a client has asked for; others of it, no.
  [[nodiscard]] bool is_asked_for(ExperimentId experiment) const noexcept {
    return asked_.experiment == experiment && asked_.count > 0;
  }
  [[nodiscard]] ExternalLease take_asked() {
    --asked_.count;
    return {asked_.lease_for, asked_.request};
  }
  /// No client asks any more.
  void end_ask() {
    if (asked_.count > 0) {
      state_.agenda.claims.remove(asked_.experiment);
      asked_.count = 0;
    }
  }

  /// The first Lsn this step can have given.
  [[nodiscard]] Lsn first() const noexcept { return first_; }

  /// A rung or an experiment may be over for a million trials at once, and others must not wait for their
  /// ends: so many end in one step. False: no more in this one.
  [[nodiscard]] bool take_from_end_quota() noexcept { return ends_left_ > 0 && ends_left_-- > 0; }

  /// The command is carried out: what follows is the engine's own doing.
  void command_is_done() noexcept { actor_ = nullptr; }

  /// Since when the allocation has been without a trial for it, if it was and still is; now, if it is new.
  /// `needed`: it has one.
  [[nodiscard]] Instant unneeded_since(std::uint64_t allocation, bool needed) {
    if (needed) {
      state_.unneeded_since.erase(allocation);
      return now_;
    }
    return state_.unneeded_since.try_emplace(allocation, now_).first->second;
  }

  /// The experiment could use a free slot, but its workspace's quota is reached. At `until`, if not before,
  /// it is looked after again.
  void hold_back(const ExperimentRecord& record, std::optional<Instant> until) {
    state_.workspaces.find(record.workspace->name)->second.held_back.insert(record.id);
    state_.agenda.claims.remove(record.id);
    const auto known = state_.agenda.deadline_of.find(record.id);
    if (until && (known == state_.agenda.deadline_of.end() || known->second > *until)) {
      state_.agenda.set_deadline(record.id, until);
    }
  }

  /// Events that have an actor get the one who sent the command.
  template <class Body>
  void emit(Body body) {
    if constexpr (requires { body.actor; }) {
      if (actor_ != nullptr) {
        body.actor = *actor_;
      }
    }
    Event& event = effects_.events.emplace_back();
    event.lsn = Lsn(state_.last_lsn.number() + 1);
    event.at = now_;
    event.body.emplace<Body>(std::move(body));
    apply(state_, event);
  }

 private:
  EngineState& state_;
  Effects& effects_;
  Instant now_;
  const std::string* actor_;  ///< nullptr: no user asked for what happens now.
  Lsn first_;
  std::uint64_t ends_left_;
  AskTrials asked_{{}, 0, {}};
};

// --- what commands make happen; each refuses before it changes anything ---

Status create_experiment(Step& step, const CreateExperiment& command);
Status pause_experiment(Step& step, ExperimentId id);
Status resume_experiment(Step& step, ExperimentId id);
Status end_experiment(Step& step, ExperimentId id, bool at_once);
Status archive_experiment(Step& step, ExperimentId id, bool archived);
Status delete_experiment(Step& step, ExperimentId id, Duration kept_for);
Status change_experiment(Step& step, const ChangeExperiment& command);
Status annotate(Step& step, const Annotate& command);
Status note_logs_removed(Step& step, const NoteLogsRemoved& command);
Status thin_curve(Step& step, const ThinCurve& command);
Status remove_rows(Step& step, const RemoveRows& command);
Status change_program(Step& step, const ChangeProgram& command);
Status end_trial(Step& step, const EndTrial& command);
Status retry_trial(Step& step, const RetryTrial& command);
Status may_join(const EngineState& state, const JoinWorker& command);
Status join_worker(Step& step, const JoinWorker& command);
Status note_time_left(Step& step, const NoteTimeLeft& command);
Status disclaim_attempts(Step& step, const DisclaimAttempts& command);
Status lose_worker(Step& step, const LoseWorker& command);
Status expire_leases(Step& step, const ExpireLeases& command);
Status quarantine_worker(Step& step, const QuarantineWorker& command);
Status drain_worker(Step& step, const DrainWorker& command);
Status release_worker(Step& step, const ReleaseWorker& command);
Status forget_worker(Step& step, const ForgetWorker& command);
Status note_leaked_processes(Step& step, const NoteLeakedProcesses& command);
Status note_troubles(Step& step, const NoteTroubles& command);
Status adopt_attempt(Step& step, const AdoptAttempt& command);
Status disown_attempt(Step& step, const DisownAttempt& command);
Status confirm_start(Step& step, const ConfirmStart& command);
Status take_reports(Step& step, TakeReports command);
Status delete_checkpoints(Step& step, const DeleteCheckpoints& command);
Status confirm_deleted(Step& step, const ConfirmDeleted& command);

// --- what follows ---

/// The trial may have reached the length it was asked for, and with one report several: asks its searcher.
void reach_lengths(Step& step, ExperimentId experiment, TrialNumber trial);

/// The metric that it reported last may be none: it ends at once where its experiment wants that
/// (searcher.stop_diverged). False: it goes on.
bool stop_if_diverged(Step& step, ExperimentId experiment, TrialNumber trial);

/// It has just reported its metric: if that was before its length, its searcher may stop it there.
void stop_by_rule(Step& step, ExperimentId experiment, TrialNumber trial);

/// This report of its live attempt, which is not taken yet, shows that its metric does not come: a step has
/// ended by then that was at or far beyond the length, and again without it.
[[nodiscard]] bool is_overdue(const ExperimentRecord& record, const TrialRecord& trial,
                              const MetricsReport& report);
/// Its live attempt stands at this step, its length, and waits: it fails, or what it measured before counts.
void take_unmeasured(Step& step, ExperimentId experiment, TrialNumber trial, Units at);
/// It fails, and says what it reported instead.
void fail_overdue(Step& step, ExperimentId experiment, TrialNumber trial);

/// Why an attempt exited, as far as its trial is concerned.
enum class Exit : std::uint8_t {
  by_itself,
  asked_for,  ///< It got the decision to pause or stop.
  failed,     ///< is_failure()
};

/// An attempt that ended without a report and was not asked to.
struct FruitlessEnd {
  AttemptKey key;
  Instant leased_at;
  WorkerId culprit;  ///< The worker that made it end as soon as it was leased; 0: none did.
  std::string why;
  bool evicted = false;      ///< Its worker ended it without an order: no failure of the trial.
  bool again_there = false;  ///< Its program failed where it had failed before, and others may do better.
};

/// To be called before the attempt is over. Nothing: it reported, or was asked to end. `worker` is where it
/// ended, if that is not its program's doing.
[[nodiscard]] std::optional<FruitlessEnd> fruitless_end(const TrialRecord& trial, Instant now,
                                                        WorkerId worker, std::string why);

/// How far an attempt got.
struct Course {
  Units granted{};  ///< The length that its program was started for.
  Units reached{};
  Units stride{};  ///< LiveAttempt::stride
  bool went_on = false;
  bool measured = false;
};
[[nodiscard]] Course course_of(const LiveAttempt& live);

/// Its attempt is over, with an exit report: what becomes of the trial.
void after_exit(Step& step, const AttemptKey& key, const Course& course, const ExitReport& report, Exit exit,
                const std::optional<FruitlessEnd>& fruitless);

/// Its attempt is over on this worker without an exit report; an attempt on several ends everywhere with it.
void lose_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why,
                  bool may_return = false);

/// The same where the worker is to blame if the attempt was over before it really began.
void lose_attempt_there(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why);

/// The same where its worker goes away and says so: no failure of the trial.
void evict_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why);

/// The same where it had to make room: no failure of the trial.
void revoke_attempt(Step& step, const AttemptKey& key, WorkerId worker, const std::string& why);

/// A worker found the checkpoint missing: the trial goes on from the one before, or afresh.
void forget_latest_checkpoint(Step& step, ExperimentId id, TrialNumber number);

/// Attempts of the trial in a row, `end` included.
[[nodiscard]] std::uint64_t fruitless_with(const EngineState& state, const FruitlessEnd& end);

/// Its trial waits, and the culprit. To be called when the attempt is over and its trial is where it goes.
void delayed(Step& step, const FruitlessEnd& end);

Status continue_time(Step& step);
Status note_time(Step& step);
Status note_request(Step& step, const NoteRequest& command);
Status ask_trials(Step& step, const AskTrials& command);
Status expire_external(Step& step, const ExpireExternal& command);

Status add_queue(Step& step, const AddQueue& command);
Status change_queue(Step& step, const ChangeQueue& command);
Status pause_queue(Step& step, const PauseQueue& command);
Status resume_queue(Step& step, const ResumeQueue& command);
Status remove_queue(Step& step, const RemoveQueue& command);
Status plan_allocations(Step& step, const PlanAllocations& command);
Status note_submitted(Step& step, const NoteSubmitted& command);
Status note_started(Step& step, const NoteStarted& command);
Status cancel_allocation(Step& step, const CancelAllocation& command);
Status note_ended(Step& step, const NoteEnded& command);

Status create_workspace(Step& step, const CreateWorkspace& command);
Status change_quota(Step& step, const ChangeQuota& command);

/// Why this experiment, with this config, cannot be submitted to its workspace now, or Done.
Status may_submit(const Step& step, const CreateExperiment& command, const ExperimentConfig& config);
/// Why one more experiment, this one, cannot be active there, or Done.
Status may_begin(const WorkspaceRecord& workspace, const ExperimentConfig& config, Instant now);
/// Why that context cannot be stored for one more experiment or program, or Done.
Status may_store(const WorkspaceRecord& workspace, const std::string& digest, std::uint64_t bytes);
/// Why its search cannot plan that many trials in its workspace, or Done.
Status may_plan(const EngineState& state, const WorkspaceRecord& workspace, const ExperimentConfig& config);

/// Reports of a rank above 0: its exit is all that counts.
void take_member_reports(Step& step, const TakeReports& command);

/// As what an exit counts. One that its worker ended while that was going away, after another member had
/// failed, explains that failure; a checkpoint that cannot have been deleted behind this log's back is a
/// start that failed.
[[nodiscard]] ExitReport blamed_on_its_end(const EngineState& state, const LiveAttempt& live, WorkerId worker,
                                           ExitReport exit);

/// One of its members has ended: if it was the last, what becomes of the trial.
void end_gang(Step& step, const AttemptKey& key);

/// Its last decision was made in the future of an older copy.
[[nodiscard]] bool from_the_lost_part(const EngineState& state, const HeldAttempt& held);

/// Attempts that were lost while their worker was silent, which has them still: each gets a new lease unless
/// another has taken its place.
void adopt_returned(Step& step, WorkerId worker, const std::vector<HeldAttempt>& held);

/// How long the worker has had attempts of which a restored log lacks time.
void add_lost_time(Step& step, WorkerId worker, const std::vector<HeldAttempt>& held);

/// An attempt has exited, and something of it survives: its slots stay blocked. `as_known` is the key its
/// worker knows it by.
void quarantine_slots(Step& step, WorkerId worker, const AttemptKey& as_known,
                      const std::vector<SlotIndex>& slots);

/// An operator wants all slots of the worker used, whatever survives there.
void release_slots(Step& step, WorkerId worker);

/// An operator wants the worker's slots used, whatever it says of their devices.
void release_troubles(Step& step, WorkerId worker);

/// Something failed there, or worked elsewhere that had failed there: the worker may be the reason.
void judge_worker(Step& step, WorkerId worker);

/// The attempt is the one that a worker in quarantine got.
[[nodiscard]] bool is_on_probation(const EngineState& state, WorkerId worker, const AttemptKey& key);
/// It reported something, or was over without that.
void end_probation(Step& step, WorkerId worker, bool works);

/// There is another worker that may get leases of such trials.
[[nodiscard]] bool others_serve(const EngineState& state, const ResourcesConfig& wanted, WorkerId without);
/// There is another one that may get leases, in the same pool and with the same kind of slots.
[[nodiscard]] bool others_alike(const EngineState& state, const WorkerRecord& worker);

/// Its searcher has named trials that need nothing more: all of them end before anything happens that could
/// change their ranks.
void close_all_that_can_be(Step& step, ExperimentId id);
/// The same for these.
void close_all(Step& step, const ExperimentRecord& record, const std::vector<TrialNumber>& named);

/// Its searcher may have had one configuration refused too many: the experiment fails, and what runs of it is
/// ordered to end.
void give_up_if_hopeless(Step& step, ExperimentId id);

/// No more of this experiment: what is not running ends in this step and, if that is much, the next ones; the
/// rest as it exits: soon, also where it would finish what it does at its length, if that is cut short.
void stop_experiment(Step& step, ExperimentId id, ExperimentState target, bool at_once,
                     const std::string& reason, bool cuts_short = false);

/// Collects what its retention does not keep of trials that were settled.
void collect_checkpoints(Step& step, ExperimentId id);

/// So many more trials of it could start now if there were slots for them, as far as its limits, its quota
/// and its searcher allow. O(trials that wait).
[[nodiscard]] std::uint64_t trials_that_could_start(const EngineState& state, const ExperimentRecord& record,
                                                    Instant now);
/// As many of them would run on workers of this queue.
[[nodiscard]] Result<std::uint64_t> trials_waiting_for(const EngineState& state, const std::string& queue);
[[nodiscard]] TooLongTrials too_long_trials_of(const EngineState& state, const QueueRecord& queue);

/// Closes what can be closed, ends what is over, fills free slots: until nothing more follows.
void schedule(Step& step);

/// The order to run an attempt on one of its workers.
[[nodiscard]] AttemptSpec attempt_spec_of(const EngineState& state, const AttemptKey& key, WorkerId worker);

/// The orders for leases granted and decisions made in this step.
void give_orders(Step& step);

}  // namespace hpsearch::engine
