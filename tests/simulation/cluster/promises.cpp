#include "simulation/cluster/promises.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "engine/state_text.hpp"
#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "simulation/cluster/faults/probes.hpp"
#include "simulation/invariants.hpp"

namespace hpsearch::simulation {
namespace {

using engine::AttemptKey;
using engine::Lsn;

constexpr engine::Duration longest_rest = engine::Duration::seconds(60);

std::string spelled(const AttemptKey& key) {
  return "experiment " + std::to_string(key.experiment.number()) + " trial " +
         std::to_string(key.trial.number()) + " attempt " + std::to_string(key.attempt.number()) + " lease " +
         std::to_string(key.lease.number());
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) {
    ++at;
  }
  const auto line = [at](const std::string& text) {
    const std::size_t before = text.rfind('\n', at);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    return text.substr(start, text.find('\n', at) - start);
  };
  return "\n  " + line(a) + "\n  " + line(b);
}

}  // namespace

Promises::Promises(VirtualTime& time) : time_(time), fold_(searchers::registry()) {
}

void Promises::break_because(const std::string& what) {
  if (broken_.empty()) {
    broken_ = what + " (at " + std::to_string(time_.now().micros() / 1'000) + " ms, lsn " +
              std::to_string(durable_.number()) + ")";
  }
}

bool Promises::over(const AttemptKey& key) const {
  const auto found = attempts_.find(key);
  if (found == attempts_.end()) {
    return false;
  }
  const auto current = current_.find({key.experiment, key.trial});
  return found->second.lost || found->second.exited || (current != current_.end() && current->second != key);
}

void Promises::daemon_began() {
  daemon_began_ = time_.now();
  ++daemons_;
}

void Promises::daemon_ended() {
  ran_ = ran_until(engine::Duration{});
  daemon_began_.reset();
}

engine::Duration Promises::ran_until(engine::Duration ago) const {
  const engine::Duration of_this_one = daemon_began_ ? time_.now() - *daemon_began_ : engine::Duration{};
  return engine::Duration::micros(ran_.in_micros() + of_this_one.in_micros() - ago.in_micros());
}

/// Whatever the wall clock showed while it ran, or at a start: nobody loses time that no daemon has used.
void Promises::check_budget(const engine::ExperimentStopping& stopping) {
  const engine::ExperimentRecord* record = fold_.find(stopping.experiment);
  const auto times = budget_times_.find(stopping.experiment);
  if (record == nullptr || times == budget_times_.end() || !times->second.end ||
      !stopping.reason.starts_with("budget.max_time")) {
    return;
  }
  if (daemons_ > times->second.daemons) {
    reached(Probe::budget_of_time_over_several_starts);
  }
  const std::int64_t ran = times->second.end->in_micros() - times->second.begin.in_micros();
  // A daemon that stood still between an event and its commit dates the event by a clock that is late.
  constexpr std::int64_t tolerance = 60'000'000;
  if (ran < record->config.budget.max_time->in_micros() - tolerance) {
    break_because("I9: experiment " + std::to_string(stopping.experiment.number()) + " had " +
                  std::to_string(ran / 1'000'000) + " s with a daemon, and its budget.max_time of " +
                  std::to_string(record->config.budget.max_time->in_micros() / 1'000'000) + " s is over");
  }
}

void Promises::offered(std::span<const engine::Event> events, engine::Instant clock) {
  for (const engine::Event& event : events) {
    if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
      const engine::ExperimentRecord* record = fold_.find(granted->experiment);
      if (record == nullptr || record->first_lease_at == engine::Instant{}) {
        // One that this daemon offered before is on its way to the disk; one of an earlier daemon is lost.
        const auto known = budget_times_.find(granted->experiment);
        if (known == budget_times_.end() || known->second.daemons != daemons_) {
          budget_times_.insert_or_assign(granted->experiment,
                                         BudgetTime{ran_until(clock - event.at), daemons_, std::nullopt});
        }
      }
    } else if (const auto* stopping = std::get_if<engine::ExperimentStopping>(&event.body)) {
      if (const auto times = budget_times_.find(stopping->experiment); times != budget_times_.end()) {
        times->second.end = ran_until(clock - event.at);
      }
    }
  }
  held_and_known_.clear();
  members_held_and_heard_.clear();
  std::map<AttemptKey, AttemptKey> adopted_here;
  for (const engine::Event& event : events) {
    if (const auto* adopted = std::get_if<engine::AttemptAdopted>(&event.body)) {
      AttemptKey key = adopted->key;
      key.lease = engine::LeaseId(event.lsn.number());
      adopted_here[key] = adopted->key;
    } else if (const auto* lost = std::get_if<engine::AttemptLost>(&event.body)) {
      const auto here = adopted_here.find(lost->key);
      const auto known = attempts_.find(lost->key);
      const AttemptKey& origin = here != adopted_here.end() ? here->second
                                 : known != attempts_.end() ? known->second.origin
                                                            : lost->key;
      // The disk may have been slow, and what was heard meanwhile came too late.
      const engine::Duration since = clock - event.at;
      if (witness_.held_and_known(origin, "",
                                  engine::Instant::from_micros(time_.now().micros() - since.in_micros()))) {
        held_and_known_.insert(lost->key);
      }
    } else if (const auto* member = std::get_if<engine::MemberLost>(&event.body)) {
      const engine::Duration since = clock - event.at;
      if (witness_.held_and_known(member->key, uid_of(member->worker),
                                  engine::Instant::from_micros(time_.now().micros() - since.in_micros()))) {
        members_held_and_heard_.insert({member->key, member->worker});
      }
    }
  }
}

