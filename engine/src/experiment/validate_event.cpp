#include <string>

#include "engine_state.hpp"

namespace hpsearch::engine {
namespace {

Error refuse(const Event& event, const std::string& why) {
  return Error{Errc::corrupt, "event " + std::to_string(event.lsn.number()) + " cannot follow: " + why};
}

/// Says "" or what an event names that does not exist.
struct Reader {
  const EngineState& state;

  [[nodiscard]] const ExperimentRecord* find(ExperimentId id) const {
    const auto found = state.experiments.find(id);
    return found != state.experiments.end() ? &found->second : nullptr;
  }
  [[nodiscard]] const TrialRecord* find(ExperimentId id, TrialNumber number) const {
    const ExperimentRecord* record = find(id);
    return record != nullptr && number.number() < record->trials.size() ? &record->trials[number.number()]
                                                                        : nullptr;
  }

  std::string experiment(ExperimentId id) const {
    return find(id) != nullptr ? "" : "no experiment " + std::to_string(id.number());
  }

  std::string trial(ExperimentId id, TrialNumber number) const {
    if (find(id, number) != nullptr) {
      return "";
    }
    const std::string missing = experiment(id);
    return !missing.empty() ? missing
                            : "experiment " + std::to_string(id.number()) + " has no trial " +
                                  std::to_string(number.number());
  }

  std::string moves(ExperimentId id, TrialNumber number, TrialMove move) const {
    const TrialRecord* record = find(id, number);
    if (record == nullptr) {
      return trial(id, number);
    }
    const Result<TrialState> next = next_state(record->state, move);
    return next ? "" : "trial " + std::to_string(number.number()) + ": " + next.error().message;
  }

  std::string live(const AttemptKey& key) const {
    const TrialRecord* record = find(key.experiment, key.trial);
    if (record == nullptr) {
      return trial(key.experiment, key.trial);
    }
    return record->live && record->live->key == key
               ? ""
               : "lease " + std::to_string(key.lease.number()) + " is not live";
  }

  std::string member(const AttemptKey& key, WorkerId where) const {
    const std::string missing = live(key);
    if (!missing.empty()) {
      return missing;
    }
    const LiveAttempt& attempt = *find(key.experiment, key.trial)->live;
    return attempt.gang && attempt.part_on(where)
               ? ""
               : "nothing of it is on worker " + std::to_string(where.number());
  }

  std::string worker(WorkerId id) const {
    return state.workers.contains(id) ? "" : "no worker " + std::to_string(id.number());
  }

  std::string config(const Value& effective, bool is_parsed) const {
    if (is_parsed) {
      return "";
    }
    const ParsedConfig parsed = parse_config(effective, state.registry, "", 0);
    return parsed.config ? "" : "its config does not read here: " + describe(parsed.problems.front());
  }

