#include <algorithm>
#include <cmath>
#include <utility>

#include "report_digest.hpp"
#include "retention.hpp"
#include "world.hpp"

namespace hpsearch::engine {
namespace {

void move(ExperimentRecord& experiment, TrialRecord& trial, TrialMove step) {
  const Result<TrialState> next = next_state(trial.state, step);
  HPSEARCH_CHECK(next.has_value(), "events move trials only where they can go");
  --experiment.by_state[static_cast<std::size_t>(trial.state)];
  trial.state = next.value();
  ++experiment.by_state[static_cast<std::size_t>(trial.state)];
}

/// A pause or stop that was already told is not weakened by a later "train on".
void decide(TrialRecord& trial, Lsn id, Directive directive, Units length) {
  if (!trial.live) {
    return;
  }
  const bool ending = trial.live->decision && trial.live->decision->directive != Directive::train_on;
  if (ending && directive <= trial.live->decision->directive) {
    return;
  }
  trial.live->decision = Decision{id, directive, length};
}

/// Gives back what the trial's attempt has on one worker.
void release_slots(World& world, ExperimentRecord& experiment, TrialRecord& trial, WorkerId where,
                   const std::vector<SlotIndex>& slots, Instant at) {
  const LiveAttempt& live = *trial.live;
  WorkerRecord& worker = world.workers.at(where);
  worker.slots.release(slots, live.key.lease);
  worker.attempts.erase(live.key);
  note_vacancy(world, worker);
  experiment.slot_time.change(-static_cast<std::int64_t>(slots.size()), at);
  trial.busy =
      trial.busy + Duration::micros((at - live.leased_at).in_micros() * static_cast<std::int64_t>(slots.size()));
  experiment.last_release_at = at;
}

void release(World& world, ExperimentRecord& experiment, TrialNumber number, Instant at) {
  TrialRecord& trial = experiment.trials[number.number()];
  release_slots(world, experiment, trial, trial.live->worker, trial.live->slots, at);
  experiment.running.erase(number);
  trial.live.reset();
}

bool is_ending(const LiveAttempt& live) {
  return live.decision && live.decision->directive != Directive::train_on;
}

/// One more failure of its program.
void count_failure(TrialRecord& trial, const ExitReport& exit, const std::string& where = "") {
  ++trial.restarts;
  trial.last_failure = where + exit.message + (exit.log_tail.empty() ? "" : "\n" + exit.log_tail);
}

/// What ends an attempt on several workers first ends it everywhere: the others are told to follow.
void end_everywhere(TrialRecord& trial, Lsn id, Gang::Ending ending, const ExitReport& exit) {
  Gang& gang = *trial.live->gang;
  if (gang.ending != Gang::Ending::none) {
    return;
  }
  gang.ending = ending;
  gang.exit = exit;
  gang.exit.log_tail.clear();
  // Without one of them the others can only wait for it; but who was told to pause may be saving what it has.
  const bool in_vain = ending == Gang::Ending::failed || ending == Gang::Ending::lost;
  if (!is_ending(*trial.live)) {
    decide(trial, id, in_vain ? Directive::kill : Directive::stop, trial.length);
  }
}

bool better(double a, double b, Goal goal) { return goal == Goal::minimize ? a < b : a > b; }

/// The trial's latest checkpoint was measured at its exact step.
void rate_checkpoint(KnownCheckpoints& checkpoints, double metric, Goal goal) {
  if (!checkpoints.kept.empty() && std::isfinite(metric)) {
    checkpoints.kept.back().metric = metric;
    name_checkpoints(checkpoints, goal);
  }
}

/// Its checkpoints may be looked at, now that nobody can need more of them than its experiment's retention says.
void note_settled(ExperimentRecord& record, TrialNumber number) {
  const TrialRecord& trial = record.trials[number.number()];
  if (is_settled(trial) && trial.checkpoints && !trial.checkpoints->kept.empty()) {
    record.uncollected.insert(number);
  }
}

/// Applies one kind of event each; `world` is where, `event` is the envelope.
struct Applier {
  World& world;
  const Event& event;

