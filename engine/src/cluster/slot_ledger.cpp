#include "hpsearch/engine/cluster/slot_ledger.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::engine {

SlotLedger::SlotLedger(std::uint64_t slots) : holders_(slots), vacant_((slots + 63) / 64) {
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    set_free(slot, true);
  }
}

SlotLedger::SlotLedger(std::uint64_t slots, std::vector<std::uint32_t> device_of) : SlotLedger(slots) {
  HPSEARCH_CHECK(device_of.empty() || device_of.size() == slots, "every slot is on a device, or none");
  device_of_ = std::move(device_of);
  for (const std::uint32_t device : device_of_) {
    devices_ = std::max(devices_, device + 1);
  }
}

std::optional<std::vector<SlotIndex>> SlotLedger::find_free(std::uint64_t wanted) const {
  if (wanted > free_) {
    return std::nullopt;
  }
  if (!device_of_.empty()) {
    return find_spread(wanted);
  }
  std::vector<SlotIndex> found;
  found.reserve(wanted);
  for (std::uint64_t word = 0; found.size() < wanted; ++word) {
    for (std::uint64_t rest = vacant_[word]; rest != 0 && found.size() < wanted; rest &= rest - 1) {
      found.emplace_back(word * 64 + static_cast<std::uint64_t>(std::countr_zero(rest)));
    }
  }
  return found;
}

/// Two processes of one trial on one device get in each other's way, and some libraries refuse it; so a trial
/// rather waits than that it gets shares of one device where it could have had several.
std::optional<std::vector<SlotIndex>> SlotLedger::find_spread(std::uint64_t wanted) const {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  const bool apart = wanted <= devices_;
  std::vector<std::uint64_t> load(devices_);
  for (std::uint64_t slot = 0; slot < holders_.size(); ++slot) {
    load[device_of_[slot]] += holders_[slot] == LeaseId{} ? 0U : 1U;
  }
  std::vector<bool> taken(holders_.size());
  std::vector<bool> used(devices_);
  std::vector<SlotIndex> found;
  while (found.size() < wanted) {
    std::uint64_t best = most;
    for (std::uint64_t slot = 0; slot < holders_.size(); ++slot) {
      const bool vacant = (vacant_[slot / 64] >> (slot % 64) & 1U) != 0 && !taken[slot];
      if (vacant && !(apart && used[device_of_[slot]]) &&
          (best == most || load[device_of_[slot]] < load[device_of_[best]])) {
        best = slot;
      }
    }
    if (best == most) {
      return std::nullopt;
    }
    taken[best] = true;
    used[device_of_[best]] = true;
    ++load[device_of_[best]];
    found.emplace_back(best);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void SlotLedger::take(const std::vector<SlotIndex>& slots, LeaseId lease) {
  for (const SlotIndex slot : slots) {
    HPSEARCH_CHECK(slot.number() < holders_.size(), "a lease names slots its worker has");
    HPSEARCH_CHECK(holders_[slot.number()] == LeaseId{}, "a slot has one holder");
    holders_[slot.number()] = lease;
    ++held_;
    judge(slot.number());
  }
}

void SlotLedger::release(const std::vector<SlotIndex>& slots, LeaseId lease) noexcept {
  for (const SlotIndex slot : slots) {
    if (slot.number() < holders_.size() && holders_[slot.number()] == lease && lease != LeaseId{}) {
      holders_[slot.number()] = LeaseId{};
      --held_;
      judge(slot.number());
    }
  }
}

void SlotLedger::withdraw(SlotIndex slot) {
  if (slot.number() < holders_.size()) {
    withdrawn_.resize(holders_.size());
    withdrawn_[slot.number()] = true;
    judge(slot.number());
  }
}

void SlotLedger::restore(SlotIndex slot) noexcept {
  if (slot.number() < withdrawn_.size()) {
    withdrawn_[slot.number()] = false;
    judge(slot.number());
  }
}

/// A slot is free if no lease holds it and it is not withdrawn.
void SlotLedger::judge(std::uint64_t slot) noexcept {
  const bool withdrawn = slot < withdrawn_.size() && withdrawn_[slot];
  set_free(slot, holders_[slot] == LeaseId{} && !withdrawn);
}

void SlotLedger::set_free(std::uint64_t slot, bool free) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  const bool was_free = (vacant_[slot / 64] & bit) != 0;
  vacant_[slot / 64] = free ? vacant_[slot / 64] | bit : vacant_[slot / 64] & ~bit;
  free_ = free_ + (free ? 1 : 0) - (was_free ? 1 : 0);
}

}  // namespace hpsearch::engine