void Promises::committed(std::span<const engine::Event> events) {
  for (const engine::Event& event : events) {
    if (event.lsn.number() != durable_.number() + 1) {
      break_because("I4: event " + std::to_string(event.lsn.number()) + " was stored after event " +
                    std::to_string(durable_.number()));
      return;
    }
    durable_ = event.lsn;
    if (event.at < newest_) {
      break_because("I4: event " + std::to_string(event.lsn.number()) + " is older than the one before it");
      return;
    }
    newest_ = event.at;
    note(event);
    if (const engine::Status taken = fold_.replay(event); !taken) {
      break_because("I4: the log does not fold: " + taken.error().message);
      return;
    }
    check_rests(event);
    if (const std::string beyond = engine::broken_limit(fold_, &event); !beyond.empty()) {
      break_because("after event " + std::to_string(event.lsn.number()) + ": " + beyond);
    }
  }
}

void Promises::note(const engine::Event& event) {
  const std::string kind(proto::type_of(event.body));
  ++kinds_[kind];
  if (tell_) {
    tell_("event " + std::to_string(event.lsn.number()) + " " + kind +
          std::visit(
              [](const auto& body) -> std::string {
                if constexpr (requires { body.key.experiment; }) {
                  return " of " + spelled(body.key);
                } else if constexpr (requires { body.trial.number(); }) {
                  return " of experiment " + std::to_string(body.experiment.number()) + " trial " +
                         std::to_string(body.trial.number());
                } else {
                  return "";
                }
              },
              event.body));
  }
  const auto mix = [this](std::uint64_t value) { digest_ = (digest_ ^ value) * 1099511628211U; };
  mix(event.lsn.number());
  mix(static_cast<std::uint64_t>(event.at.micros()));
  mix(event.body.index());
  if (const auto* granted = std::get_if<engine::LeaseGranted>(&event.body)) {
    note(*granted, event.lsn);
    check_time(*granted, event.at);
  } else if (const auto* taken = std::get_if<engine::ReportTaken>(&event.body)) {
    mix(taken->seq);
    mix(taken->key.lease.number());
    count_fruitless(*taken);
    note(*taken);
  } else if (const auto* lost = std::get_if<engine::AttemptLost>(&event.body)) {
    ++fruitless_[{lost->key.experiment, lost->key.trial}];
    note(*lost);
  } else if (const auto* exited = std::get_if<engine::MemberExited>(&event.body)) {
    note(*exited);
  } else if (const auto* member = std::get_if<engine::MemberLost>(&event.body)) {
    note(*member);
  } else if (const auto* delayed = std::get_if<engine::StartDelayed>(&event.body)) {
    note(*delayed);
  } else if (std::holds_alternative<engine::SlotWithdrawn>(event.body)) {
    reached(Probe::slot_withdrawn);
  } else if (const auto* restored = std::get_if<engine::SlotRestored>(&event.body)) {
    if (restored->healthy) {
      reached(Probe::slot_well_again);
    }
  } else if (const auto* gang = std::get_if<engine::GangEnded>(&event.body)) {
    ++fruitless_[{gang->key.experiment, gang->key.trial}];
    note(*gang);
  } else if (const auto* adopted = std::get_if<engine::AttemptAdopted>(&event.body)) {
    note(*adopted, event.lsn);
  } else if (const auto* started = std::get_if<engine::AttemptStarted>(&event.body)) {
    if (const auto found = attempts_.find(started->key); found != attempts_.end()) {
      if (started->member == engine::WorkerId{}) {
        found->second.started = true;
      }
      for (Attempt::Member& other : found->second.others) {
        other.started = other.started || other.worker == started->member;
      }
    }
  } else if (const auto* gone = std::get_if<engine::WorkerLost>(&event.body)) {
    lost_workers_.insert(gone->worker);
    if (gone->why == "asked to stop") {
      reached(Probe::stopped_worker_said_goodbye);
    }
  } else if (const auto* joined = std::get_if<engine::WorkerJoined>(&event.body)) {
    if (lost_workers_.erase(joined->worker) > 0) {
      reached(Probe::worker_back_after_it_was_lost);
    }
    if (joined->uid == who_has_seen_a_later_daemon) {
      break_because("I3: a worker that has seen a later start of the daemon is welcome");
    }
  } else if (std::holds_alternative<engine::SlotsQuarantined>(event.body)) {
    reached(Probe::slots_quarantined);
  } else if (const auto* freed = std::get_if<engine::SlotsReleased>(&event.body)) {
    if (freed->gone) {
      reached(Probe::slots_of_the_unkillable_given_back);
    }
    if (freed->gone && witness_.running(freed->key, uid_of(freed->worker))) {
      break_because("I6: slots of " + spelled(freed->key) + " are given back, and it runs");
    }
  } else if (const auto* quarantined = std::get_if<engine::WorkerQuarantined>(&event.body)) {
    note(*quarantined);
  } else if (const auto* forgotten = std::get_if<engine::WorkerForgotten>(&event.body)) {
    note(*forgotten);
  } else if (const auto* released = std::get_if<engine::WorkerReleased>(&event.body)) {
    quarantined_.erase(released->worker);
  } else if (const auto* paused = std::get_if<engine::TrialPaused>(&event.body)) {
    trial_told_to_end_[{paused->experiment, paused->trial}] = event.lsn;
  } else if (const auto* ended = std::get_if<engine::TrialEnded>(&event.body)) {
    trial_told_to_end_[{ended->experiment, ended->trial}] = event.lsn;
    if (ended->reason.detail.find("attempts in a row ended without a report") != std::string::npos &&
        fruitless_[{ended->experiment, ended->trial}] < engine::most_fruitless_attempts) {
      break_because("I11: experiment " + std::to_string(ended->experiment.number()) + " trial " +
                    std::to_string(ended->trial.number()) + " fails by " +
                    std::to_string(fruitless_[{ended->experiment, ended->trial}]) +
                    " attempts that its workers did not end");
    }
  } else if (const auto* halted = std::get_if<engine::ExperimentPaused>(&event.body)) {
    experiment_told_to_end_[halted->experiment] = event.lsn;
    if (!halted->reason.empty()) {
      reached(Probe::search_paused_itself);
    }
    if (!halted->reason.empty() && got_somewhere_.contains(halted->experiment)) {
      break_because("I10: experiment " + std::to_string(halted->experiment.number()) +
                    " paused itself, and a trial of it had reached a length");
    }
  } else if (const auto* length = std::get_if<engine::LengthReached>(&event.body)) {
    if (length->metric && std::isfinite(*length->metric)) {
      got_somewhere_.insert(length->experiment);
    }
  } else if (const auto* stopping = std::get_if<engine::ExperimentStopping>(&event.body)) {
    experiment_told_to_end_[stopping->experiment] = event.lsn;
    check_budget(*stopping);
  } else if (const auto* limits = std::get_if<engine::LimitsChanged>(&event.body)) {
    experiment_told_to_end_[limits->experiment] = event.lsn;  // Lower limits ask running trials to give way.
  } else if (const auto* created = std::get_if<engine::ExperimentCreated>(&event.body)) {
    if (!created->idempotency_key.empty() && !idempotency_keys_.insert(created->idempotency_key).second) {
      break_because("I2: one submission made two experiments");
    }
  }
}