  /// Whatever happens to an experiment goes through here, so that the scheduler looks after it.
  ExperimentRecord& experiment(ExperimentId id) const {
    ExperimentRecord& record = world.experiments.at(id);
    touch(world, record);
    return record;
  }

  void operator()(const ExperimentCreated& created) const {
    ParsedConfig parsed = parse_config(created.config, world.registry, "", 0);
    HPSEARCH_CHECK(parsed.config.has_value(), "a created experiment's config was checked");
    ExperimentRecord record;
    record.id = created.experiment;
    record.config = std::move(*parsed.config);
    record.effective = created.config;
    record.context_directory = created.context_directory;
    record.context_digest = created.context_digest;
    record.context_bytes = created.context_bytes;
    record.idempotency_key = created.idempotency_key;
    record.source = created.source;
    record.searcher = find_kind(world.registry, record.config.searcher.name)->make(record.config);
    record.hparams = HparamTable(record.config.space);
    record.created_at = event.at;
    if (!created.idempotency_key.empty()) {
      world.by_idempotency_key[created.idempotency_key] = created.experiment;
    }
    world.experiments.emplace(created.experiment, std::move(record));
    world.going.insert(created.experiment);
    experiment(created.experiment);
  }

  void operator()(const ExperimentPaused& paused) const {
    ExperimentRecord& record = experiment(paused.experiment);
    record.state = ExperimentState::paused;
    for (const TrialNumber number : record.running) {
      TrialRecord& trial = record.trials[number.number()];
      decide(trial, event.lsn, Directive::pause, trial.length);
    }
  }

  void operator()(const ExperimentResumed& resumed) const {
    experiment(resumed.experiment).state = ExperimentState::active;
  }

  void operator()(const LimitsChanged& changed) const {
    ExperimentRecord& record = experiment(changed.experiment);
    const SearcherConfig before = record.config.searcher;
    ParsedConfig parsed = parse_config(changed.config, world.registry, "", 0);
    HPSEARCH_CHECK(parsed.config.has_value(), "changed limits were checked");
    record.config = std::move(*parsed.config);
    if (!record.created_with) {
      record.created_with = std::move(record.effective);
    }
    record.effective = changed.config;
    tell_changes(record, before);
    pause_excess(record);
  }

  void operator()(const ExperimentStopping& stopping) const {
    ExperimentRecord& record = experiment(stopping.experiment);
    record.state = ExperimentState::stopping;
    record.stopping_as = stopping.target;
    record.stop_at_once = stopping.at_once;
    record.reason = stopping.reason;
    for (const TrialNumber number : record.running) {
      TrialRecord& trial = record.trials[number.number()];
      decide(trial, event.lsn, stopping.at_once ? Directive::kill : Directive::stop, trial.length);
    }
  }

  void operator()(const ExperimentEnded& ended) const {
    ExperimentRecord& record = experiment(ended.experiment);
    record.state = ended.state;
    record.reason = ended.reason;
    record.ended_at = event.at;
    world.going.erase(ended.experiment);
    // What was among the experiment's best for a while may be so no more.
    const bool anew = record.config.checkpoint_storage.retention.save_experiment_best > 0;
    for (std::uint64_t number = 0; anew && number < record.trials.size(); ++number) {
      note_settled(record, TrialNumber(number));
    }
    if (record.source) {  // It may be surplus where it came from.
      note_settled(experiment(record.source->experiment), record.source->trial);
    }
  }

  void operator()(const TrialCreated& created) const {
    ExperimentRecord& record = experiment(created.experiment);
    TrialRecord trial;
    trial.id = created.id;
    trial.length = created.length;
    trial.reason = created.reason;
    trial.created_at = event.at;
    record.trials.push_back(std::move(trial));
    record.hparams.push_back(created.hparams);
    record.pending.insert(created.trial);
    ++record.by_state[static_cast<std::size_t>(TrialState::pending)];
    world.last_trial_id = std::max(world.last_trial_id, created.id.number());
    record.searcher->hear(TrialWasCreated{created.trial, created.hparams, created.length});
  }

