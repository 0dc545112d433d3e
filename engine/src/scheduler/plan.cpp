#include "hpsearch/engine/scheduler/plan.hpp"

namespace hpsearch::engine {

bool goes_first(const Claim& a, const Claim& b) noexcept {
  if (a.priority != b.priority) {
    return a.priority < b.priority;
  }
  const double a_used = static_cast<double>(a.slots_in_use) / a.weight;
  const double b_used = static_cast<double>(b.slots_in_use) / b.weight;
  if (a_used < b_used || b_used < a_used) {
    return a_used < b_used;
  }
  if (a.slots_per_trial != b.slots_per_trial) {
    return a.slots_per_trial > b.slots_per_trial;
  }
  return a.experiment < b.experiment;
}

void ClaimQueue::put(const Claim& claim) {
  const auto known = places_.find(claim.experiment);
  if (known == places_.end()) {
    places_.emplace(claim.experiment, claims_.insert(claim).first);
    without_slots_ += claim.slots_per_trial == 0 ? 1U : 0U;
    return;
  }
  const Claim& before = *known->second;
  without_slots_ += claim.slots_per_trial == 0 ? 1U : 0U;
  without_slots_ -= before.slots_per_trial == 0 ? 1U : 0U;
  const bool stays = !goes_first(before, claim) && !goes_first(claim, before);
  if (!stays) {
    auto node = claims_.extract(known->second);  // Taking the node along spares an allocation.
    node.value() = claim;
    known->second = claims_.insert(std::move(node)).position;
  }
}

void ClaimQueue::remove(ExperimentId experiment) {
  const auto known = places_.find(experiment);
  if (known != places_.end()) {
    without_slots_ -= known->second->slots_per_trial == 0 ? 1U : 0U;
    claims_.erase(known->second);
    places_.erase(known);
  }
}

void Vacancies::put(WorkerId worker, std::uint64_t free_slots, std::uint64_t attempts, bool takes_unslotted) {
  const std::optional<std::uint64_t> now = takes_unslotted ? std::optional(attempts) : std::nullopt;
  const auto [entry, is_new] = entries_.try_emplace(worker, Entry{free_slots, std::nullopt});
  if (is_new) {
    by_free_slots_.emplace(free_slots, worker);
  } else {
    move(by_free_slots_, entry->second.free_slots, free_slots, worker);
  }
  const std::optional<std::uint64_t> before = entry->second.attempts;
  if (before && now) {
    move(by_attempts_, *before, *now, worker);
  } else if (before) {
    by_attempts_.erase({*before, worker});
  } else if (now) {
    by_attempts_.emplace(*now, worker);
  }
  entry->second = Entry{free_slots, now};
}

void Vacancies::remove(WorkerId worker) {
  const auto entry = entries_.find(worker);
  if (entry == entries_.end()) {
    return;
  }
  by_free_slots_.erase({entry->second.free_slots, worker});
  if (entry->second.attempts) {
    by_attempts_.erase({*entry->second.attempts, worker});
  }
  entries_.erase(entry);
}

void Vacancies::move(Ordered& ordered, std::uint64_t from, std::uint64_t to, WorkerId worker) {
  if (from != to) {
    auto node = ordered.extract({from, worker});
    node.value().first = to;
    ordered.insert(std::move(node));
  }
}

}  // namespace hpsearch::engine