void Promises::note(const engine::LeaseGranted& granted, Lsn lsn) {
  const AttemptKey key{granted.experiment, granted.trial, granted.attempt, engine::LeaseId(lsn.number())};
  const Place place{granted.experiment, granted.trial};
  if (const auto before = current_.find(place); before != current_.end()) {
    const Attempt& old = attempts_.at(before->second);
    if (old.lost) {
      reached(Probe::trial_lost_and_run_again);
    }
    if (!old.lost && !old.exited) {
      break_because("I3: " + spelled(key) + " is leased while " + spelled(before->second) + " is not over");
    }
  }
  check_place(key, granted.worker, granted.slots);
  for (const engine::Place& other : granted.others) {
    check_place(key, other.worker, other.slots);
  }
  current_[place] = key;
  Attempt attempt;
  attempt.worker = granted.worker;
  attempt.slots = granted.slots;
  attempt.origin = key;
  for (const engine::Place& other : granted.others) {
    reached(Probe::attempt_on_several_workers);
    attempt.others.push_back({other.worker, other.slots});
  }
  attempts_[key] = std::move(attempt);
}

void Promises::check_time(const engine::LeaseGranted& granted, engine::Instant at) {
  constexpr std::size_t most_in_a_minute = 40;
  const std::string what = "experiment " + std::to_string(granted.experiment.number()) + " trial " +
                           std::to_string(granted.trial.number());
  const engine::TrialRecord* trial = fold_.find(granted.experiment, granted.trial);
  if (trial != nullptr && trial->failure_history && trial->failure_history->not_before > at) {
    break_because("I8: " + what + " is leased before its time");
  }
  const auto well = [&](engine::WorkerId id, const std::vector<engine::SlotIndex>& slots) {
    const auto worker = fold_.workers().find(id);
    if (worker == fold_.workers().end()) {
      return;
    }
    if (worker->second.rests_until > at) {
      break_because("I8: " + what + " is leased to a worker that rests");
    }
    for (const engine::SlotIndex slot : slots) {
      const auto withdrawn = worker->second.withdrawn.find(slot);
      if (withdrawn != worker->second.withdrawn.end() && !withdrawn->second.released) {
        break_because("I6: " + what + " gets a slot that is in trouble");
      }
    }
  };
  well(granted.worker, granted.slots);
  for (const engine::Place& other : granted.others) {
    well(other.worker, other.slots);
  }
  std::deque<engine::Instant>& lately = leased_lately_[{granted.experiment, granted.trial}];
  lately.push_back(at);
  while (at - lately.front() > engine::Duration::seconds(60)) {
    lately.pop_front();
  }
  if (lately.size() > most_in_a_minute) {
    break_because("I8: " + what + " is leased " + std::to_string(lately.size()) + " times within a minute");
  }
}