  void operator()(const TrialPromoted& promoted) const {
    ExperimentRecord& record = experiment(promoted.experiment);
    TrialRecord& trial = record.trials[promoted.trial.number()];
    const bool goes_back = !promoted.in_place && trial.state == TrialState::running;
    move(record, trial, goes_back ? TrialMove::run_again : TrialMove::promote);
    trial.length = promoted.length;
    trial.reason = promoted.reason;
    if (promoted.in_place) {
      decide(trial, event.lsn, Directive::train_on, promoted.length);
    } else {
      record.pending.insert(promoted.trial);
    }
    record.searcher->hear(TrialWasPromoted{promoted.trial, promoted.length});
  }

  void operator()(const LengthReached& reached) const {
    ExperimentRecord& record = experiment(reached.experiment);
    record.searcher->hear(TrialValidated{reached.trial, reached.length,
                                         Score::from_metric(reached.metric, record.config.searcher.goal())});
  }

  void operator()(const TrialPaused& paused) const {
    ExperimentRecord& record = experiment(paused.experiment);
    TrialRecord& trial = record.trials[paused.trial.number()];
    move(record, trial, TrialMove::pause);
    record.pending.erase(paused.trial);
    trial.reason = paused.reason;
    trial.awaits_resume = paused.reason.why == Reason::Why::user;
    if (!trial.awaits_resume) {
      decide(trial, event.lsn, Directive::pause, trial.length);
    }
  }

  void operator()(const TrialQueued& queued) const {
    ExperimentRecord& record = experiment(queued.experiment);
    TrialRecord& trial = record.trials[queued.trial.number()];
    move(record, trial, TrialMove::run_again);
    trial.awaits_resume = false;
    record.pending.insert(queued.trial);
  }

  void operator()(const TrialExitedEarly& exited) const {
    experiment(exited.experiment).searcher->hear(TrialExited{exited.trial, exited.exit});
  }

  void operator()(const TrialEnded& ended) const {
    ExperimentRecord& record = experiment(ended.experiment);
    TrialRecord& trial = record.trials[ended.trial.number()];
    switch (ended.state) {
      case TrialState::completed:
        move(record, trial, TrialMove::complete);
        break;
      case TrialState::failed:
        move(record, trial, TrialMove::fail);
        break;
      case TrialState::canceled:
        move(record, trial, TrialMove::cancel);
        break;
      case TrialState::stopped:
      case TrialState::pending:
      case TrialState::running:
      case TrialState::paused:
        move(record, trial, TrialMove::stop);
        break;
    }
    record.pending.erase(ended.trial);
    trial.reason = ended.reason;
    trial.ended_at = event.at;
    trial.mishaps.reset();
    note_settled(record, ended.trial);
    decide(trial, event.lsn, record.stop_at_once ? Directive::kill : Directive::stop, trial.length);
    const Reason::Why why = ended.reason.why;
    if (why != Reason::Why::early_exit && why != Reason::Why::user && why != Reason::Why::experiment_end) {
      record.searcher->hear(TrialWasClosed{ended.trial});
    }
  }

  void operator()(const LeaseGranted& granted) const {
    ExperimentRecord& record = experiment(granted.experiment);
    TrialRecord& trial = record.trials[granted.trial.number()];
    const LeaseId lease(event.lsn.number());
    const AttemptKey key{granted.experiment, granted.trial, granted.attempt, lease};
    move(record, trial, TrialMove::lease);
    LiveAttempt live;
    live.key = key;
    live.worker = granted.worker;
    live.slots = granted.slots;
    live.granted_length = granted.length;
    live.leased_at = event.at;
    live.checkpoint_at = event.at;
    live.origin = lease;
    if (!granted.others.empty()) {
      Gang& gang = live.gang.ensure();
      gang.port = granted.port;
      gang.members.push_back({granted.worker, granted.slots});
      for (const Place& other : granted.others) {
        gang.members.push_back({other.worker, other.slots});
      }
    }
    trial.attempts = static_cast<std::uint32_t>(granted.attempt.number());
    hold(record, trial, std::move(live));
  }

