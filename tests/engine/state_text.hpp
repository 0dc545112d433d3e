#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/engine/scheduler/explain.hpp"

namespace hpsearch::engine {

/// Writes everything that an engine keeps as text, to compare an engine that lived with one that replayed the
/// log. Each record is taken apart by its members, so that a new one is a compile error here. Of a searcher
/// it writes what can be asked of it. O(state).
class StateText {
 public:
  static std::string of(const Engine& engine) {
    StateText text;
    text.all(engine.last_lsn(), engine.last_instant(), engine.numbering().spans());
    text.out_ << '\n';
    for (const auto& [id, record] : engine.experiments()) {
      text.put(record);
    }
    for (const auto& [id, deleted] : engine.deleted()) {
      text.put(deleted);
      text.out_ << '\n';
    }
    for (const auto& [id, worker] : engine.workers()) {
      text.put(worker);
      text.out_ << '\n';
    }
    text.all(engine.forgotten_workers());
    for (const auto& [name, queue] : engine.queues()) {
      text.put(queue);
      text.out_ << '\n';
    }
    for (const auto& [name, workspace] : engine.workspaces()) {
      text.put(workspace);
      text.out_ << '\n';
    }
    return text.out_.str();
  }

 private:
  template <class... Parts>
  void all(const Parts&... parts) {
    (put(parts), ...);
  }

  void put(bool flag) { out_ << flag << ' '; }
  void put(std::uint64_t number) { out_ << number << ' '; }
  void put(std::uint32_t number) { out_ << number << ' '; }
  void put(std::int64_t number) { out_ << number << ' '; }
  void put(int number) { out_ << number << ' '; }
  void put(double number) { out_ << std::bit_cast<std::uint64_t>(number) << ' '; }  // A zero has a sign.
  void put(const std::string& text) { out_ << '"' << text << "\" "; }
  void put(const Value& value) { out_ << compact_json(value) << ' '; }
  void put(Units length) { put(count(length)); }
  void put(Instant at) { put(at.micros()); }
  void put(Duration time) { put(time.in_micros()); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { put(static_cast<std::uint64_t>(value)); }
  template <class Id>
  requires requires(const Id& id) { id.number(); }
  void put(const Id& id) { put(std::uint64_t{id.number()}); }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    all(pair.first, pair.second);
  }
  template <class Items>
  requires requires(const Items& items) {
    items.begin();
    typename Items::value_type;
  } &&(!std::is_same_v<Items, std::string>)void put(const Items& items) {
    out_ << '[';
    for (const auto& item : items) {
      put(item);
    }
    out_ << "] ";
  }
  template <class Maybe>
  requires requires(const Maybe& maybe) {
    static_cast<bool>(maybe);
    *maybe;
  }
  void put(const Maybe& maybe) {
    if (maybe) {
      put(*maybe);
    } else {
      out_ << "- ";
    }
  }