std::string Promises::uid_of(engine::WorkerId worker) const {
  const auto found = fold_.workers().find(worker);
  return found == fold_.workers().end() ? "" : found->second.uid;
}

/// Nobody else has these slots, and nothing survives in them.
void Promises::check_place(const AttemptKey& key, engine::WorkerId where,
                           const std::vector<engine::SlotIndex>& wanted_slots) {
  const auto overlaps = [&](const AttemptKey& holder, const std::vector<engine::SlotIndex>& slots) {
    for (const engine::SlotIndex slot : slots) {
      if (std::find(wanted_slots.begin(), wanted_slots.end(), slot) != wanted_slots.end()) {
        break_because("I6: " + spelled(key) + " gets slot " + std::to_string(slot.number()) + ", which " +
                      spelled(holder) + " holds");
      }
    }
  };
  for (const auto& [at, other] : current_) {
    const Attempt& held = attempts_.at(other);
    if (held.lost || held.exited) {
      continue;
    }
    if (held.worker == where && !held.first_gone) {
      overlaps(other, held.slots);
    }
    for (const Attempt::Member& member : held.others) {
      if (member.worker == where && !member.gone) {
        overlaps(other, member.slots);
      }
    }
  }
  if (const auto worker = fold_.workers().find(where); worker != fold_.workers().end()) {
    for (const auto& [ended, leaked_processes] : worker->second.leaked_processes) {
      for (const engine::SlotIndex slot : wanted_slots) {
        if (!leaked_processes.released &&
            std::find(leaked_processes.slots.begin(), leaked_processes.slots.end(), slot) !=
                leaked_processes.slots.end()) {
          break_because("I6: " + spelled(key) + " gets slot " + std::to_string(slot.number()) +
                        ", where something of " + spelled(ended) + " survives");
        }
      }
    }
  }
  const auto worker = fold_.workers().find(where);
  if (quarantined_.contains(where) &&
      (worker == fold_.workers().end() || !engine::takes_one_on_probation(worker->second))) {
    break_because("I3: " + spelled(key) + " is leased to a worker in quarantine");
  }
}

