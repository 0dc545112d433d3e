#pragma once

#include <string>

#include "daemon/core/runtime.hpp"
#include "daemon/store/files/disk_space.hpp"

namespace hpsearch::daemon {

/// Watches the free space on the store's disk, and makes the daemon accept less as it runs out: first no new
/// experiments, then no reports of workers, while users can still end things. With enough space, everything
/// is accepted again.
///
/// Owns:    the reserve file.
/// Threads: on the loop's.
class StorageWatch {
 public:
  /// `directory` is where `store_file` is; or the store is in `database`, whose address has no secret. The
  /// runtime must outlive this.
  StorageWatch(Runtime& runtime, const std::string& directory, std::string store_file,
               std::string database = "");
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

  /// Called when the committer found no room for a group, for which the reserve is removed, or no database.
  void found_no_room(const engine::Error& error);

 private:
  void look();

  Runtime& runtime_;
  std::string directory_;
  std::string store_file_;
  std::string database_;  // "" = the store is in a file.
  DiskReserve reserve_;
  std::string logged_;  // The state that was logged last.
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
