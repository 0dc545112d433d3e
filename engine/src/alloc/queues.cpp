// Queues: what operators say about them, and when a queue pauses itself.

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "applier.hpp"
#include "event_checks.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::size_t most_queue_name_chars = 63;
constexpr std::uint64_t most_workers_of_a_queue = 100'000;
constexpr Duration shortest_time_limit = Duration::seconds(60);
constexpr Duration longest_time_limit = Duration::seconds(std::int64_t{365} * 24 * 3'600);

constexpr std::array<std::string_view, 11> end_names{
    "idle",           "completed", "time_limit", "preempted",      "node_failed", "canceled",
    "canceled_there", "failed",    "refused",    "will_not_start", "vanished"};

Error no_queue(const EngineState& state, const std::string& name) {
  std::string known;
  for (const auto& [other, queue] : state.queues) {
    known += (known.empty() ? "; known queues: " : ", ") + other;
  }
  return Error{Errc::not_found, "there is no queue \"" + name + "\"" + known};
}

Error wrong(const std::string& what) {
  return Error{Errc::bad_request, what};
}

}  // namespace

std::string_view name_of(AllocationEnd end) noexcept {
  return end_names.at(static_cast<std::size_t>(end));
}

std::optional<AllocationEnd> allocation_end_named(std::string_view name) noexcept {
  const auto found = std::find(end_names.begin(), end_names.end(), name);
  return found == end_names.end() ? std::nullopt
                                  : std::optional(static_cast<AllocationEnd>(found - end_names.begin()));
}

std::string_view name_of(AllocationRecord::State state) noexcept {
  constexpr std::array<std::string_view, 4> names{"wanted", "submitted", "running", "ended"};
  return names.at(static_cast<std::size_t>(state));
}

std::string_view name_of(QueueRecord::State state) noexcept {
  constexpr std::array<std::string_view, 3> names{"active", "paused", "removed"};
  return names.at(static_cast<std::size_t>(state));
}

std::string text_of(const AllocationName& name) {
  return name.queue + "/" + std::to_string(name.number);
}

std::optional<AllocationName> allocation_named(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !is_queue_name(text.substr(0, slash))) {
    return std::nullopt;
  }
  AllocationName name{std::string(text.substr(0, slash)), 0};
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), name.number);
  return error == std::errc{} && end == digits.data() + digits.size() ? std::optional(std::move(name))
                                                                      : std::nullopt;
}

bool is_queue_name(std::string_view name) noexcept {
  return name.size() <= most_queue_name_chars && is_workspace_name(name);
}

Status check_settings(const QueueSettings& settings) {
  if (settings.backend.empty()) {
    return wrong("the queue has no backend");
  }
  if (settings.time_limit < shortest_time_limit || settings.time_limit > longest_time_limit) {
    return wrong("the time limit must be from 1 minute to 365 days");
  }
  if (settings.give_back < Duration::seconds(1)) {
    return wrong("the time to give trials back (give-back) must be at least 1 second");
  }
  if (settings.time_limit < settings.give_back + shortest_time_limit) {
    return wrong(
        "the time limit must be at least 1 minute longer than the time to give trials back (give-back)");
  }
  if (settings.workers == 0 || settings.backlog == 0) {
    return wrong(
        std::string(settings.workers == 0 ? "the number of workers of an allocation" : "the backlog") +
        " must be at least 1");
  }
  if (settings.max_workers < settings.workers || settings.max_workers > most_workers_of_a_queue) {
    return wrong("the most workers at once must be from " + std::to_string(settings.workers) +
                 " (the workers of one allocation) to " + std::to_string(most_workers_of_a_queue));
  }
  if (settings.slots && (*settings.slots == 0 || *settings.slots > most_slots_of_a_worker)) {
    return wrong("the slots of a worker must be at least 1");
  }
  if (settings.idle_timeout < Duration::seconds(1)) {
    return wrong("the idle timeout must be at least 1 second");
  }
  if (!(settings.min_utilization >= 0 && settings.min_utilization <= 1)) {
    return wrong("the least utilization must be from 0 to 1");
  }
  return Done{};
}

QueueLoad load_of(const QueueRecord& queue) noexcept {
  QueueLoad load;
  for (const auto& [number, allocation] : queue.allocations) {
    if (is_live(allocation)) {
      (is_pending(allocation) ? load.pending : load.running) += 1;
      load.workers += allocation.workers;
      load.joined += allocation.joined;
    }
  }
  return load;
}

