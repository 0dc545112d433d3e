#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/store/tools/stored_log.hpp"

namespace hpsearch::daemon {

/// The result of copying a store event by event.
struct Salvage {
  engine::Lsn kept;  ///< The last event that was copied.
  engine::Instant kept_at;
  engine::Lsn stored;  ///< The last event according to the old store; events that a damaged write-ahead log
                       ///< hides are not included.
  std::uint64_t starts = 0;  ///< Number of the copy's starts: its next start is the one after.
  std::string damage;        ///< The damage at which the log ended; "" if it is whole.
};

/// Copies every event before the first damaged one into a new store file, with its seal, and leaves the old
/// one unchanged.
///
/// The copy continues differently from the log that it comes from, and workers may know of things that it
/// does not. So its daemon's starts are counted on from beyond any that the old one, or an earlier copy, can
/// have had, and a last event (StoreRestored) numbers leases and decisions anew: workers follow them, don't
/// confuse new ones with those that they know, and hold attempts that the copy does not know instead of
/// ending them. Both numbers follow from `now`, the wall clock, and are beyond those of the old log whatever
/// it contains.
///
/// `upto`: later events are left out, except those of the same decision, which have the same instant. Damage
/// after it doesn't count.
///
/// wrong_state: something is at `to` already; unavailable: it cannot be written. O(log).
[[nodiscard]] engine::Result<Salvage> salvage(StoredLog& from, const std::string& to, engine::Instant now,
                                              std::optional<engine::Lsn> upto = {});

}  // namespace hpsearch::daemon
