#pragma once

#include <string>
#include <vector>

#include "daemon/store/closed_store.hpp"
#include "daemon/store/snapshot_files.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::daemon {

/// What a thorough look at a store found.
struct StoreCheck {
  engine::Lsn last;  ///< Every event up to this one is as it was written, and follows from those before it.
  std::vector<std::string> damages;  ///< Of the log and the tables beside it, naming event and place.
  struct OfSnapshot {
    std::string path;
    std::string problem;  ///< "" when its state is what replaying the log comes to.
  };
  std::vector<OfSnapshot> snapshots;

  [[nodiscard]] bool sound() const noexcept;
};

/// Checks pages, chain, the tables beside the log, that every event follows from those before it, and that
/// each snapshot is the state that replay comes to. Changes nothing. O(log).
[[nodiscard]] StoreCheck check_store(ClosedStore& store, const SnapshotFiles& snapshots,
                                     engine::SearcherRegistry registry);

}  // namespace hpsearch::daemon
