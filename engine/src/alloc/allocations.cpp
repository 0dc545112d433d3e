// Allocations: from the decision that one is wanted to its end.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

Error no_allocation(const AllocationName& name) {
  return Error{Errc::not_found, "there is no allocation " + text_of(name)};
}

/// What the other scheduler calls an end may be another one for us: a job that leaves in time when it is
/// preempted has "completed", and one that we canceled may have ended by itself.
AllocationEnd true_end(const AllocationRecord& allocation, AllocationEnd said) {
  const bool could_be_ours = said == AllocationEnd::canceled_there || said == AllocationEnd::completed ||
                             said == AllocationEnd::failed || said == AllocationEnd::vanished;
  if (!allocation.canceling.empty() && could_be_ours) {
    return allocation.will_not_start ? AllocationEnd::will_not_start : AllocationEnd::canceled;
  }
  if (said == AllocationEnd::completed && allocation.joined > 0) {
    return allocation.ran_out    ? AllocationEnd::time_limit
           : allocation.was_idle ? AllocationEnd::idle
                                 : AllocationEnd::preempted;
  }
  return said;
}

/// The other scheduler has ended the processes of the allocation's workers.
void end_workers(Step& step, const AllocationName& name, const std::string& why) {
  std::vector<WorkerId> present;
  for (const auto& [id, worker] : step.state().workers) {
    if (worker.present && worker.allocation == text_of(name)) {
      present.push_back(id);
    }
  }
  for (const WorkerId id : present) {
    static_cast<void>(lose_worker(step, {id, why}));
  }
}

}  // namespace

AllocationRecord* find_allocation(EngineState& state, const AllocationName& name) {
  const auto queue = state.queues.find(name.queue);
  if (queue == state.queues.end()) {
    return nullptr;
  }
  const auto found = queue->second.allocations.find(name.number);
  return found == queue->second.allocations.end() ? nullptr : &found->second;
}
const AllocationRecord* find_allocation(const EngineState& state, const AllocationName& name) {
  return find_allocation(const_cast<EngineState&>(state), name);  // NOLINT: it is not changed.
}

AllocationRecord* allocation_of(EngineState& state, const WorkerRecord& worker) {
  const auto name = allocation_named(worker.allocation);
  return name ? find_allocation(state, *name) : nullptr;
}

void note_joined(EngineState& state, const WorkerRecord& worker) {
  AllocationRecord* allocation = allocation_of(state, worker);
  if (allocation == nullptr) {
    return;
  }
  ++allocation->joined;
  QueueRecord& queue = state.queues.at(allocation->name.queue);
  queue.failures = 0;
  queue.last_failure.clear();
  queue.seen_slots = worker.slots.total();
}

void note_left(EngineState& state, const WorkerRecord& worker, std::string_view why) {
  if (AllocationRecord* allocation = allocation_of(state, worker)) {
    allocation->was_idle = allocation->was_idle || why == left_idle;
    allocation->ran_out = allocation->ran_out || why == left_at_its_end;
  }
}

Status note_submitted(Step& step, const NoteSubmitted& command) {
  const AllocationRecord* known = find_allocation(step.state(), command.name);
  if (known == nullptr) {
    return no_allocation(command.name);
  }
  if (known->state == AllocationRecord::State::wanted || (is_live(*known) && known->job != command.job)) {
    step.emit(AllocationSubmitted{command.name, command.job});
  }
  if (!known->canceling.empty()) {
    step.effects().orders.emplace_back(WithdrawAllocation{command.name});  // Its job was not known before.
  }
  return Done{};
}

Status note_started(Step& step, const NoteStarted& command) {
  const AllocationRecord* known = find_allocation(step.state(), command.name);
  if (known == nullptr) {
    return no_allocation(command.name);
  }
  if (is_pending(*known)) {
    step.emit(AllocationStarted{command.name});
  }
  return Done{};
}

Status cancel_allocation(Step& step, const CancelAllocation& command) {
  const AllocationRecord* known = find_allocation(step.state(), command.name);
  if (known == nullptr) {
    return no_allocation(command.name);
  }
  if (!is_live(*known)) {
    return Done{};
  }
  if (known->canceling.empty()) {
    step.emit(AllocationCanceled{command.name, command.why, command.will_not_start});
  }
  step.effects().orders.emplace_back(WithdrawAllocation{command.name});
  return Done{};
}

Status note_ended(Step& step, const NoteEnded& command) {
  const AllocationRecord* known = find_allocation(step.state(), command.name);
  if (known == nullptr) {
    return no_allocation(command.name);
  }
  if (!is_live(*known)) {
    return Done{};
  }
  const AllocationEnd end = true_end(*known, command.end);
  const std::string detail = end == AllocationEnd::will_not_start || end == AllocationEnd::canceled
                                 ? known->canceling
                                 : command.detail;
  step.emit(AllocationEnded{command.name, end, detail});
  if (command.processes_ended) {
    end_workers(step, command.name, "its allocation " + text_of(command.name) + " has ended");
  }
  const auto queue = step.state().queues.find(command.name.queue);
  if (queue != step.state().queues.end() && queue->second.state == QueueRecord::State::active &&
      queue->second.failures >= most_queue_failures) {
    step.emit(QueuePaused{command.name.queue, queue->second.last_failure.empty()
                                                  ? "its allocations fail"
                                                  : queue->second.last_failure});
  }
  return Done{};
}

void apply(const Applier& applier, const AllocationWanted& wanted) {
  AllocationRecord& made = applier.state.queues.at(wanted.name.queue).allocations[wanted.name.number];
  made.name = wanted.name;
  made.workers = wanted.workers;
  made.key = wanted.key;
  made.wanted_at = applier.event.at;
  applier.state.last_allocation = wanted.name.number;
}
std::string problem_with(const EventChecks& checks, const AllocationWanted& wanted) {
  if (!checks.state.queues.contains(wanted.name.queue)) {
    return "there is no queue \"" + wanted.name.queue + "\"";
  }
  return wanted.name.number > checks.state.last_allocation
             ? ""
             : "an allocation has the number " + std::to_string(wanted.name.number) + " already";
}

namespace {

std::string live_one(const EventChecks& checks, const AllocationName& name) {
  const AllocationRecord* known = find_allocation(checks.state, name);
  return known != nullptr && is_live(*known) ? "" : "there is no live allocation " + text_of(name);
}

}  // namespace

void apply(const Applier& applier, const AllocationSubmitted& submitted) {
  AllocationRecord& allocation = *find_allocation(applier.state, submitted.name);
  allocation.job = submitted.job;
  allocation.state = std::max(allocation.state, AllocationRecord::State::submitted);
}
std::string problem_with(const EventChecks& checks, const AllocationSubmitted& submitted) {
  return live_one(checks, submitted.name);
}

void apply(const Applier& applier, const AllocationStarted& started) {
  AllocationRecord& allocation = *find_allocation(applier.state, started.name);
  allocation.state = AllocationRecord::State::running;
  allocation.started_at = applier.event.at;
  applier.state.unneeded_since.erase(started.name.number);
}
std::string problem_with(const EventChecks& checks, const AllocationStarted& started) {
  return live_one(checks, started.name);
}

void apply(const Applier& applier, const AllocationCanceled& canceled) {
  AllocationRecord& allocation = *find_allocation(applier.state, canceled.name);
  allocation.canceling = canceled.why;
  allocation.will_not_start = canceled.will_not_start;
}
std::string problem_with(const EventChecks& checks, const AllocationCanceled& canceled) {
  return live_one(checks, canceled.name);
}

}  // namespace hpsearch::engine
