#pragma once

#include <string>

#include "daemon/store/closed_store.hpp"

namespace hpsearch::daemon {

/// What became of a store that was copied event by event.
struct Salvage {
  engine::Lsn kept;        ///< The last event of the copy.
  engine::Instant kept_at;
  engine::Lsn stored;      ///< The last event that the old store says it had; of what a damaged write-ahead log hides,
                           ///< it does not know.
  std::string damage;      ///< What the log ended with; "" when it is whole.
};

/// Copies every event before the first damaged one into a new store file, and leaves the old one as it is.
///
/// The copy goes another way than the log it comes from may have gone on, and workers may know of things it does not.
/// So its daemon's starts are counted on from far beyond any that the old one can have had: workers obey it, and
/// whatever attempts of theirs it does not know are held, not ended.
///
/// wrong_state: something is at `to` already; unavailable: it cannot be written. O(log).
[[nodiscard]] engine::Result<Salvage> salvage(ClosedStore& from, const std::string& to);

}  // namespace hpsearch::daemon
