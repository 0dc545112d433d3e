#include "simulation/invariants.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "engine/tally_twin.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {
namespace {

/// The slots that an attempt has now, by worker.
std::vector<std::pair<WorkerId, std::uint64_t>> places_of(const LiveAttempt& live) {
  if (!live.gang) {
    return {{live.worker, live.slots.size()}};
  }
  std::vector<std::pair<WorkerId, std::uint64_t>> places;
  for (const Gang::Member& member : live.gang->members) {
    if (!member.gone) {
      places.emplace_back(member.worker, member.slots.size());
    }
  }
  return places;
}

/// All or none, and what ends one member ends all.
std::string broken_gang(const ExperimentRecord& record, const LiveAttempt& live) {
  const Gang& gang = *live.gang;
  std::set<WorkerId> workers;
  std::uint64_t slots = 0;
  bool one_is_lost = false;
  for (const Gang::Member& member : gang.members) {
    workers.insert(member.worker);
    slots += member.slots.size();
    one_is_lost = one_is_lost || (member.gone && !member.exited);
  }
  if (gang.members.size() < 2 || workers.size() != gang.members.size()) {
    return "has fewer workers than members";
  }
  if (slots != record.config.resources.slots_per_trial) {
    return "has part of its slots";
  }
  if (gang.all_gone()) {
    return "lives, and its members are gone";
  }
  return (one_is_lost || gang.members.front().gone) && !live.is_ending()
             ? "lost a member, and the others train on"
             : "";
}

std::string broken_trial(const Engine& engine, const ExperimentRecord& record, std::size_t number) {
  const TrialRecord& trial = record.trials[number];
  const std::string who = "trial " + std::to_string(number) + " ";
  const bool running = record.running.contains(TrialNumber(number));
  if (running != trial.live.has_value()) {
    return who + "stands in `running` without a lease, or the other way round";
  }
  if (record.pending.contains(TrialNumber(number)) != (trial.state == TrialState::pending)) {
    return who + "stands in `pending` wrongly";
  }
  if (trial.state == TrialState::running && !trial.live) {
    return who + "is RUNNING without a lease";
  }
  if (!trial.live) {
    return "";
  }
  for (const auto& [where, slots] : places_of(*trial.live)) {
    const auto worker = engine.workers().find(where);
    if (worker == engine.workers().end() || !worker->second.present) {
      return who + "is leased to a worker that is not there";
    }
    if (!worker->second.attempts.contains(trial.live->key)) {
      return who + "is not known to its worker";
    }
  }
  if (const std::string broken = trial.live->gang ? broken_gang(record, *trial.live) : ""; !broken.empty()) {
    return who + broken;
  }
  return trial.live->key.lease == trial.last_lease ? "" : who + "has two leases";
}

/// The slots of a workspace's attempts: those of each owner.
std::map<std::string, std::uint64_t, std::less<>> slots_by_owner(const Engine& engine,
                                                                 const std::string& workspace) {
  std::map<std::string, std::uint64_t, std::less<>> slots;
  for (const auto& [id, record] : engine.experiments()) {
    for (const TrialNumber number : record.running) {
      for (const auto& [worker, held] : places_of(*record.trials[number.number()].live)) {
        if (workspace == workspace_of(record.config) && held > 0) {
          slots[record.owner] += held;
        }
      }
    }
  }
  return slots;
}

/// What the grant of a lease leaves of its workspace's quota.
std::string broken_quota(const Engine& engine, const ExperimentRecord& leased) {
  const std::string name(workspace_of(leased.config));
  const Quota& quota = engine.workspaces().at(name).quota;
  const auto slots = slots_by_owner(engine, name);
  std::uint64_t sum = 0;
  for (const auto& [owner, held] : slots) {
    sum += held;
  }
  if (quota.max_slots && sum > *quota.max_slots) {
    return "workspace " + name + " got a slot beyond its quota of " + std::to_string(*quota.max_slots);
  }
  const auto mine = slots.find(leased.owner);
  if (slot_hours_reached(engine.workspaces().at(name), leased.config.resources.slots_per_trial,
                         engine.last_instant())) {
    return "workspace " + name + " got a slot beyond its quota of slot hours";
  }
  return quota.max_slots_per_user && mine != slots.end() && mine->second > *quota.max_slots_per_user
             ? "a user of workspace " + name + " got a slot beyond the quota of " +
                   std::to_string(*quota.max_slots_per_user)
             : "";
}

std::string broken_workspace(const Engine& engine, const WorkspaceRecord& workspace) {
  const std::string who = "workspace " + workspace.name + ": ";
  const auto slots = slots_by_owner(engine, workspace.name);
  std::uint64_t sum = 0;
  for (const auto& [owner, held] : slots) {
    sum += held;
  }
  std::uint64_t experiments = 0;
  std::uint64_t active = 0;
  const Instant now = engine.last_instant();
  const Instant day_ago = Instant::from_micros(now.micros() - std::int64_t{86'400} * 1'000'000);
  Duration held;
  Duration held_lately;
  const auto add = [&](const SlotTime& time) {
    held = held + time.until(now);
    held_lately = held_lately + time.between(day_ago, now);
  };
  for (const auto& [id, deleted] : engine.deleted()) {
    if (deleted.workspace == workspace.name) {
      add(deleted.slot_time);
    }
  }
  for (const auto& [id, record] : engine.experiments()) {
    const bool mine = workspace_of(record.config) == workspace.name;
    if (mine) {
      add(record.slot_time);
    }
    experiments += mine ? 1U : 0U;
    active += mine && !is_ended(record.state) ? 1U : 0U;
  }
  if (workspace.slots != sum || workspace.slots_of != slots) {
    return who + "counts " + std::to_string(workspace.slots) + " slots, and its attempts hold " +
           std::to_string(sum);
  }
  if (workspace.slot_time.until(now) != held || workspace.slot_time.between(day_ago, now) != held_lately) {
    return who + "its experiments' slot time doesn't add up";
  }
  return workspace.experiments == experiments && workspace.active == active
             ? ""
             : who + "its experiments don't add up";
}

}  // namespace

std::string broken_limit(const Engine& engine, const Event* last) {
  const auto* lease = last == nullptr ? nullptr : std::get_if<LeaseGranted>(&last->body);
  const auto* creation = last == nullptr ? nullptr : std::get_if<TrialCreated>(&last->body);
  for (const auto& [id, record] : engine.experiments()) {
    const bool leased = lease != nullptr && lease->experiment == id;
    const bool created = creation != nullptr && creation->experiment == id;
    if (last != nullptr && !leased && !created) {
      continue;  // Nothing else can go beyond a limit.
    }
    if (const std::string beyond = leased ? broken_quota(engine, record) : ""; !beyond.empty()) {
      return beyond;
    }
    const std::string where = "experiment " + std::to_string(id.number()) + ": ";
    const SearcherConfig& searcher = record.config.searcher;
    // A limit that was lowered leaves those over it that have to give their slots back.
    std::uint64_t running = 0;
    std::uint64_t slots = 0;
    for (const TrialNumber number : record.running) {
      const LiveAttempt& live = *record.trials[number.number()].live;
      const bool stays = !live.decision || live.decision->directive == Directive::train_on;
      const bool came_back = live.origin != live.key.lease;  // It ran anyway.
      if ((stays && !came_back) || leased) {
        ++running;
        for (const auto& [worker, held] : places_of(live)) {
          slots += held;
        }
      }
    }
    if (searcher.max_concurrent_trials > 0 && running > searcher.max_concurrent_trials) {
      return where + std::to_string(running) + " trials run, and max_concurrent_trials is " +
             std::to_string(searcher.max_concurrent_trials);
    }
    if (leased && lease->slots.empty()) {
      const WorkerRecord& worker = engine.workers().at(lease->worker);
      if (worker.max_unslotted && worker.unslotted > *worker.max_unslotted) {
        return where + std::to_string(worker.unslotted) + " trials without slots run on worker " +
               std::to_string(lease->worker.number()) + ", which takes " +
               std::to_string(*worker.max_unslotted);
      }
    }
    std::uint64_t invalid = 0;
    for (const TrialRecord& trial : record.trials) {
      invalid += trial.reason.detail().starts_with("invalid hyperparameters") ? 1U : 0U;
    }
    // How many repeats there are is seen by the searcher's own tests.
    const bool repeats = searcher.repeats > 1;
    if (created && !repeats && searcher.max_trials > 0 &&
        record.trials.size() > searcher.max_trials + invalid) {
      return where + std::to_string(record.trials.size()) + " trials, " + std::to_string(invalid) +
             " of them invalid, and max_trials is " + std::to_string(searcher.max_trials);
    }
    if (record.config.resources.max_slots && slots > *record.config.resources.max_slots) {
      return where + std::to_string(slots) + " slots are held, and max_slots is " +
             std::to_string(*record.config.resources.max_slots);
    }
  }
  return "";
}

std::string idle_slot(const Engine& engine) {
  std::uint64_t total = 0;
  std::uint64_t free = 0;
  for (const auto& [id, worker] : engine.workers()) {
    total += worker.present ? worker.slots.total() : 0;
    const bool rests = worker.rests_until > engine.last_instant();
    free += worker.present && !rests ? worker.slots.free() : 0;
  }
  for (const auto& [id, record] : engine.experiments()) {
    const std::uint64_t asked = record.config.searcher.max_concurrent_trials;
    // Every trial here holds one slot, so both limits count the same.
    const std::uint64_t limit =
        std::min(asked == 0 ? total : asked, record.config.resources.max_slots.value_or(total));
    const bool may_run_more =
        record.running.size() + record.delayed.size() < limit;  // Those keep their places.
    const bool full = slot_quota_reached(*record.workspace, record.owner, 1) ||
                      slot_hours_reached(*record.workspace, 1, engine.last_instant());
    if (free == 0 || full || record.state != ExperimentState::active || !may_run_more ||
        record.config.resources.slots_per_trial != 1) {
      continue;
    }
    const Next next = record.searcher->next();
    if (std::holds_alternative<CreateTrial>(next) || std::holds_alternative<PromoteTrial>(next)) {
      return "experiment " + std::to_string(id.number()) + " has work, and a slot is free";
    }
  }
  return "";
}

std::string broken_invariant(const Engine& engine) {
  if (const std::string broken = broken_limit(engine, nullptr); !broken.empty()) {
    return broken;
  }
  std::map<WorkerId, std::uint64_t> held;
  for (const auto& [id, record] : engine.experiments()) {
    const std::string where = "experiment " + std::to_string(id.number()) + ": ";
    std::array<std::uint64_t, 7> by_state{};
    for (std::size_t i = 0; i < record.trials.size(); ++i) {
      const std::string broken = broken_trial(engine, record, i);
      if (!broken.empty()) {
        return where + broken;
      }
      ++by_state[static_cast<std::size_t>(record.trials[i].state)];
      if (record.trials[i].live) {
        for (const auto& [worker, slots] : places_of(*record.trials[i].live)) {
          held[worker] += slots;
        }
      }
    }
    if (by_state != record.by_state) {
      return where + "by_state does not add up";
    }
    if (const std::string counted = described(record.tally), looked = described_by_looking_at_all(record);
        counted != looked) {
      return where + "its tally says " + counted + ", and there is " + looked;
    }
    const double progress = record.searcher->progress();
    if (!(progress >= 0 && progress <= 1)) {
      return where + "progress is " + std::to_string(progress);
    }
    if (is_ended(record.state) && (!record.running.empty() || !record.pending.empty())) {
      return where + "ended with trials still going";
    }
    const bool by_budget = record.reason.find("budget.") != std::string::npos;
    if (record.state == ExperimentState::completed && progress < 1 && !by_budget) {
      return where + "completed at progress " + std::to_string(progress);
    }
    for (std::size_t i = 0; is_ended(record.state) && i < record.trials.size(); ++i) {
      if (!is_closed(record.trials[i].state)) {
        return where + "ended as " + std::string(name_of(record.state)) + " (" + record.reason +
               ") with trial " + std::to_string(i) + " left " + std::string(name_of(record.trials[i].state));
      }
    }
  }
  for (const auto& [name, workspace] : engine.workspaces()) {
    if (const std::string broken = broken_workspace(engine, workspace); !broken.empty()) {
      return broken;
    }
  }
  for (const auto& [id, worker] : engine.workers()) {
    for (const auto& [key, leaked_processes] : worker.leaked_processes) {
      for (const SlotIndex slot : leaked_processes.slots) {
        held[id] += !leaked_processes.released && slot.number() < worker.slots.total() ? 1U : 0U;
      }
    }
    if (worker.slots.held() != held[id]) {
      return "worker " + worker.name + ": ledger and leases differ";
    }
  }
  return "";
}

}  // namespace hpsearch::engine