Status add_queue(Step& step, const AddQueue& command) {
  if (!is_queue_name(command.queue)) {
    return wrong(
        "the name of the queue is \"" + command.queue +
        "\"; it must be 1 to 63 lower-case letters, digits and \"-\", and must not begin with \"-\"");
  }
  if (Status fine = check_settings(command.settings); !fine) {
    return fine;
  }
  const auto known = step.state().queues.find(command.queue);
  if (known != step.state().queues.end()) {
    return Error{Errc::wrong_state,
                 known->second.state == QueueRecord::State::removed
                     ? "the queue \"" + command.queue +
                           "\" is being removed and still has allocations; choose another name, or wait"
                     : "there is a queue \"" + command.queue + "\" already"};
  }
  step.emit(QueueAdded{command.queue, command.settings});
  return Done{};
}

Status change_queue(Step& step, const ChangeQueue& command) {
  const auto found = step.state().queues.find(command.queue);
  if (found == step.state().queues.end()) {
    return no_queue(step.state(), command.queue);
  }
  if (Status fine = check_settings(command.settings); !fine) {
    return fine;
  }
  if (found->second.settings.backend != command.settings.backend) {
    return wrong("the queue \"" + command.queue + "\" has the backend " + found->second.settings.backend +
                 ", which cannot be changed; remove the queue and add it again");
  }
  if (!(found->second.settings == command.settings)) {
    step.emit(QueueChanged{command.queue, command.settings});
  }
  return Done{};
}

Status pause_queue(Step& step, const PauseQueue& command) {
  const auto found = step.state().queues.find(command.queue);
  if (found == step.state().queues.end()) {
    return no_queue(step.state(), command.queue);
  }
  if (found->second.state == QueueRecord::State::active) {
    step.emit(QueuePaused{command.queue});
  }
  return Done{};
}

Status resume_queue(Step& step, const ResumeQueue& command) {
  const auto found = step.state().queues.find(command.queue);
  if (found == step.state().queues.end()) {
    return no_queue(step.state(), command.queue);
  }
  if (found->second.state == QueueRecord::State::removed) {
    return Error{Errc::wrong_state, "the queue \"" + command.queue + "\" is being removed"};
  }
  const bool rests = found->second.rests_until > step.now();
  if (found->second.state == QueueRecord::State::paused || rests) {
    step.emit(QueueResumed{command.queue});
  }
  return Done{};
}

Status remove_queue(Step& step, const RemoveQueue& command) {
  const auto found = step.state().queues.find(command.queue);
  if (found == step.state().queues.end()) {
    return no_queue(step.state(), command.queue);
  }
  std::vector<AllocationRecord> live;  // Copied: the queue may go with the last of them.
  for (const auto& [number, allocation] : found->second.allocations) {
    if (is_live(allocation)) {
      live.push_back(allocation);
    }
  }
  step.emit(QueueRemoved{command.queue, command.at_once});
  for (const AllocationRecord& allocation : live) {
    if (command.at_once || is_pending(allocation)) {
      static_cast<void>(cancel_allocation(step, {allocation.name, "its queue was removed"}));
    }
  }
  return Done{};
}

// --- what the events do ---