  void put(const AttemptKey& x) {
    const auto& [experiment, trial, attempt, lease] = x;
    all(experiment, trial, attempt, lease);
  }
  void put(const Decision& x) {
    const auto& [id, directive, length, may_finish] = x;
    all(id, directive, length, may_finish);
  }
  void put(const Measurement& x) {
    const auto& [step, metric] = x;
    all(step, metric);
  }
  void put(const KnownCheckpoint& x) {
    const auto& [path, step, metric, files, bytes] = x;
    all(path, step, metric, files, bytes);
  }
  void put(const KnownCheckpoints& x) {
    const auto& [kept, latest, latest_step, best, best_step, best_metric] = x;
    all(kept, latest, latest_step, best, best_step, best_metric);
  }
  void put(const ExitReport& x) {
    const auto& [cause, code, message, log_tail, unkillable] = x;
    all(cause, code, message, log_tail, unkillable);
  }
  void put(const Gang::Member& x) {
    const auto& [worker, slots, started, gone, exited] = x;
    all(worker, slots, started, gone, exited);
  }
  void put(const Gang& x) {
    const auto& [members, port, ending, exit, ended_by] = x;
    all(members, port, ending, exit, ended_by);
  }
  void put(const LiveAttempt& x) {
    const auto& [key, worker, slots, granted_length, began_at, first_step, reached, stride, went_on, measured,
                 started, reported, unlogged, applied_seq, decision, leased_at, slots_since, held_before,
                 lacks_time, checkpoint_at, saved, first_report_at, last_report_at, origin, last_digest,
                 external, gang] = x;
    all(key, worker, slots, granted_length, began_at, first_step, reached, stride, went_on, measured, started,
        reported, unlogged, applied_seq, decision, leased_at, slots_since, held_before, lacks_time,
        checkpoint_at, saved, first_report_at, last_report_at, origin, last_digest, external, gang);
  }
  void put(const ExternalLease& x) {
    const auto& [lease_for, request] = x;
    all(lease_for, request);
  }
  void put(const AttemptSpan& x) {
    const auto& [from, to, trial, attempt, worker, slot, end] = x;
    all(from, to, trial, attempt, worker, std::uint32_t{slot}, end);
  }
  void put(const BestPoint& x) {
    const auto& [trial, step, metric, at, slot_time, trials] = x;
    all(trial, step, metric, at, slot_time, trials);
  }
  void put(const FailureHistory& x) {
    const auto& [lost, crashes, crashed_on, marked_on, anywhere, fruitless, culprit, why, not_before, way,
                 alike, alike_on, elsewhere] = x;
    all(lost, crashes, crashed_on, marked_on, anywhere, fruitless, culprit, why, not_before, way, alike,
        alike_on, elsewhere);
  }
  void put(const FailureCauses::Cause& x) {
    const auto& [kind, why, attempts, trial] = x;
    all(kind, why, attempts, trial);
  }
  void put(const Annotation& x) { all(x.note, x.labels, x.starred); }
  void put(const FirstFailures& x) {
    const auto& [failed, alike, way, why, worker, elsewhere, reported, over, unmeasured, not_finite,
                 not_finite_known, got_on, first_start] = x;
    all(failed, alike, way, why, worker, elsewhere, reported, over, unmeasured, not_finite, not_finite_known,
        got_on, first_start);
  }
  void put(const Reason& x) {
    const auto& [why, bracket, rung, rank, size, keep, cutoff, detail, near, near_rank, results, spread,
                 expected, at, value] = x;
    all(why, bracket, rung, rank, size, keep, cutoff, detail, near, near_rank, results, spread, expected, at,
        value);
  }
  void put(const ExpectedResult& x) {
    const auto& [mean, deviation, log_improvement, correlation, nearest] = x;
    all(mean, deviation, log_improvement, correlation, nearest);
  }
  void put(const TrialRecord& x) {
    const auto& [id, length, reached, trained, latest, best, reason, live, failures, checkpoints,
                 other_metrics, last_failure, last_lease, last_seq, created_at, ended_at, best_at, busy,
                 attempts, restarts, state, awaits_resume, invalid, exited, from_zero, best_is_recent,
                 trains_no_further, trained_unreported, ran_unlogged, curve_thinned] = x;
    static_cast<void>(reason);
    all(id, length, reached, trained, latest, best, reason_of(x), live, failures, checkpoints, other_metrics,
        last_failure, last_lease, last_seq, created_at, ended_at, best_at, busy, attempts, restarts, state,
        awaits_resume, invalid, exited, from_zero, best_is_recent, trains_no_further, trained_unreported,
        ran_unlogged, curve_thinned);
  }
  void put(const ExperimentNote& x) {
    const auto& [about, note, trial, attempt, attempts] = x;
    all(about, note, trial, attempt, attempts);
  }
  void put(const ProgramChange& x) {
    const auto& [from, also, digest, bytes, changed, at] = x;
    all(from, also, digest, bytes, changed, at);
  }
  void put(const GitState& x) {
    const auto& [commit, branch, dirty] = x;
    all(commit, branch, dirty);
  }
  void put(const SourceCheckpoint& x) {
    const auto& [experiment, trial, step, path] = x;
    all(experiment, trial, step, path);
  }
  void put(const Quota& x) {
    const auto& [slots, slots_per_user, active, trials, context_bytes, slot_hours] = x;
    all(slots, slots_per_user, active, trials, context_bytes, slot_hours);
  }
  void put(const WorkspaceRecord::StoredContext& x) { all(x.bytes, x.uses); }
  void put(const WorkspaceRecord& x) {
    const auto& [name, created_at, creator, quota, experiments, active, slots, slots_of, slot_time, contexts,
                 context_bytes, held_back] = x;
    static_cast<void>(held_back);  // The scheduler's own mark.
    all(name, created_at, creator, quota, experiments, active, slots, slots_of, slot_time, contexts,
        context_bytes);
  }
  void put(const SlotTime& x) { all(x.slots(), x.since(), x.until(x.since())); }
  void put(const DeletedExperiment& x) {
    const auto& [id, name, workspace, owner, created_at, deleted_at, kept_for, trials, rows_removed,
                 slot_time, condemned, effective] = x;
    all(id, name, workspace, owner, created_at, deleted_at, kept_for, trials, rows_removed, slot_time,
        condemned, effective);
  }
  void put(const ExperimentRecord& x) {
    all(x.id, x.state, x.archived, to_value(x.config), x.effective, x.created_with, x.context_directory,
        x.context_digest, x.context_bytes, x.idempotency_key, x.owner, x.git, x.source, x.pending, x.running,
        x.by_state, x.best, x.stopping_as, x.stop_at_once, x.reason, x.first_failures,
        x.failure_causes.causes(), x.annotation, x.trial_annotations, x.notes, x.counts_from_zero,
        x.unreported, x.ran_unlogged, x.ahead, x.created_at, x.ended_at, x.first_lease_at, x.uncounted,
        x.last_release_at, x.slot_time, x.condemned, x.programs, x.created_by, x.changed_by, x.best_history,
        x.spans, x.workspace->name, x.good_starts, x.worked_elsewhere, x.pace.starts.values(),
        x.pace.units.values(), x.pace.strides.values());
    out_ << '\n';
    put(*x.searcher);
    out_ << '\n';
    for (std::size_t i = 0; i < x.trials.size(); ++i) {
      put(x.hparams[i]);
      put(x.trials[i]);
      if (x.trials[i].state == TrialState::paused && !x.trials[i].awaits_resume) {
        const Outlook outlook = x.searcher->outlook(TrialNumber(i));
        all(x.searcher->standing(TrialNumber(i)), outlook.ahead, outlook.results_to_come, outlook.exhausted);
      }
      out_ << '\n';
    }
  }
  void put(const Searcher& searcher) {
    put(searcher.progress());
    for (const TrialNumber number : searcher.closable()) {
      put(number);
    }
    const Next next = searcher.next();
    put(next.index());
    if (const auto* create = std::get_if<CreateTrial>(&next)) {
      all(create->trial, create->hparams, create->length, create->reason);
    } else if (const auto* promote = std::get_if<PromoteTrial>(&next)) {
      all(promote->trial, promote->length, promote->reason);
    } else if (const auto* finished = std::get_if<Finished>(&next)) {
      all(finished->problem, finished->note);
    }
  }
  void put(const SlotQuarantine& x) {
    const auto& [slots, released] = x;
    all(slots, released);
  }
  void put(const WithdrawnSlot& x) {
    const auto& [why, released] = x;
    all(why, released);
  }
  void put(const SlotDevice& x) {
    const auto& [uuid, name, index, memory_bytes] = x;
    all(uuid, name, index, memory_bytes);
  }
  void put(const Numbering::Span& x) {
    const auto& [behind, from] = x;
    all(behind, from);
  }
  void put(const SlotLedger& x) { all(x.total(), x.held(), x.free()); }
  void put(const Quarantine& x) {
    const auto& [from, to] = x;
    all(from, to);
  }
  void put(const WorkerMark& x) {
    const auto& [experiment, trial, at, worked_elsewhere] = x;
    all(experiment, trial, at, worked_elsewhere);
  }
  void put(const FailedStart& x) {
    const auto& [experiment, trial, evicted] = x;
    all(experiment, trial, evicted);
  }
  void put(const Probation& x) {
    const auto& [times, attempt] = x;
    all(times, attempt);
  }
  void put(const ForgottenWorker& x) {
    const auto& [name, quarantines] = x;
    all(name, quarantines);
  }
  void put(const WorkerRecord& x) {
    const auto& [id, uid, name, incarnation, slot_kind, address, present, slots, attempts, unslotted,
                 max_unslotted, quarantined, quarantines, draining, probation, marks, failed_starts,
                 start_failures, last_start_failure, rests_until, leaked, adopted, disowned, devices, pool,
                 labels, lost_at, may_return, withdrawn, taken, allocation, end] = x;
    static_cast<void>(taken);  // Not in the log.
    all(id, uid, name, incarnation, slot_kind, address, present, slots, attempts, unslotted, max_unslotted,
        quarantined, quarantines, draining, probation, marks, failed_starts, start_failures,
        last_start_failure, rests_until, leaked, adopted, disowned, devices, pool, labels, lost_at,
        may_return, withdrawn, allocation, end);
  }
  void put(const WorkerEnd& x) {
    const auto& [at, gives_back_at, since] = x;
    all(at, gives_back_at, since);
  }
  void put(const QueueSettings& x) {
    const auto& [backend, arguments, time_limit, workers, backlog, max_workers, slots, idle_timeout,
                 give_back, min_utilization, pool, labels, state_root, before, after, wrap] = x;
    all(backend, arguments, time_limit, workers, backlog, max_workers, slots, idle_timeout, give_back,
        min_utilization, pool, labels, state_root, before, after, wrap);
  }
  void put(const AllocationName& x) { put(text_of(x)); }
  void put(const AllocationRecord& x) {
    const auto& [name, workers, key, state, job, canceling, will_not_start, joined, was_idle, ran_out,
                 wanted_at, started_at, ended_at, end, detail] = x;
    all(name, workers, key, state, job, canceling, will_not_start, joined, was_idle, ran_out, wanted_at,
        started_at, ended_at, end, detail);
  }
  void put(const QueueRecord& x) {
    const auto& [name, settings, state, why, creator, created_at, failures, last_failure, rests_until,
                 seen_slots, allocations] = x;
    all(name, settings, state, why, creator, created_at, failures, last_failure, rests_until, seen_slots,
        allocations);
  }

  std::ostringstream out_;
};

inline std::string state_text(const Engine& engine) {
  return StateText::of(engine);
}

}  // namespace hpsearch::engine
