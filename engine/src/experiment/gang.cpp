// Attempts on several workers: who is where, and what a rank above 0 has to say.

#include <algorithm>
#include <string>
#include <variant>

#include "experiment/trials/retention.hpp"
#include "step.hpp"

namespace hpsearch::engine {

Gang::Member* Gang::member_on(WorkerId worker) noexcept {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [worker](const Member& member) { return member.worker == worker; });
  return found == members.end() ? nullptr : &*found;
}

const Gang::Member* Gang::member_on(WorkerId worker) const noexcept {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [worker](const Member& member) { return member.worker == worker; });
  return found == members.end() ? nullptr : &*found;
}

bool Gang::all_gone() const noexcept {
  return std::all_of(members.begin(), members.end(), [](const Member& member) { return member.gone; });
}

std::optional<AttemptPart> LiveAttempt::part_on(WorkerId where) const noexcept {
  if (!gang) {
    return where == worker ? std::optional(AttemptPart{&slots, 0, started, applied_seq}) : std::nullopt;
  }
  const Gang::Member* member = gang->member_on(where);
  if (member == nullptr || member->gone) {
    return std::nullopt;
  }
  const bool first = member == gang->members.data();
  return AttemptPart{&member->slots, static_cast<std::uint64_t>(member - gang->members.data()),
                     first ? started : member->started, first ? applied_seq : 0};
}

ExitReport blamed_on_its_end(const EngineState& state, const LiveAttempt& live, WorkerId worker,
                             ExitReport exit) {
  if (exit.cause == ExitReport::Cause::ended_by_agent && live.gang &&
      live.gang->ending == Gang::Ending::failed && state.suspects.contains(worker)) {
    exit.cause = ExitReport::Cause::lost;
  }
  const TrialRecord& trial = trial_of(state, live.key.experiment, live.key.trial);
  if (exit.cause == ExitReport::Cause::checkpoint_gone && !has_own_checkpoint(trial)) {
    exit.cause = ExitReport::Cause::could_not_start;
  }
  return exit;
}

void take_member_reports(Step& step, const TakeReports& command) {
  const AttemptKey& key = command.key;
  const std::uint64_t upto = command.first_seq + command.reports.size() - 1;
  const auto last = std::find_if(command.reports.begin(), command.reports.end(), [](const Report& report) {
    return std::holds_alternative<ExitReport>(report);
  });
  step.effects().orders.emplace_back(AckReports{command.worker, key, upto});
  if (last == command.reports.end()) {
    return;  // Nothing else of it counts.
  }
  const LiveAttempt& live = *trial_of(step.state(), key.experiment, key.trial).live;
  const ExitReport exit = blamed_on_its_end(step.state(), live, command.worker, std::get<ExitReport>(*last));
  const AttemptKey as_known = live.known_as();
  const AttemptPart part = *live.part_on(command.worker);
  const std::vector<SlotIndex> slots = *part.slots;
  if (!part.started && !is_never_run(exit)) {
    step.emit(AttemptStarted{key, command.worker});  // Its own message was lost; this one says it too.
  }
  step.emit(MemberExited{key, command.worker, exit});
  if (exit.unkillable) {
    quarantine_slots(step, command.worker, as_known, slots);
  }
  end_gang(step, key);
}

}  // namespace hpsearch::engine