namespace {

/// A removed queue goes with its last live allocation.
void forget_if_over(EngineState& state, const std::string& name) {
  const auto found = state.queues.find(name);
  if (found->second.state == QueueRecord::State::removed && load_of(found->second).workers == 0) {
    state.queues.erase(found);
  }
}

std::string exists(const EventChecks& checks, const std::string& queue) {
  return checks.state.queues.contains(queue) ? "" : no_queue(checks.state, queue).message;
}

/// How long the queue rests after so many failures in a row.
Duration rest_after(std::uint64_t failures) {
  constexpr std::array<std::int64_t, 5> minutes{0, 1, 5, 15, 30};
  return Duration::seconds(60 * minutes.at(std::min<std::size_t>(failures - 1, minutes.size() - 1)));
}

/// What an end says about the queue: 0 = nothing. An allocation that would never start counts for two.
std::uint64_t failures_in(const AllocationRecord& allocation, Instant now) {
  constexpr Duration soon = Duration::seconds(120);
  switch (allocation.end) {
    case AllocationEnd::refused:
      return 1;
    case AllocationEnd::will_not_start:
      return 2;
    case AllocationEnd::completed:
    case AllocationEnd::failed:
    case AllocationEnd::vanished: {
      // One that was never seen running ended between two looks.
      const bool was_short = allocation.started_at == Instant{} || now - allocation.started_at <= soon;
      return allocation.joined == 0 && was_short ? 1 : 0;
    }
    default:
      return 0;
  }
}

void judge_end(QueueRecord& queue, const AllocationRecord& allocation, Instant now) {
  constexpr Duration respect = Duration::seconds(60);
  if (allocation.end == AllocationEnd::canceled_there) {
    queue.rests_until = std::max(queue.rests_until, now + respect);
  }
  if (const std::uint64_t failures = failures_in(allocation, now); failures > 0) {
    queue.failures += failures;
    queue.last_failure = allocation.detail;
    queue.rests_until = std::max(queue.rests_until, now + rest_after(queue.failures));
  }
}

void drop_old(QueueRecord& queue) {
  std::size_t ended =
      static_cast<std::size_t>(std::count_if(queue.allocations.begin(), queue.allocations.end(),
                                             [](const auto& entry) { return !is_live(entry.second); }));
  for (auto at = queue.allocations.begin();
       at != queue.allocations.end() && ended > most_ended_allocations;) {
    if (is_live(at->second)) {
      ++at;
    } else {
      at = queue.allocations.erase(at);
      --ended;
    }
  }
}

}  // namespace

void apply(const Applier& applier, const QueueAdded& added) {
  QueueRecord& queue = applier.state.queues[added.queue];
  queue.name = added.queue;
  queue.settings = added.settings;
  queue.creator = added.actor;
  queue.created_at = applier.event.at;
}
std::string problem_with(const EventChecks& checks, const QueueAdded& added) {
  return checks.state.queues.contains(added.queue) ? "there is a queue \"" + added.queue + "\" already" : "";
}

void apply(const Applier& applier, const QueueChanged& changed) {
  QueueRecord& queue = applier.state.queues.at(changed.queue);
  queue.settings = changed.settings;
  queue.seen_slots.reset();  // Other arguments may give workers of another size.
}
std::string problem_with(const EventChecks& checks, const QueueChanged& changed) {
  return exists(checks, changed.queue);
}

void apply(const Applier& applier, const QueuePaused& paused) {
  QueueRecord& queue = applier.state.queues.at(paused.queue);
  queue.state = QueueRecord::State::paused;
  queue.why = paused.why;
}
std::string problem_with(const EventChecks& checks, const QueuePaused& paused) {
  return exists(checks, paused.queue);
}

void apply(const Applier& applier, const QueueResumed& resumed) {
  QueueRecord& queue = applier.state.queues.at(resumed.queue);
  queue.state = QueueRecord::State::active;
  queue.why.clear();
  queue.failures = 0;
  queue.rests_until = Instant{};
}
std::string problem_with(const EventChecks& checks, const QueueResumed& resumed) {
  return exists(checks, resumed.queue);
}

void apply(const Applier& applier, const QueueRemoved& removed) {
  applier.state.queues.at(removed.queue).state = QueueRecord::State::removed;
  forget_if_over(applier.state, removed.queue);
}
std::string problem_with(const EventChecks& checks, const QueueRemoved& removed) {
  return exists(checks, removed.queue);
}

void apply(const Applier& applier, const AllocationEnded& ended) {
  QueueRecord& queue = applier.state.queues.at(ended.name.queue);
  AllocationRecord& allocation = queue.allocations.at(ended.name.number);
  allocation.state = AllocationRecord::State::ended;
  allocation.ended_at = applier.event.at;
  allocation.end = ended.end;
  allocation.detail = ended.detail;
  applier.state.unneeded_since.erase(ended.name.number);
  judge_end(queue, allocation, applier.event.at);
  drop_old(queue);
  forget_if_over(applier.state, ended.name.queue);
}
std::string problem_with(const EventChecks& checks, const AllocationEnded& ended) {
  const AllocationRecord* known = find_allocation(checks.state, ended.name);
  return known != nullptr && is_live(*known) ? "" : "there is no live allocation " + text_of(ended.name);
}

}  // namespace hpsearch::engine