  void operator()(const AttemptAdopted& adopted) const {
    ExperimentRecord& record = experiment(adopted.key.experiment);
    TrialRecord& trial = record.trials[adopted.key.trial.number()];
    move(record, trial, TrialMove::lease);
    LiveAttempt live;
    if (trial.mishaps && trial.mishaps->lost && trial.mishaps->lost->known_as() == adopted.key) {
      live = std::move(*trial.mishaps->lost);
    } else {
      live.checkpoint_at = event.at;
    }
    live.key = adopted.key;
    live.key.lease = LeaseId(event.lsn.number());
    live.origin = adopted.key.lease;
    live.worker = adopted.worker;
    live.slots = adopted.slots;
    live.granted_length = adopted.length;
    live.applied_seq = adopted.upto;
    live.started = true;
    live.leased_at = event.at;
    trial.attempts = std::max(trial.attempts, static_cast<std::uint32_t>(adopted.key.attempt.number()));
    forget_lost(trial);
    hold(record, trial, std::move(live));
  }

  void operator()(const AttemptStarted& started) const {
    TrialRecord& trial = trial_of(world, started.key.experiment, started.key.trial);
    if (started.member == WorkerId{}) {
      trial.live->started = true;
    } else {
      trial.live->gang->member_on(started.member)->started = true;
    }
    forget_lost(trial);
  }

  void operator()(const ReportTaken& taken) const {
    ExperimentRecord& record = experiment(taken.key.experiment);
    TrialRecord& trial = record.trials[taken.key.trial.number()];
    trial.live->applied_seq = taken.seq;
    trial.live->last_digest = digest_of(taken.report);
    trial.last_seq = taken.seq;
    note_health(trial, taken);
    if (const auto* metrics = std::get_if<MetricsReport>(&taken.report)) {
      take_metrics(record, taken.key.trial, trial, *metrics);
    } else if (const auto* checkpoint = std::get_if<CheckpointReport>(&taken.report)) {
      take_checkpoint(trial, *checkpoint, record.config.searcher.goal());
      trial.live->checkpoint_at = event.at;
    } else if (const auto* exit = std::get_if<ExitReport>(&taken.report)) {
      const bool failed = is_failure(trial, *exit);
      if (failed) {
        count_failure(trial, *exit);
      }
      if (trial.live->gang) {
        const bool asked = is_ending(*trial.live);
        end_everywhere(trial, event.lsn,
                       failed                                   ? Gang::Ending::failed
                       : asked                                  ? Gang::Ending::asked_for
                       : exit->cause == ExitReport::Cause::lost ? Gang::Ending::lost
                                                                : Gang::Ending::by_itself,
                       *exit);
        leave_gang(record, trial, trial.live->worker, true);
        return;
      }
      trial.exited = true;
      release(world, record, taken.key.trial, event.at);
      note_settled(record, taken.key.trial);
    } else if (const auto* note = std::get_if<NoteReport>(&taken.report)) {
      take_note(record, taken.key, *note);
    }
  }

  void operator()(const MemberExited& exited) const {
    ExperimentRecord& record = experiment(exited.key.experiment);
    TrialRecord& trial = record.trials[exited.key.trial.number()];
    const bool well = exited.exit.cause == ExitReport::Cause::exited && exited.exit.code == 0;
    if (is_failure(trial, exited.exit)) {
      if (trial.live->applied_seq == 0) {
        note_crash(trial, exited.key, exited.worker);
      }
      const auto rank = trial.live->part_on(exited.worker)->rank;
      count_failure(trial, exited.exit, "rank " + std::to_string(rank) + ": ");
      end_everywhere(trial, event.lsn, Gang::Ending::failed, exited.exit);
    } else if (!well && !is_ending(*trial.live)) {  // It was interrupted, or its machine failed.
      const bool lost = exited.exit.cause == ExitReport::Cause::lost;
      end_everywhere(trial, event.lsn, lost ? Gang::Ending::lost : Gang::Ending::asked_for, exited.exit);
    }
    leave_gang(record, trial, exited.worker, true);
  }

  void operator()(const MemberLost& lost) const {
    ExperimentRecord& record = experiment(lost.key.experiment);
    TrialRecord& trial = record.trials[lost.key.trial.number()];
    end_everywhere(trial, event.lsn, Gang::Ending::lost, {});
    leave_gang(record, trial, lost.worker, false);
  }