void Promises::count_fruitless(const engine::ReportTaken& taken) {
  const auto* exit = std::get_if<engine::ExitReport>(&taken.report);
  std::uint64_t& fruitless = fruitless_[{taken.key.experiment, taken.key.trial}];
  if (exit != nullptr) {
    fruitless += exit->cause == engine::ExitReport::Cause::ended_by_agent ? 0U : 1U;
  } else if (!std::holds_alternative<engine::NoteReport>(taken.report)) {
    fruitless = 0;
  }
}

/// All that speaks against the worker are programs that fail by their configurations, and nothing that it
/// ended by itself.
bool Promises::rests_because_of_programs(const engine::WorkerRecord& worker) const {
  const auto& starts = worker.failed_starts;
  return !starts.empty() &&
         std::all_of(starts.begin(), starts.end(), [this](const engine::FailedStart& start) {
           return !start.evicted && witness_.flawed(start.experiment, start.trial);
         });
}

/// What fails by its configuration alone lets no worker rest for longer than a minute.
void Promises::note(const engine::StartDelayed& delayed) {
  if (delayed.wait > engine::Duration{}) {
    reached(Probe::trial_put_off);
  }
  if (delayed.worker_wait > engine::Duration{}) {
    reached(Probe::worker_rests);
  }
  if (delayed.evicted) {
    reached(Probe::attempt_evicted);
  }
  const auto worker = fold_.workers().find(delayed.worker);
  if (delayed.worker_wait > longest_rest && !delayed.evicted && worker != fold_.workers().end() &&
      witness_.flawed(delayed.experiment, delayed.trial) && rests_because_of_programs(worker->second)) {
    break_because("I12: worker " + std::to_string(delayed.worker.number()) +
                  " rests because of programs that fail by their configurations");
  }
}

/// The same for rests that follow each other while nothing runs on the worker.
void Promises::check_rests(const engine::Event& event) {
  const auto* noted = std::get_if<engine::TimeNoted>(&event.body);
  for (const auto& [id, worker] : fold_.workers()) {
    const bool rests = engine::is_in_service(worker) && worker.attempts.empty() && worker.uid != liar_uid &&
                       worker.rests_until > event.at;
    if (!rests) {
      rests_.erase(id);
      continue;
    }
    Rest& rest = rests_.try_emplace(id, Rest{event.at, event.at}).first->second;
    if (rest.until < event.at) {  // That one was over before this event.
      rest.since = event.at;
    } else if (noted != nullptr && rest.since < event.at) {
      rest.since = rest.since + noted->uncounted;
    }
    rest.until = worker.rests_until;
    if (event.at - rest.since > longest_rest && rests_because_of_programs(worker)) {
      break_because("I12: worker " + std::to_string(id.number()) +
                    " stands idle because of programs that fail by their configurations");
    }
  }
}

