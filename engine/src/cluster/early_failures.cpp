// Marks: trials that failed on a worker soon after their start and without a report. Which of them speak
// against the worker is found out when the same trials run elsewhere.

#include <algorithm>

#include "applier.hpp"

namespace hpsearch::engine {
namespace {

constexpr Duration soon = Duration::seconds(60);
constexpr std::size_t most_marks = 64;

void take_back(EngineState& state, WorkerId where, const AttemptKey& key) {
  if (const auto worker = state.workers.find(where); worker != state.workers.end()) {
    std::erase_if(worker->second.marks, [&key](const WorkerMark& mark) {
      return mark.experiment == key.experiment && mark.trial == key.trial;
    });
  }
}

/// It may get leases, or has this one because it is on probation.
bool is_judged_by(const WorkerRecord& worker, const AttemptKey& key) {
  return worker.quarantined.empty() || (worker.probation && worker.probation->attempt == key);
}

/// An attempt that was leased after a failure began well: what failed before does not come from the worker.
void forget_marks_before(WorkerRecord& worker, LeaseId lease) {
  std::erase_if(worker.marks, [lease](const WorkerMark& mark) { return mark.at.number() < lease.number(); });
}

/// With codes of sysexits.h a worker says that it didn't even try: EX_NOPERM, it starts no programs of that
/// user; EX_CONFIG, the experiment is wrong. Trials of others run there as before.
bool is_about_submission(const ExitReport& exit) noexcept {
  constexpr int refuses_submitter = 77;
  constexpr int same_everywhere = 78;
  return exit.cause == ExitReport::Cause::could_not_start &&
         (exit.code == refuses_submitter || exit.code == same_everywhere);
}

}  // namespace

void Applier::note_crash(TrialRecord& trial, const AttemptKey& key, WorkerId where,
                         const ExitReport& exit) const {
  FailureHistory& history = trial.failure_history.ensure();
  history.crashed_on = where;
  ++history.crashes;
  const auto found = state.workers.find(where);
  if (found == state.workers.end() || is_about_submission(exit) || event.at - trial.live->leased_at > soon ||
      history.crashes_anywhere || history.marked_on == where || !is_judged_by(found->second, key)) {
    return;
  }
  if (history.marked_on != WorkerId{}) {
    take_back(state, history.marked_on, key);
    history.marked_on = WorkerId{};
    history.crashes_anywhere = true;
    return;
  }
  std::vector<WorkerMark>& marks = found->second.marks;
  if (marks.size() == most_marks) {
    marks.erase(marks.begin());
  }
  marks.push_back({key.experiment, key.trial, decision_id()});
  history.marked_on = where;
}

void Applier::note_good_report(ExperimentRecord& record, const TrialRecord& trial) const {
  const LiveAttempt& live = *trial.live;
  record.good_starts += live.reported ? 0U : 1U;
  forget_marks_before(state.workers.at(live.worker), live.origin);
  for (std::size_t rank = 1; live.gang && rank < live.gang->members.size(); ++rank) {
    forget_marks_before(state.workers.at(live.gang->members[rank].worker), live.origin);
  }
  const WorkerId marked_on = trial.failure_history ? trial.failure_history->marked_on : WorkerId{};
  const auto marked = state.workers.find(marked_on);
  if (marked == state.workers.end()) {
    return;
  }
  if (live.part_on(marked_on)) {
    take_back(state, marked_on, live.key);
    return;
  }
  for (WorkerMark& mark : marked->second.marks) {
    if (mark.experiment == live.key.experiment && mark.trial == live.key.trial) {
      mark.worked_elsewhere = true;
      ++record.worked_elsewhere[marked_on];
    }
  }
}

}  // namespace hpsearch::engine
