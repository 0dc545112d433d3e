#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/owner_record.hpp"
#include "daemon/store/durable_file.hpp"
#include "daemon/store/store_lock.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/daemon_file.hpp"

namespace hpsearch::daemon {

/// What statfs(2) calls the type of the file system there; 0 when it cannot say.
[[nodiscard]] std::uint32_t file_system_magic(const std::string& path) noexcept;
using FileSystemMagic = std::uint32_t (*)(const std::string& path);

/// Its name, where neither locks nor fsync keep their word on every server and mount option; "" for a local
/// one.
[[nodiscard]] std::string_view network_file_system(std::uint32_t magic) noexcept;

/// The directory of one daemon: its lock, its store, the file that says where it listens.
///
/// Locks on the directory itself and on the database keep a second daemon out, whatever is removed in there
/// and whichever way leads to it. The owner's record keeps out those on other hosts, which may not see the
/// locks. The file `lock` only tells the command line that a daemon runs, and which.
///
/// Owns:    the locks, for as long as it lives; the kernel gives them back however the process ends.
class StateDirectory {
 public:
  enum class NetworkFileSystems { refused, allowed };
  enum class OtherHosts { respected, ignored };

  /// Makes the directory if need be (0700) and locks it. Nothing below it is made, renamed or written before
  /// every lock is held, but an empty database where there never was one. wrong_state: another process has
  /// it, named by its pid and, unless it is ours, its host; bad_request: it is on a network file system;
  /// not_found: its database is missing; unavailable: the file system refuses.
  [[nodiscard]] static engine::Result<std::unique_ptr<StateDirectory>> open(
      const std::string& path, NetworkFileSystems network = NetworkFileSystems::refused,
      FileSystemMagic magic_of = file_system_magic, OtherHosts others = OtherHosts::respected);
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< Absolute.
  [[nodiscard]] std::string database() const { return path_ + "/events.db"; }
  [[nodiscard]] std::string backups() const { return path_ + "/backups"; }
  [[nodiscard]] std::string contexts() const { return path_ + "/contexts"; }
  [[nodiscard]] std::string checkpoints() const { return path_ + "/checkpoints"; }
  [[nodiscard]] std::string http_socket() const { return path_ + "/api.sock"; }
  [[nodiscard]] std::string workers_socket() const { return path_ + "/workers.sock"; }

  /// The lock of the database, to open it with; once.
  [[nodiscard]] std::optional<StoreLock> take_store_lock() {
    return std::exchange(store_lock_, std::nullopt);
  }

  /// Whether the path still leads here, and the owner's record is ours; renews it when that is due. corrupt:
  /// saying what happened. To be called every few seconds.
  engine::Status check_ours();

  /// Writes daemon.json, whole or not at all, with this process in it.
  engine::Status announce(proto::DaemonFile announcement);
  /// Takes daemon.json away, where the directory is still ours.
  void retract() noexcept;

 private:
  StateDirectory(std::string path, Descriptor directory, Descriptor lock, StoreLock store_lock,
                 OwnerFile owner)
      : path_(std::move(path)),
        directory_(std::move(directory)),
        lock_(std::move(lock)),
        store_lock_(std::move(store_lock)),
        owner_(std::move(owner)) {}
  engine::Status take();

  std::string path_;
  Descriptor directory_;
  Descriptor lock_;
  std::optional<StoreLock> store_lock_;
  OwnerFile owner_;
};

}  // namespace hpsearch::daemon