void Promises::note(const engine::WorkerQuarantined& quarantined) {
  const auto worker = fold_.workers().find(quarantined.worker);
  const bool by_itself = quarantined.probation_after > engine::Duration{};
  if (by_itself) {
    reached(Probe::worker_quarantined_by_itself);
  }
  if (by_itself && worker != fold_.workers().end()) {
    for (const engine::WorkerMark& mark : worker->second.marks) {
      const bool lied = lied_about_.contains({mark.experiment, mark.trial});  // It seemed to work there.
      if (mark.worked_elsewhere && !lied && witness_.flawed(mark.experiment, mark.trial)) {
        break_because("I12: worker " + std::to_string(quarantined.worker.number()) +
                      " is in quarantine because of a program that fails by its configuration");
      }
    }
  }
  quarantined_.insert(quarantined.worker);
}

void Promises::note(const engine::WorkerForgotten& forgotten) {
  reached(Probe::worker_forgotten);
  quarantined_.erase(forgotten.worker);
  for (const auto& [place, key] : current_) {
    const Attempt& attempt = attempts_.at(key);
    if (!attempt.lost && !attempt.exited && attempt.worker == forgotten.worker && !attempt.first_gone) {
      break_because("I3: the worker of " + spelled(key) + " is forgotten, and the attempt is not over");
    }
  }
}

void Promises::note(const engine::MemberExited& exited) {
  const auto found = attempts_.find(exited.key);
  if (found == attempts_.end() || over(exited.key)) {
    break_because("I3: a member's exit of " + spelled(exited.key) + " took effect, which speaks for nothing");
    return;
  }
  asked_to_end(exited.key);
  const bool over =
      exited.exit.cause != engine::ExitReport::Cause::could_not_start && !exited.exit.unkillable;
  for (Attempt::Member& member : found->second.others) {
    if (member.worker == exited.worker && std::exchange(member.gone, true)) {
      break_because("I2: a member of " + spelled(exited.key) + " exits twice");
    }
  }
  const std::string uid = uid_of(exited.worker);
  if (uid != liar_uid) {
    if (const std::string wrong = ledger_.compare_end(exited.key, uid, exited.exit); !wrong.empty()) {
      break_because("I2: a member of " + spelled(exited.key) + " " + wrong);
    }
  }
  if (over && witness_.running(exited.key, uid)) {
    break_because("I6: a member of " + spelled(exited.key) + " is said to have ended, and runs");
  }
}

void Promises::note(const engine::MemberLost& lost) {
  const auto found = attempts_.find(lost.key);
  if (found == attempts_.end() || over(lost.key)) {
    break_because("I3: a member of " + spelled(lost.key) + " is lost, which speaks for nothing");
    return;
  }
  reached(Probe::member_lost);
  asked_to_end(lost.key);
  Attempt& attempt = found->second;
  bool started = attempt.started;
  if (lost.worker == attempt.worker) {
    attempt.first_gone = true;
  }
  for (Attempt::Member& member : attempt.others) {
    if (member.worker == lost.worker) {
      member.gone = true;
      started = member.started;
    }
  }
  if (started && members_held_and_heard_.contains({lost.key, lost.worker})) {
    break_because("I5: a member of " + spelled(lost.key) + " is given up (" + lost.why +
                  "), but its worker has it and was heard");
  }
}

void Promises::note(const engine::GangEnded& ended) {
  const auto found = attempts_.find(ended.key);
  const bool all_gone = found != attempts_.end() && found->second.first_gone &&
                        std::all_of(found->second.others.begin(), found->second.others.end(),
                                    [](const Attempt::Member& member) { return member.gone; });
  if (!all_gone) {
    break_because("I3: " + spelled(ended.key) + " has ended, and members of it have not");
    return;
  }
  found->second.exited = true;
}

