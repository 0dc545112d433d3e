#pragma once

#include <cstdint>
#include <string>

#include "daemon/store/tools/closed_store.hpp"

namespace hpsearch::daemon {

/// What became of a store that was copied event by event.
struct Salvage {
  engine::Lsn kept;  ///< The last event that was copied.
  engine::Instant kept_at;
  engine::Lsn stored;  ///< The last event that the old store says it had; of what a damaged write-ahead log
                       ///< hides, it does not know.
  std::uint64_t starts = 0;  ///< Of the copy: its next one is the one after.
  std::string damage;        ///< What the log ended with; "" when it is whole.
};

/// Copies every event before the first damaged one into a new store file, with its seal, and leaves the old
/// one as it is.
///
/// The copy goes another way than the log it comes from may have gone on, and workers may know of things it
/// does not. So its daemon's starts are counted on from beyond any that the old one, or an earlier copy, can
/// have had, and a last event (StoreRestored) numbers leases and decisions anew: workers obey it, take
/// nothing new for what they know, and whatever attempts of theirs it does not know are held, not ended. Both
/// numbers follow from `now`, the wall clock, and are beyond those of the old log whatever that says.
///
/// wrong_state: something is at `to` already; unavailable: it cannot be written. O(log).
[[nodiscard]] engine::Result<Salvage> salvage(ClosedStore& from, const std::string& to, engine::Instant now);

}  // namespace hpsearch::daemon
