#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// Who holds which slot of one worker. A slot is free or held by exactly one lease; a free one that is
/// withdrawn is not given away.
///
/// Slots may share devices. Who wants several gets them on as many devices: on different ones, unless the
/// worker has fewer devices than slots are wanted. One after another they are spread over the devices.
///
/// Threads: none of its own; callers take turns.
/// Cost:    take and release O(slots named); find_free O(slots found + total / 64), where slots share devices
///          O(slots found × total).
/// Fails:   one slot with two holders is our bug and aborts.
class SlotLedger {
 public:
  explicit SlotLedger(std::uint64_t slots = 0);
  /// `device_of` says for each slot which device it is on, counted from 0; or is empty: each has its own.
  SlotLedger(std::uint64_t slots, std::vector<std::uint32_t> device_of);

  /// `wanted` free slots, all or none; not taken yet. The lowest-numbered, of the emptiest devices first.
  [[nodiscard]] std::optional<std::vector<SlotIndex>> find_free(std::uint64_t wanted) const;

  void take(const std::vector<SlotIndex>& slots, LeaseId lease);

  /// Frees those of `slots` that `lease` holds; none is fine.
  void release(const std::vector<SlotIndex>& slots, LeaseId lease) noexcept;

  /// Not given away until it is restored; who holds it keeps it. Slots it does not have are fine.
  void withdraw(SlotIndex slot);
  void restore(SlotIndex slot) noexcept;

  /// One of this worker's that no lease holds.
  [[nodiscard]] bool is_free(SlotIndex slot) const noexcept {
    return slot.number() < holders_.size() && holders_[slot.number()] == LeaseId{};
  }
  [[nodiscard]] std::uint64_t total() const noexcept { return holders_.size(); }
  /// Those that may be given away.
  [[nodiscard]] std::uint64_t free() const noexcept { return free_; }
  [[nodiscard]] std::uint64_t held() const noexcept { return held_; }

 private:
  void set_free(std::uint64_t slot, bool free) noexcept;
  void judge(std::uint64_t slot) noexcept;
  [[nodiscard]] std::optional<std::vector<SlotIndex>> find_spread(std::uint64_t wanted) const;

  std::vector<LeaseId> holders_;          // Lease 0 = free.
  std::vector<std::uint64_t> vacant_;     // One bit per slot, 64 to a word: set = free.
  std::vector<bool> withdrawn_;           // Empty until one is.
  std::vector<std::uint32_t> device_of_;  // Empty: each slot has its own.
  std::uint32_t devices_ = 0;
  std::uint64_t free_ = 0;
  std::uint64_t held_ = 0;
};

}  // namespace hpsearch::engine
