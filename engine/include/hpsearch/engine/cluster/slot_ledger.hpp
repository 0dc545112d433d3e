#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// Who holds which slot of one worker. A slot is free or held by exactly one lease.
///
/// Threads: none of its own; callers take turns.
/// Cost:    O(slots) per call; workers have at most 64 or so.
/// Fails:   one slot with two holders is our bug and aborts.
class SlotLedger {
 public:
  explicit SlotLedger(std::uint64_t slots = 0);

  /// The lowest-numbered `wanted` free slots, all or none; not taken yet.
  [[nodiscard]] std::optional<std::vector<SlotIndex>> find_free(std::uint64_t wanted) const;

  void take(const std::vector<SlotIndex>& slots, LeaseId lease);

  /// Frees what `lease` holds here; nothing held is fine.
  void release(LeaseId lease) noexcept;

  [[nodiscard]] std::uint64_t total() const noexcept { return holders_.size(); }
  [[nodiscard]] std::uint64_t free() const noexcept { return free_; }
  [[nodiscard]] std::uint64_t held() const noexcept { return holders_.size() - free_; }

 private:
  std::vector<std::optional<LeaseId>> holders_;
  std::uint64_t free_ = 0;
};

}  // namespace hpsearch::engine