void Promises::note(const engine::AttemptAdopted& adopted, Lsn lsn) {
  if (const auto where = fold_.workers().find(adopted.worker); where != fold_.workers().end()) {
    for (const engine::SlotIndex slot : adopted.slots) {
      if (where->second.withdrawn.contains(slot)) {
        reached(Probe::adopted_on_a_slot_in_trouble);
      }
    }
  }
  const AttemptKey before = present(adopted.key);
  const auto found = attempts_.find(before);
  const Place place{adopted.key.experiment, adopted.key.trial};
  if (found == attempts_.end() || !found->second.lost || !over(current_.at(place))) {
    break_because("I3: " + spelled(adopted.key) + " is adopted, and was not lost");
    return;
  }
  reached(Probe::attempt_adopted);
  AttemptKey key = adopted.key;
  key.lease = engine::LeaseId(lsn.number());
  Attempt attempt = found->second;
  if (adopted.worker != attempt.worker) {
    break_because("I3: " + spelled(adopted.key) + " is given to a worker that never had it");
  }
  if (uid_of(adopted.worker) == liar_uid && adopted.upto > attempt.seq) {
    attempt.seq = adopted.upto;  // It had forgotten some, says it.
  } else if (adopted.upto != attempt.seq) {
    break_because("I2: " + spelled(adopted.key) + " is adopted behind report " +
                  std::to_string(adopted.upto) + ", and had report " + std::to_string(attempt.seq));
  }
  attempt.worker = adopted.worker;
  attempt.slots = adopted.slots;
  attempt.lost = false;
  attempts_[key] = std::move(attempt);
  current_[place] = key;
  adopted_as_[adopted.key] = key;
}

AttemptKey Promises::present(const AttemptKey& origin) const {
  const auto found = adopted_as_.find(origin);
  return found == adopted_as_.end() ? origin : found->second;
}

void Promises::note(const engine::ReportTaken& taken) {
  const auto found = attempts_.find(taken.key);
  if (found == attempts_.end() || over(taken.key)) {
    break_because("I3: a report of " + spelled(taken.key) + " took effect, which speaks for nothing");
    return;
  }
  Attempt& attempt = found->second;
  if (attempt.first_gone) {
    break_because("I3: a report of " + spelled(taken.key) + " took effect behind its end");
  }
  if (taken.seq != attempt.seq + 1) {
    break_because("I2: report " + std::to_string(taken.seq) + " of " + spelled(taken.key) +
                  " follows report " + std::to_string(attempt.seq));
  }
  attempt.seq = taken.seq;
  const std::string uid = uid_of(attempt.worker);
  if (uid == liar_uid) {
    lied_about_.insert({taken.key.experiment, taken.key.trial});
  } else {
    if (const std::string wrong = ledger_.compare(attempt.origin, uid, taken.report); !wrong.empty()) {
      break_because("I2: " + spelled(taken.key) + " " + wrong);
    }
  }
  if (const auto* exit = std::get_if<engine::ExitReport>(&taken.report)) {
    attempt.exited = attempt.others.empty();
    attempt.first_gone = true;
    if (!attempt.others.empty()) {
      asked_to_end(taken.key);
    }
    const bool over = exit->cause != engine::ExitReport::Cause::could_not_start && !exit->unkillable;
    if (over && witness_.running(attempt.origin, uid)) {
      break_because("I6: " + spelled(taken.key) + " is said to have ended, and runs");
    }
  }
}

void Promises::note(const engine::AttemptLost& lost) {
  const auto found = attempts_.find(lost.key);
  if (found == attempts_.end() || over(lost.key)) {
    break_because("I3: " + spelled(lost.key) + " is lost, which speaks for nothing");
    return;
  }
  // One that has not said that it started gives way to an older attempt that is back.
  if (found->second.started && held_and_known_.contains(lost.key)) {
    break_because("I5: " + spelled(lost.key) + " is given up (" + lost.why +
                  "), but its worker has it and was heard");
  }
  found->second.lost = true;
}

/// Members above rank 0 count their own reports; their exit is the first.
std::uint64_t Promises::most_to_acknowledge(const Attempt& attempt) {
  return std::max<std::uint64_t>(attempt.seq, attempt.others.empty() ? 0 : 1);
}

/// Whose part of an attempt on several workers was given up is fenced when it comes back.
bool Promises::has_lost_a_member(const AttemptKey& key) const {
  const auto found = attempts_.find(key);
  return found != attempts_.end() && !found->second.others.empty() &&
         (found->second.first_gone || std::any_of(found->second.others.begin(), found->second.others.end(),
                                                  [](const Attempt::Member& member) { return member.gone; }));
}

const std::string& Promises::durable_state() {
  if (std::exchange(state_of_, durable_) != durable_ || state_.empty()) {
    state_ = engine::state_text(fold_);
  }
  return state_;
}

