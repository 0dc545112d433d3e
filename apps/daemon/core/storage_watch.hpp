#pragma once

#include <string>

#include "daemon/core/runtime.hpp"
#include "daemon/store/files/disk_space.hpp"

namespace hpsearch::daemon {

/// Watches the room on the store's disk, and has the daemon take less as it runs out: first no new
/// experiments, then nothing that workers report, while what users want ended still ends. With room, all of
/// it is taken again.
///
/// Owns:    the reserve file.
/// Threads: on the loop's.
class StorageWatch {
 public:
  /// `directory` is where `store_file` is. The runtime must outlive this.
  StorageWatch(Runtime& runtime, const std::string& directory, std::string store_file);
  StorageWatch(const StorageWatch&) = delete;
  StorageWatch& operator=(const StorageWatch&) = delete;

  /// The committer found no room for a group: the reserve is given up for it.
  void found_no_room(const engine::Error& error);

 private:
  void look();

  Runtime& runtime_;
  std::string directory_;
  std::string store_file_;
  DiskReserve reserve_;
  std::string told_;  // The state that was logged last.
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
