#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// Who holds which slot of one worker. A slot is free or held by exactly one lease.
///
/// Threads: none of its own; callers take turns.
/// Cost:    take and release O(slots named); find_free O(slots found + total / 64).
/// Fails:   one slot with two holders is our bug and aborts.
class SlotLedger {
 public:
  explicit SlotLedger(std::uint64_t slots = 0);

  /// The lowest-numbered `wanted` free slots, all or none; not taken yet.
  [[nodiscard]] std::optional<std::vector<SlotIndex>> find_free(std::uint64_t wanted) const;

  void take(const std::vector<SlotIndex>& slots, LeaseId lease);

  /// Frees those of `slots` that `lease` holds; none is fine.
  void release(const std::vector<SlotIndex>& slots, LeaseId lease) noexcept;

  /// One of this worker's, and nobody holds it.
  [[nodiscard]] bool is_free(SlotIndex slot) const noexcept {
    return slot.number() < holders_.size() && holders_[slot.number()] == LeaseId{};
  }
  [[nodiscard]] std::uint64_t total() const noexcept { return holders_.size(); }
  [[nodiscard]] std::uint64_t free() const noexcept { return free_; }
  [[nodiscard]] std::uint64_t held() const noexcept { return holders_.size() - free_; }

 private:
  void set_free(std::uint64_t slot, bool free) noexcept;

  std::vector<LeaseId> holders_;      // Lease 0 = nobody.
  std::vector<std::uint64_t> vacant_; // One bit per slot, 64 to a word: set = free.
  std::uint64_t free_ = 0;
};

}  // namespace hpsearch::engine