  void operator()(const GangEnded& ended) const {
    ExperimentRecord& record = experiment(ended.key.experiment);
    TrialRecord& trial = record.trials[ended.key.trial.number()];
    trial.exited = trial.live->gang->members.front().exited;
    record.running.erase(ended.key.trial);
    trial.live.reset();
    note_settled(record, ended.key.trial);
  }

  void operator()(const AttemptLost& lost) const {
    ExperimentRecord& record = experiment(lost.key.experiment);
    TrialRecord& trial = record.trials[lost.key.trial.number()];
    if (lost.may_return && !(trial.mishaps && trial.mishaps->lost)) {
      trial.mishaps.ensure().lost = *trial.live;
    }
    release(world, record, lost.key.trial, event.at);
    note_settled(record, lost.key.trial);
  }

  void operator()(const CheckpointsCollected& collected) const {
    ExperimentRecord& record = experiment(collected.experiment);
    TrialRecord& trial = record.trials[collected.trial.number()];
    record.condemned.insert(record.condemned.end(), collected.paths.begin(), collected.paths.end());
    if (!trial.checkpoints) {
      return;
    }
    std::erase_if(trial.checkpoints->kept, [&collected](const KnownCheckpoint& checkpoint) {
      return std::find(collected.paths.begin(), collected.paths.end(), checkpoint.path) != collected.paths.end();
    });
    name_checkpoints(*trial.checkpoints, record.config.searcher.goal());
  }

  void operator()(const CheckpointsDeleted& deleted) const {
    std::erase_if(world.experiments.at(deleted.experiment).condemned, [&deleted](const std::string& path) {
      return std::find(deleted.paths.begin(), deleted.paths.end(), path) != deleted.paths.end();
    });
  }

  void operator()(const WorkerJoined& joined) const {
    WorkerRecord& worker = world.workers[joined.worker];
    world.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;  // None, if it is new.
    worker.id = joined.worker;
    worker.uid = joined.uid;
    worker.name = joined.name;
    worker.incarnation = joined.incarnation;
    worker.slot_kind = joined.slot_kind;
    worker.address = joined.address;
    worker.present = true;
    worker.devices = joined.devices;
    worker.pool = joined.pool;
    worker.labels = joined.labels;
    worker.slots = SlotLedger(joined.slots, shares_of(joined.devices));
    for (const AttemptKey& key : worker.attempts) {  // Kept ones only: the others were given up before.
      worker.slots.take(*trial_of(world, key.experiment, key.trial).live->part_on(joined.worker)->slots, key.lease);
    }
    for (const auto& [key, remains] : worker.remains) {
      if (!remains.released) {
        take_those_there(worker.slots, remains.slots, key.lease);
      }
    }
    withdraw_those(worker);
    world.worker_by_uid[joined.uid] = joined.worker;
    world.present_slots[worker.pool] += joined.slots;
    note_vacancy(world, worker);
    touch_all();
  }

  void operator()(const WorkerLost& lost) const {
    WorkerRecord& worker = world.workers.at(lost.worker);
    world.present_slots[worker.pool] -= worker.present ? worker.slots.total() : 0;
    worker.present = false;
    note_vacancy(world, worker);
    touch_all();
  }

  void operator()(const WorkerQuarantined& quarantined) const {
    WorkerRecord& worker = world.workers.at(quarantined.worker);
    worker.quarantined = quarantined.why;
    for (const auto& [id, number] : worker.quick_failures) {
      TrialRecord& trial = experiment(id).trials[number.number()];
      if (trial.restarts > 0 && !is_closed(trial.state)) {
        --trial.restarts;  // It was the worker's failure.
      }
    }
    worker.quick_failures.clear();
    note_vacancy(world, worker);
  }

  void operator()(const SlotsQuarantined& quarantined) const {
    WorkerRecord& worker = world.workers.at(quarantined.worker);
    worker.remains[quarantined.key] = SlotQuarantine{quarantined.slots};
    take_those_there(worker.slots, quarantined.slots, quarantined.key.lease);
    note_vacancy(world, worker);
    touch_all();
  }

