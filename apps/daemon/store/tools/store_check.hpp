#pragma once

#include <string>
#include <vector>

#include "daemon/store/tools/stored_log.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::daemon {

/// The result of a thorough check of a store.
struct StoreCheck {
  engine::Lsn last;  ///< Every event up to this one is unchanged, and follows from those before it.
  std::vector<std::string> damages;  ///< Damages of the log and the tables beside it, with event and place.

  [[nodiscard]] bool sound() const noexcept;
};

/// Checks pages, chain, the tables beside the log, and that every event follows from those before it.
/// Changes nothing. O(log).
[[nodiscard]] StoreCheck check_store(StoredLog& store, engine::SearcherRegistry registry);

}  // namespace hpsearch::daemon
