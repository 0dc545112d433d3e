#include <string>

#include "applier.hpp"
#include "event_checks.hpp"
#include "experiment/trials/first_failures.hpp"
#include "experiment/trials/trained_length.hpp"

namespace hpsearch::engine {

void Applier::end_everywhere(TrialRecord& trial, WorkerId where, Gang::Ending ending,
                             const ExitReport& exit) const {
  Gang& gang = *trial.live->gang;
  const bool explains = ending == Gang::Ending::lost && gang.ending == Gang::Ending::failed;
  if (gang.ending != Gang::Ending::none && !explains) {
    return;
  }
  gang.ending = ending;
  gang.exit = exit;
  gang.ended_by = where;
  // Without one of them the others can only wait for it; but a member that has to pause may be saving its
  // state.
  const bool has_failed = ending == Gang::Ending::failed || ending == Gang::Ending::lost;
  if (!trial.live->is_ending()) {
    decide(trial, decision_id(), has_failed ? Directive::kill : Directive::stop);
  }
}

void Applier::end_by_first_rank(TrialRecord& trial, const ExitReport& exit, bool failed) const {
  const bool asked = trial.live->is_ending();
  end_everywhere(trial, trial.live->worker,
                 failed                                  ? Gang::Ending::failed
                 : exit.cause == ExitReport::Cause::lost ? Gang::Ending::lost
                 : asked                                 ? Gang::Ending::asked_for
                                                         : Gang::Ending::by_itself,
                 exit);
}

void Applier::leave_gang(ExperimentRecord& record, TrialRecord& trial, WorkerId where, bool exited,
                         AttemptEnd end) const {
  Gang::Member& member = *trial.live->gang->member_on(where);
  member.gone = true;
  member.exited = exited;
  release_slots(record, trial, where, member.slots, end);
}

void apply(const Applier& applier, const MemberExited& exited) {
  ExperimentRecord& record = applier.experiment(exited.key.experiment);
  TrialRecord& trial = record.trials[exited.key.trial.number()];
  const AttemptEnd end = end_of(record, trial, exited.exit);
  const bool well = exited.exit.cause == ExitReport::Cause::exited && exited.exit.code == 0;
  if (is_failure(trial, exited.exit)) {
    applier.end_everywhere(trial, exited.worker, Gang::Ending::failed, exited.exit);
  } else if (exited.exit.cause == ExitReport::Cause::lost) {
    applier.end_everywhere(trial, exited.worker, Gang::Ending::lost, exited.exit);
  } else if (!well && !trial.live->is_ending()) {  // It was interrupted.
    applier.end_everywhere(trial, exited.worker, Gang::Ending::asked_for, exited.exit);
  }
  applier.leave_gang(record, trial, exited.worker, true, end);
}

std::string problem_with(const EventChecks& checks, const MemberExited& exited) {
  return checks.member(exited.key, exited.worker);
}

void apply(const Applier& applier, const MemberLost& lost) {
  ExperimentRecord& record = applier.experiment(lost.key.experiment);
  TrialRecord& trial = record.trials[lost.key.trial.number()];
  applier.end_everywhere(trial, lost.worker, Gang::Ending::lost, {});
  applier.leave_gang(record, trial, lost.worker, false, AttemptEnd::lost);
}

std::string problem_with(const EventChecks& checks, const MemberLost& lost) {
  return checks.member(lost.key, lost.worker);
}

void apply(const Applier& applier, const GangEnded& ended) {
  ExperimentRecord& record = applier.experiment(ended.key.experiment);
  TrialRecord& trial = record.trials[ended.key.trial.number()];
  const Gang& gang = *trial.live->gang;
  if (gang.ending == Gang::Ending::failed) {
    const auto rank = static_cast<std::size_t>(gang.member_on(gang.ended_by) - gang.members.data());
    count_failure(trial, gang.exit, rank == 0 ? "" : "rank " + std::to_string(rank) + ": ");
    note_failure(applier.state, record, trial, gang.exit, gang.ended_by);
    const std::uint64_t exits = gang.members.front().exited ? 1 : 0;
    if (trial.live->applied_seq == exits) {
      applier.note_crash(trial, ended.key, gang.ended_by, gang.exit);
    }
  }
  trial.exited = gang.members.front().exited;
  finish_training(record, trial);
  record.running.erase(ended.key.trial);
  trial.live.reset();
  note_settled(record, ended.key.trial);
}

std::string problem_with(const EventChecks& checks, const GangEnded& ended) {
  const std::string missing = checks.live(ended.key);
  if (!missing.empty()) {
    return missing;
  }
  const LiveAttempt& attempt = *checks.find(ended.key.experiment, ended.key.trial)->live;
  return attempt.gang && attempt.gang->all_gone() ? "" : "not all of its members are gone";
}

}  // namespace hpsearch::engine