  std::string operator()(const ExperimentCreated& event) const {
    if (state.experiments.contains(event.experiment)) {
      return "experiment " + std::to_string(event.experiment.number()) + " exists already";
    }
    if (event.source && find(event.source->experiment, event.source->trial) == nullptr) {
      return trial(event.source->experiment, event.source->trial);
    }
    return config(event.config, event.parsed != nullptr);
  }
  std::string operator()(const TrialCreated& event) const {
    const ExperimentRecord* record = find(event.experiment);
    if (record == nullptr) {
      return experiment(event.experiment);
    }
    return event.trial.number() == record->trials.size() ? "" : "trials count up by one";
  }
  std::string operator()(const LeaseGranted& event) const {
    const TrialRecord* record = find(event.experiment, event.trial);
    if (record == nullptr) {
      return trial(event.experiment, event.trial);
    }
    if (record->live || record->state != TrialState::pending) {
      return "trial " + std::to_string(event.trial.number()) + " does not wait for a slot";
    }
    for (const Place& other : event.others) {
      if (const std::string missing = worker(other.worker); !missing.empty()) {
        return missing;
      }
    }
    return worker(event.worker);
  }
  std::string operator()(const AttemptAdopted& event) const {
    const TrialRecord* record = find(event.key.experiment, event.key.trial);
    if (record == nullptr) {
      return trial(event.key.experiment, event.key.trial);
    }
    if (record->live || record->state != TrialState::pending) {
      return "trial " + std::to_string(event.key.trial.number()) + " does not wait for a slot";
    }
    return worker(event.worker);
  }
  std::string operator()(const LimitsChanged& event) const {
    if (const std::string missing = experiment(event.experiment); !missing.empty()) {
      return missing;
    }
    return config(event.config, event.parsed != nullptr);
  }
  std::string operator()(const ExperimentPaused& event) const { return experiment(event.experiment); }
  std::string operator()(const ExperimentResumed& event) const { return experiment(event.experiment); }
  std::string operator()(const ExperimentStopping& event) const { return experiment(event.experiment); }
  std::string operator()(const ExperimentEnded& event) const { return experiment(event.experiment); }
  std::string operator()(const TrialPromoted& event) const {
    const TrialRecord* record = find(event.experiment, event.trial);
    const bool goes_back = record != nullptr && !event.in_place && record->state == TrialState::running;
    return moves(event.experiment, event.trial, goes_back ? TrialMove::run_again : TrialMove::promote);
  }
  std::string operator()(const LengthReached& event) const { return trial(event.experiment, event.trial); }
  std::string operator()(const TrialPaused& event) const {
    return moves(event.experiment, event.trial, TrialMove::pause);
  }
  std::string operator()(const TrialQueued& event) const {
    return moves(event.experiment, event.trial, TrialMove::run_again);
  }
  std::string operator()(const TrialExitedEarly& event) const { return trial(event.experiment, event.trial); }
  std::string operator()(const TrialEnded& event) const {
    return moves(event.experiment, event.trial, move_that_ends(event.state));
  }
  std::string operator()(const AttemptStarted& event) const {
    return event.member == WorkerId{} ? live(event.key) : member(event.key, event.member);
  }
  std::string operator()(const MemberExited& event) const { return member(event.key, event.worker); }
  std::string operator()(const MemberLost& event) const { return member(event.key, event.worker); }
  std::string operator()(const GangEnded& event) const {
    const std::string missing = live(event.key);
    if (!missing.empty()) {
      return missing;
    }
    const LiveAttempt& attempt = *find(event.key.experiment, event.key.trial)->live;
    return attempt.gang && attempt.gang->all_gone() ? "" : "not all of its members are gone";
  }
  std::string operator()(const ReportTaken& event) const { return live(event.key); }
  std::string operator()(const AttemptLost& event) const { return live(event.key); }
  std::string operator()(const StartDelayed& event) const {
    const std::string missing = trial(event.experiment, event.trial);
    return !missing.empty() || event.worker == WorkerId{} ? missing : worker(event.worker);
  }
  std::string operator()(const StoreRestored& event) const {
    return state.numbering.may_begin_anew(state.last_lsn, event.numbers_from)
               ? ""
               : "the numbers from " + std::to_string(event.numbers_from) + " on are given out already";
  }
  std::string operator()(const CheckpointsCollected& event) const {
    return trial(event.experiment, event.trial);
  }
  std::string operator()(const CheckpointsDeleted& event) const { return experiment(event.experiment); }
  std::string operator()(const WorkerJoined& event) const {
    return event.devices.empty() || event.devices.size() == event.slots
               ? ""
               : "its slots and devices differ in number";
  }
  std::string operator()(const WorkerLost& event) const { return worker(event.worker); }
  std::string operator()(const WorkerQuarantined& event) const { return worker(event.worker); }
  std::string operator()(const WorkerReleased& event) const { return worker(event.worker); }
  std::string operator()(const AttemptDisowned& event) const { return worker(event.worker); }
  std::string operator()(const SlotsQuarantined& event) const {
    const auto found = state.workers.find(event.worker);
    if (found == state.workers.end()) {
      return worker(event.worker);
    }
    SlotLedger slots = found->second.slots;
    for (const SlotIndex slot : event.slots) {
      if (slot.number() < slots.total() && !slots.is_free(slot)) {
        return "slot " + std::to_string(slot.number()) + " is held";
      }
      if (slot.number() < slots.total()) {
        slots.take({slot}, event.key.lease);  // None stands there twice.
      }
    }
    return found->second.leaked_processes.contains(event.key) ? "its slots are in quarantine already" : "";
  }
  std::string operator()(const SlotsReleased& event) const {
    const auto found = state.workers.find(event.worker);
    if (found == state.workers.end()) {
      return worker(event.worker);
    }
    return found->second.leaked_processes.contains(event.key) ? "" : "its slots are in no quarantine";
  }
  std::string operator()(const SlotWithdrawn& event) const { return worker(event.worker); }
  std::string operator()(const SlotRestored& event) const {
    const auto found = state.workers.find(event.worker);
    if (found == state.workers.end()) {
      return worker(event.worker);
    }
    return found->second.withdrawn.contains(event.slot)
               ? ""
               : "slot " + std::to_string(event.slot.number()) + " is in no trouble";
  }
};

}  // namespace

Status validate_event(const EngineState& state, const Event& event) {
  if (event.lsn.number() != state.last_lsn.number() + 1) {
    return refuse(event, "the one before it is " + std::to_string(state.last_lsn.number()));
  }
  const std::string missing = std::visit(Reader{state}, event.body);
  if (!missing.empty()) {
    return refuse(event, missing);
  }
  return Done{};
}

}  // namespace hpsearch::engine
