#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "daemon/store/files/file_sync.hpp"
#include "daemon/store/files/owner_record.hpp"
#include "daemon/store/files/store_lock.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/files/file_system_kind.hpp"
#include "hpsearch/io/files/socket_directory.hpp"
#include "hpsearch/io/files/state_place.hpp"
#include "hpsearch/proto/api/daemon_file.hpp"

namespace hpsearch::daemon {

/// The directory of one daemon: its lock, its store, and the file with the addresses where it listens.
///
/// Locks on the directory itself and on the database keep a second daemon out, whatever is removed in the
/// directory and whichever path leads to it. The owner's record keeps out daemons on other hosts, which may
/// not see the locks. The file `lock` only shows the command line that a daemon runs, and its pid.
///
/// Owns:    the locks, as long as it lives; the kernel releases them however the process ends.
class StateDirectory {
 public:
  using NetworkFileSystems = files::NetworkFileSystems;
  enum class OtherHosts { respected, ignored };
  enum class Store { here, in_a_database };

  /// Makes the directory if necessary (0700) and locks it. Nothing below it is made, renamed or written
  /// before every lock is held, except an empty database if there was none. wrong_state: another process has
  /// it, named by its pid and, unless it is ours, its host; bad_request: it is on a file system that needs
  /// the user's consent, or that failed its test; not_found: its database is missing; unavailable: the file
  /// system refuses. If the store is in a database elsewhere, events.db is neither made nor locked.
  [[nodiscard]] static engine::Result<std::unique_ptr<StateDirectory>> open(
      const std::string& path, NetworkFileSystems network = NetworkFileSystems::refused,
      files::FileSystemAt look_at = files::file_system_at, OtherHosts others = OtherHosts::respected,
      Store store = Store::here);
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< Absolute.
  [[nodiscard]] std::string database() const { return path_ + "/events.db"; }
  [[nodiscard]] std::string checkpoints() const { return path_ + "/checkpoints"; }
  [[nodiscard]] std::string http_socket() const { return sockets() + "/api.sock"; }
  [[nodiscard]] std::string workers_socket() const { return sockets() + "/workers.sock"; }

  /// The warning for its owner at the first start on a network file system; "" later, and on a local one.
  [[nodiscard]] const std::string& warning() const noexcept { return warning_; }

  /// The lock of the database, to open it with; once. Null if the store isn't here.
  [[nodiscard]] std::optional<StoreLock> take_store_lock() {
    return std::exchange(store_lock_, std::nullopt);
  }

  /// Checks that the path still leads here, and that the owner's record is ours; renews the record when due.
  /// corrupt: with what happened. Must be called every few seconds.
  engine::Status check_ours();

  /// Writes daemon.json atomically, with the pid of this process.
  engine::Status announce(proto::DaemonFile announcement);
  /// Removes daemon.json, if the directory is still ours.
  void retract() noexcept;

 private:
  StateDirectory(std::string path, Descriptor directory, Descriptor lock, std::optional<StoreLock> store_lock,
                 OwnerFile owner, files::FileSystemKind on)
      : path_(std::move(path)),
        directory_(std::move(directory)),
        lock_(std::move(lock)),
        store_lock_(std::move(store_lock)),
        owner_(std::move(owner)),
        on_(std::move(on)) {}
  engine::Status take();
  /// The directory of the sockets: this one, or another one if this is on a network file system, which may
  /// not support sockets.
  [[nodiscard]] const std::string& sockets() const noexcept { return sockets_ ? sockets_->path() : path_; }

  std::string path_;
  Descriptor directory_;
  Descriptor lock_;
  std::optional<StoreLock> store_lock_;
  OwnerFile owner_;
  files::FileSystemKind on_;
  std::optional<files::SocketDirectory> sockets_;
  std::string warning_;
};

}  // namespace hpsearch::daemon
