#pragma once

#include <functional>

#include "daemon/core/state_directory.hpp"
#include "daemon/store/event_store.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Checks once a second that the state directory and the store are still ours.
///
/// Threads: on the loop's.
class OwnershipWatch {
 public:
  using Lost = std::function<void(const engine::Error&)>;

  /// All of them must outlive this. `lost` is called once.
  OwnershipWatch(net::Timeline& loop, StateDirectory& directory, const EventStore& store, Lost lost);
  OwnershipWatch(const OwnershipWatch&) = delete;
  OwnershipWatch& operator=(const OwnershipWatch&) = delete;

 private:
  void look();

  StateDirectory& directory_;
  const EventStore& store_;
  Lost lost_;
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
