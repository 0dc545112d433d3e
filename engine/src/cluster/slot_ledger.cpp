#include "hpsearch/engine/cluster/slot_ledger.hpp"

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::engine {

SlotLedger::SlotLedger(std::uint64_t slots) : holders_(slots), free_(slots) {}

std::optional<std::vector<SlotIndex>> SlotLedger::find_free(std::uint64_t wanted) const {
  if (wanted > free_) {
    return std::nullopt;
  }
  std::vector<SlotIndex> found;
  for (std::size_t i = 0; i < holders_.size() && found.size() < wanted; ++i) {
    if (!holders_[i]) {
      found.emplace_back(i);
    }
  }
  return found;
}

void SlotLedger::take(const std::vector<SlotIndex>& slots, LeaseId lease) {
  for (const SlotIndex slot : slots) {
    HPSEARCH_CHECK(slot.number() < holders_.size(), "a lease names slots its worker has");
    HPSEARCH_CHECK(!holders_[slot.number()], "a slot has one holder");
    holders_[slot.number()] = lease;
    --free_;
  }
}

void SlotLedger::release(LeaseId lease) noexcept {
  for (auto& holder : holders_) {
    if (holder == lease) {
      holder.reset();
      ++free_;
    }
  }
}

}  // namespace hpsearch::engine
