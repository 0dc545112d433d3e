#include "hpsearch/engine/cluster/slot_ledger.hpp"

#include <bit>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::engine {

SlotLedger::SlotLedger(std::uint64_t slots) : holders_(slots), vacant_((slots + 63) / 64), free_(slots) {
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    set_free(slot, true);
  }
}

std::optional<std::vector<SlotIndex>> SlotLedger::find_free(std::uint64_t wanted) const {
  if (wanted > free_) {
    return std::nullopt;
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

void SlotLedger::take(const std::vector<SlotIndex>& slots, LeaseId lease) {
  for (const SlotIndex slot : slots) {
    HPSEARCH_CHECK(slot.number() < holders_.size(), "a lease names slots its worker has");
    HPSEARCH_CHECK(holders_[slot.number()] == LeaseId{}, "a slot has one holder");
    holders_[slot.number()] = lease;
    set_free(slot.number(), false);
    --free_;
  }
}

void SlotLedger::release(const std::vector<SlotIndex>& slots, LeaseId lease) noexcept {
  for (const SlotIndex slot : slots) {
    if (slot.number() < holders_.size() && holders_[slot.number()] == lease) {
      holders_[slot.number()] = LeaseId{};
      set_free(slot.number(), true);
      ++free_;
    }
  }
}

void SlotLedger::set_free(std::uint64_t slot, bool free) noexcept {
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  vacant_[slot / 64] = free ? vacant_[slot / 64] | bit : vacant_[slot / 64] & ~bit;
}

}  // namespace hpsearch::engine