  void operator()(const SlotsReleased& released) const {
    WorkerRecord& worker = world.workers.at(released.worker);
    const auto remains = worker.remains.find(released.key);
    worker.slots.release(remains->second.slots, released.key.lease);
    if (released.gone) {
      worker.remains.erase(remains);
    } else {
      remains->second.released = true;
    }
    note_vacancy(world, worker);
    touch_all();
  }

  void operator()(const SlotWithdrawn& withdrawn) const {
    WorkerRecord& worker = world.workers.at(withdrawn.worker);
    worker.withdrawn[withdrawn.slot] = WithdrawnSlot{withdrawn.why};
    worker.slots.withdraw(withdrawn.slot);
    note_vacancy(world, worker);
  }

  void operator()(const SlotRestored& restored) const {
    WorkerRecord& worker = world.workers.at(restored.worker);
    worker.slots.restore(restored.slot);
    if (restored.healthy) {
      worker.withdrawn.erase(restored.slot);
    } else {
      worker.withdrawn.at(restored.slot).released = true;
    }
    note_vacancy(world, worker);
    touch_all();
  }

  void operator()(const WorkerReleased& released) const {
    WorkerRecord& worker = world.workers.at(released.worker);
    worker.quarantined.clear();
    worker.quick_failures.clear();
    note_vacancy(world, worker);
    touch_all();
  }

 private:
  /// A worker may have come back with fewer slots.
  static void take_those_there(SlotLedger& ledger, const std::vector<SlotIndex>& slots, LeaseId lease) {
    for (const SlotIndex slot : slots) {
      if (slot.number() < ledger.total()) {
        ledger.take({slot}, lease);
      }
    }
  }

  /// The trial is its attempt's from now on.
  void hold(ExperimentRecord& record, TrialRecord& trial, LiveAttempt live) const {
    const TrialNumber number = live.key.trial;
    trial.last_lease = live.key.lease;
    trial.last_seq = live.applied_seq;
    trial.exited = false;
    auto waiting = record.pending.extract(number);  // Its node goes along.
    HPSEARCH_CHECK(!waiting.empty(), "what is leased was waiting");
    record.running.insert(std::move(waiting));
    if (record.first_lease_at == Instant{}) {
      record.first_lease_at = event.at;
    }
    if (live.gang) {
      for (const Gang::Member& member : live.gang->members) {
        take_slots(record, live.key, member.worker, member.slots);
      }
    } else {
      take_slots(record, live.key, live.worker, live.slots);
    }
    trial.live = std::move(live);
  }

  void take_slots(ExperimentRecord& record, const AttemptKey& key, WorkerId where,
                  const std::vector<SlotIndex>& slots) const {
    WorkerRecord& worker = world.workers.at(where);
    worker.slots.take(slots, key.lease);
    worker.attempts.insert(key);
    note_vacancy(world, worker);
    record.slot_time.change(static_cast<std::int64_t>(slots.size()), event.at);
  }

  /// One member is gone: what it has goes back, the attempt's others stay.
  void leave_gang(ExperimentRecord& record, TrialRecord& trial, WorkerId where, bool exited) const {
    Gang::Member& member = *trial.live->gang->member_on(where);
    member.gone = true;
    member.exited = exited;
    release_slots(world, record, trial, where, member.slots, event.at);
  }

  /// Another attempt has its place.
  static void forget_lost(TrialRecord& trial) {
    if (!trial.mishaps) {
      return;
    }
    trial.mishaps->lost.reset();
    if (trial.mishaps->crashes == 0) {
      trial.mishaps.reset();
    }
  }

  /// What a report says of its trial's and its worker's health. Before an exit releases them.
  void note_health(TrialRecord& trial, const ReportTaken& taken) const {
    const LiveAttempt& live = *trial.live;
    WorkerRecord& worker = world.workers.at(live.worker);
    const auto* exit = std::get_if<ExitReport>(&taken.report);
    if (std::holds_alternative<NoteReport>(taken.report)) {
      return;  // Garbled output is no sign of health.
    }
    if (exit == nullptr) {
      worker.quick_failures.clear();
      if (trial.mishaps) {
        trial.mishaps.reset();
      }
      return;
    }
    if (taken.seq == 1 && is_failure(trial, *exit)) {
      note_crash(trial, taken.key, live.worker);
    }
  }