void Promises::recovered(const engine::Engine& engine) {
  const std::string kept = engine::state_text(engine);
  const std::string& durable = durable_state();
  if (kept != durable) {
    break_because("I1, I4: what was recovered is not what was durable:" + first_difference(kept, durable));
  }
  if (const std::string wrong = engine::broken_invariant(engine); !wrong.empty()) {
    break_because("recovered: " + wrong);
  }
}

void Promises::settled(const engine::Engine& live) {
  // What changes without an event is found behind the next one.
  if (std::exchange(settled_at_, live.last_lsn()) == live.last_lsn()) {
    return;
  }
  const std::string lives = engine::state_text(live);
  const std::string& durable = durable_state();
  if (lives != durable) {
    break_because("I4: what lives is not the fold of the log:" + first_difference(lives, durable));
  }
  if (const std::string wrong = engine::broken_invariant(live); !wrong.empty()) {
    break_because(wrong);
  }
}

void Promises::ordered(const proto::FromDaemon& message) {
  if (const auto* lease = std::get_if<proto::Lease>(&message)) {
    if (!attempts_.contains(lease->spec.key)) {
      break_because("I1: " + spelled(lease->spec.key) + " is leased, and that is not durable");
    }
  } else if (const auto* decide = std::get_if<proto::Decide>(&message)) {
    if (decide->decision.id > durable_) {
      break_because("I1: a decision about " + spelled(decide->key) + " is told, and is not durable");
    }
  }
}

void Promises::told(const proto::FromDaemon& message) {
  if (const auto* ack = std::get_if<proto::Ack>(&message)) {
    const auto found = attempts_.find(ack->key);
    if (found == attempts_.end() || ack->upto > most_to_acknowledge(found->second)) {
      break_because("I1: report " + std::to_string(ack->upto) + " of " + spelled(ack->key) +
                    " is acknowledged and not durable");
    }
  } else if (const auto* fenced = std::get_if<proto::Fenced>(&message)) {
    if (!over(fenced->key) && !has_lost_a_member(fenced->key)) {
      break_because("I5: " + spelled(fenced->key) + " is fenced, and nothing in the log says so");
    }
  } else if (const auto* welcome = std::get_if<proto::Welcome>(&message)) {
    for (const engine::WelcomeWorker::Attempt& attempt : welcome->attempts) {
      const auto found = attempts_.find(present(attempt.key));
      if (attempt.fate == engine::WelcomeWorker::Fate::fenced && !over(present(attempt.key)) &&
          !has_lost_a_member(attempt.key)) {
        break_because("I5: " + spelled(attempt.key) + " is fenced, and nothing in the log says so");
      }
      if (attempt.fate == engine::WelcomeWorker::Fate::go_on &&
          (found == attempts_.end() || attempt.upto > most_to_acknowledge(found->second))) {
        break_because("I1: reports of " + spelled(attempt.key) + " are acknowledged and not durable");
      }
    }
  }
}

bool Promises::belongs_to_another(const AttemptKey& origin, std::string_view uid) const {
  const auto found = attempts_.find(present(origin));
  return found != attempts_.end() && !over(present(origin)) && uid_of(found->second.worker) != uid &&
         std::none_of(found->second.others.begin(), found->second.others.end(),
                      [&](const Attempt::Member& member) { return uid_of(member.worker) == uid; });
}

void Promises::answered(Lsn lsn) {
  if (lsn > durable_) {
    break_because("I1: a user was answered before event " + std::to_string(lsn.number()) + " was durable");
  }
}

void Promises::program_signalled(const AttemptKey& origin, bool own) {
  const AttemptKey key = present(origin);
  const auto found = attempts_.find(key);
  if (own || over(key) || ledger_.has_reported_invalid(origin)) {
    return;
  }
  if (found != attempts_.end()) {
    const auto trial = trial_told_to_end_.find({key.experiment, key.trial});
    const auto experiment = experiment_told_to_end_.find(key.experiment);
    // Given back to its worker, it still has to obey what was decided before it was lost.
    const Lsn first_lease(origin.lease.number());
    if ((trial != trial_told_to_end_.end() && trial->second > first_lease) ||
        (experiment != experiment_told_to_end_.end() && experiment->second > first_lease)) {
      return;
    }
  }
  break_because("I5: the program of " + spelled(key) + " is signalled, and nothing in the log says so");
}

}  // namespace hpsearch::simulation
