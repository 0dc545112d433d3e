#pragma once

#include <functional>

#include "daemon/core/state_directory.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Checks once a second that the state directory is still ours, and that the store's files are where a start
/// would look for them. A daemon without requests commits nothing, and would not notice otherwise.
///
/// Threads: on the loop's.
class OwnershipWatch {
 public:
  using Lost = std::function<void(const engine::Error&)>;

  /// All of them must outlive this. `lost` is called once.
  OwnershipWatch(net::Timeline& loop, StateDirectory& directory, const SqliteStore& store, Lost lost);
  OwnershipWatch(const OwnershipWatch&) = delete;
  OwnershipWatch& operator=(const OwnershipWatch&) = delete;

 private:
  void look();

  StateDirectory& directory_;
  const SqliteStore& store_;
  Lost lost_;
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