  /// It failed there without a single report.
  void note_crash(TrialRecord& trial, const AttemptKey& key, WorkerId where) const {
    const LiveAttempt& live = *trial.live;
    WorkerRecord& worker = world.workers.at(where);
    Mishaps& mishaps = trial.mishaps.ensure();
    mishaps.crashed_elsewhere = mishaps.crashed_elsewhere || (mishaps.crashes > 0 && mishaps.crashed_on != where);
    mishaps.crashed_on = where;
    ++mishaps.crashes;
    constexpr Duration soon = Duration::seconds(60);
    constexpr std::size_t most = 64;
    if (event.at - live.leased_at <= soon && worker.quarantined.empty()) {
      if (worker.quick_failures.size() == most) {
        worker.quick_failures.erase(worker.quick_failures.begin());
      }
      worker.quick_failures.emplace_back(key.experiment, key.trial);
    }
  }

  static void tell_changes(ExperimentRecord& record, const SearcherConfig& before) {
    const SearcherConfig& now = record.config.searcher;
    Searcher& searcher = *record.searcher;
    if (now.on_duplicate != before.on_duplicate) {
      DuplicatesChanged changed;
      changed.reject = now.on_duplicate == OnDuplicate::reject;
      for (std::size_t trial = 0; changed.reject && trial < record.hparams.size(); ++trial) {
        changed.started.push_back(record.hparams[trial]);
      }
      searcher.hear(changed);
    }
    if (!(now.points_to_evaluate == before.points_to_evaluate)) {
      searcher.hear(PointsChanged{now.points_to_evaluate});
    }
    if (now.max_trials != before.max_trials) {
      searcher.hear(MaxTrialsChanged{now.max_trials});
    }
    if (now.max_concurrent_trials != before.max_concurrent_trials) {
      searcher.hear(MaxConcurrentTrialsChanged{now.max_concurrent_trials});
    }
  }

  /// Lower limits take hold at once: the trials leased last give their slots back, from a checkpoint if their
  /// programs write one, and wait.
  void pause_excess(ExperimentRecord& record) const {
    const SearcherConfig& searcher = record.config.searcher;
    const ResourcesConfig& resources = record.config.resources;
    std::uint64_t allowed = searcher.max_concurrent_trials > 0 ? searcher.max_concurrent_trials : UINT64_MAX;
    if (resources.max_slots && resources.slots_per_trial > 0) {
      allowed = std::min(allowed, *resources.max_slots / resources.slots_per_trial);
    }
    std::vector<TrialNumber> staying;
    for (const TrialNumber number : record.running) {
      const LiveAttempt& live = *record.trials[number.number()].live;
      if (!live.decision || live.decision->directive == Directive::train_on) {
        staying.push_back(number);
      }
    }
    std::sort(staying.begin(), staying.end(), [&record](TrialNumber a, TrialNumber b) {
      return record.trials[a.number()].last_lease < record.trials[b.number()].last_lease;
    });
    for (std::size_t i = staying.size(); i > allowed; --i) {
      TrialRecord& trial = record.trials[staying[i - 1].number()];
      decide(trial, event.lsn, Directive::pause, trial.length);
    }
  }

  /// With max_concurrent_trials 0, the slots there are bound every experiment.
  void touch_all() const {
    for (const ExperimentId id : world.going) {
      experiment(id);
    }
  }

