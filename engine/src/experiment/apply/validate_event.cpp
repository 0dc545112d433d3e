#include <algorithm>
#include <string>
#include <vector>

#include "event_checks.hpp"

namespace hpsearch::engine {
namespace {

/// Far from where sums of times would not fit any more: the year 38,000.
constexpr Instant latest = Instant::from_micros(std::int64_t{1} << 60U);

Error refuse(const Event& event, const std::string& why) {
  return Error{Errc::corrupt, "event " + std::to_string(event.lsn.number()) + " cannot follow: " + why};
}

}  // namespace

const ExperimentRecord* EventChecks::find(ExperimentId id) const {
  const auto found = state.experiments.find(id);
  return found != state.experiments.end() ? &found->second : nullptr;
}
const TrialRecord* EventChecks::find(ExperimentId id, TrialNumber number) const {
  const ExperimentRecord* record = find(id);
  return record != nullptr && number.number() < record->trials.size() ? &record->trials[number.number()]
                                                                      : nullptr;
}

std::string EventChecks::experiment(ExperimentId id) const {
  return find(id) != nullptr ? "" : "no experiment " + std::to_string(id.number());
}

std::string EventChecks::going(ExperimentId id) const {
  const ExperimentRecord* record = find(id);
  if (record == nullptr) {
    return experiment(id);
  }
  return is_ended(record->state) ? "experiment " + std::to_string(id.number()) + " has ended" : "";
}

std::string EventChecks::trial(ExperimentId id, TrialNumber number) const {
  if (find(id, number) != nullptr) {
    return "";
  }
  const std::string missing = experiment(id);
  return !missing.empty() ? missing
                          : "experiment " + std::to_string(id.number()) + " has no trial " +
                                std::to_string(number.number());
}

std::string EventChecks::moves(ExperimentId id, TrialNumber number, TrialMove move) const {
  const TrialRecord* record = find(id, number);
  if (record == nullptr) {
    return trial(id, number);
  }
  const Result<TrialState> next = next_state(record->state, move);
  return next ? "" : "trial " + std::to_string(number.number()) + ": " + next.error().message;
}

std::string EventChecks::live(const AttemptKey& key) const {
  const TrialRecord* record = find(key.experiment, key.trial);
  if (record == nullptr) {
    return trial(key.experiment, key.trial);
  }
  return record->live && record->live->key == key
             ? ""
             : "lease " + std::to_string(key.lease.number()) + " is not live";
}

std::string EventChecks::member(const AttemptKey& key, WorkerId where) const {
  const std::string missing = live(key);
  if (!missing.empty()) {
    return missing;
  }
  const LiveAttempt& attempt = *find(key.experiment, key.trial)->live;
  return attempt.gang && attempt.part_on(where)
             ? ""
             : "nothing of it is on worker " + std::to_string(where.number());
}

std::string EventChecks::worker(WorkerId id) const {
  return state.workers.contains(id) ? "" : "no worker " + std::to_string(id.number());
}

std::string EventChecks::present(WorkerId id) const {
  const auto found = state.workers.find(id);
  return found == state.workers.end() || found->second.present
             ? worker(id)
             : "worker " + std::to_string(id.number()) + " is lost";
}

std::string EventChecks::vacant(WorkerId where, const std::vector<SlotIndex>& slots) const {
  const auto found = state.workers.find(where);
  if (found == state.workers.end()) {
    return worker(where);
  }
  std::vector<SlotIndex> sorted = slots;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return "it names a slot twice";
  }
  for (const SlotIndex slot : sorted) {
    if (!found->second.slots.is_free(slot)) {
      return "slot " + std::to_string(slot.number()) + " of worker " + std::to_string(where.number()) +
             (slot.number() < found->second.slots.total() ? " is held" : " does not exist");
    }
  }
  return "";
}

std::string EventChecks::config(const Value& effective, bool is_parsed) const {
  if (is_parsed) {
    return "";
  }
  const ParsedConfig parsed = parse_config(effective, state.registry, "", 0);
  return parsed.config ? "" : "its config does not read here: " + describe(parsed.problems.front());
}

bool may_be_promoted(const ExperimentRecord& record, TrialNumber trial) {
  const Reason::Why why = record.searcher->standing(trial).why;
  return why == Reason::Why::waits_at_rung || why == Reason::Why::promoted;
}

Status validate_event(const EngineState& state, const Event& event) {
  if (event.lsn.number() != state.last_lsn.number() + 1) {
    return refuse(event, "the one before it is " + std::to_string(state.last_lsn.number()));
  }
  if (event.at < state.last_instant || event.at > latest) {
    return refuse(event, event.at > latest ? "its time is beyond all calendars"
                                           : "it is older than the event before it");
  }
  const EventChecks checks{state, event.at};
  const std::string problem =
      std::visit([&checks](const auto& body) { return problem_with(checks, body); }, event.body);
  if (!problem.empty()) {
    return refuse(event, problem);
  }
  return Done{};
}

}  // namespace hpsearch::engine