  void take_metrics(ExperimentRecord& record, TrialNumber number, TrialRecord& trial,
                    const MetricsReport& report) const {
    trial.reached = std::max(trial.reached, report.step);
    trial.live->reached = std::max(trial.live->reached, report.step);
    const double* metric = find_metric(report.metrics, record.config.searcher.metric);
    if (metric == nullptr) {
      if (!trial.latest && !trial.other_metrics && !report.metrics.empty()) {
        std::string& names = trial.other_metrics.ensure();
        for (const auto& [name, value] : report.metrics) {
          names += (names.empty() ? "" : ", ") + name;
        }
      }
      return;
    }
    const Goal goal = record.config.searcher.goal();
    trial.other_metrics.reset();
    trial.latest = Measurement{report.step, *metric};
    if (std::isfinite(*metric) && (!trial.best || better(*metric, trial.best->metric, goal))) {
      trial.best = trial.latest;
      if (!record.best || *record.best == number ||
          better(*metric, record.trials[record.best->number()].best->metric, goal)) {
        record.best = number;
      }
    }
    if (trial.checkpoints && trial.checkpoints->latest_step == report.step) {
      rate_checkpoint(*trial.checkpoints, *metric, goal);
    }
    if (report.step < trial.length && trial.state == TrialState::running) {
      record.searcher->hear(TrialReported{number, report.step, Score::from_metric(*metric, goal)});
    }
  }

  /// Kinds are a worker's words, so their number is bounded here.
  static void take_note(ExperimentRecord& record, const AttemptKey& key, const NoteReport& note) {
    constexpr std::size_t most = 16;
    const auto known = std::find_if(record.notes.begin(), record.notes.end(),
                                    [&note](const ExperimentNote& old) { return old.about == note.about; });
    if (known != record.notes.end()) {
      ++known->attempts;
    } else if (record.notes.size() < most) {
      record.notes.push_back({note.about, note.text, key.trial, key.attempt});
    }
  }

  static void take_checkpoint(TrialRecord& trial, const CheckpointReport& checkpoint, Goal goal) {
    KnownCheckpoints& checkpoints = trial.checkpoints.ensure();
    // Saved once more at the same step, it lies at the same place.
    std::erase_if(checkpoints.kept, [&](const KnownCheckpoint& old) { return old.path == checkpoint.path; });
    checkpoints.kept.push_back({checkpoint.path, checkpoint.step, std::nullopt, checkpoint.files, checkpoint.bytes});
    name_checkpoints(checkpoints, goal);
    if (trial.latest && trial.latest->step == checkpoint.step) {
      rate_checkpoint(checkpoints, trial.latest->metric, goal);
    }
  }
};

}  // namespace

void touch(World& world, ExperimentRecord& record) {
  if (!record.on_agenda) {
    record.on_agenda = true;
    world.agenda.touched.push_back(record.id);
  }
}

void withdraw_those(WorkerRecord& worker) {
  for (const auto& [slot, withdrawn] : worker.withdrawn) {
    if (!withdrawn.released) {
      worker.slots.withdraw(slot);
    }
  }
}

void note_vacancy(World& world, const WorkerRecord& worker) {
  if (worker.present && worker.quarantined.empty() && !world.suspects.contains(worker.id)) {
    world.vacancies.put(worker.id, worker.slots.free(), worker.attempts.size());
  } else {
    world.vacancies.remove(worker.id);
  }
}

const double* find_metric(const Metrics& metrics, const std::string& name) noexcept {
  const auto found = std::lower_bound(metrics.begin(), metrics.end(), name,
                                      [](const auto& metric, const std::string& wanted) { return metric.first < wanted; });
  return found != metrics.end() && found->first == name ? &found->second : nullptr;
}

bool is_failure(const TrialRecord& trial, const ExitReport& exit) noexcept {
  constexpr int interrupted = 75;  // EX_TEMPFAIL of sysexits.h
  const bool asked = trial.live && trial.live->decision && trial.live->decision->directive != Directive::train_on;
  if (asked || trial.state != TrialState::running) {
    return false;
  }
  switch (exit.cause) {
    case ExitReport::Cause::exited:
      return exit.code != 0 && exit.code != interrupted;
    case ExitReport::Cause::signaled:
    case ExitReport::Cause::could_not_start:
    case ExitReport::Cause::out_of_memory:
    case ExitReport::Cause::no_progress:
      return true;
    case ExitReport::Cause::ended_by_agent:
    case ExitReport::Cause::lost:
      return false;
  }
  return false;
}

void apply(World& world, const Event& event) {
  world.last_lsn = event.lsn;
  world.last_instant = event.at;
  std::visit(Applier{world, event}, event.body);
}

}  // namespace hpsearch::engine
