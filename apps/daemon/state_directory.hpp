#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
/// Two locks keep a second daemon out: that of the file `lock`, and that of the database, which also holds
/// where somebody removed `lock`.
///
/// Owns:    the locks, for as long as it lives; the kernel gives them back however the process ends.
class StateDirectory {
 public:
  enum class NetworkFileSystems { refused, allowed };

  /// Makes the directory if need be (0700) and locks it. wrong_state: another process has it, named by its
  /// pid, and nothing in it was changed; bad_request: it is on a network file system; unavailable: the file
  /// system refuses.
  [[nodiscard]] static engine::Result<std::unique_ptr<StateDirectory>> open(
      const std::string& path, NetworkFileSystems network = NetworkFileSystems::refused,
      FileSystemMagic magic_of = file_system_magic);
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }  ///< Absolute.
  [[nodiscard]] std::string database() const { return path_ + "/events.db"; }
  [[nodiscard]] std::string backups() const { return path_ + "/backups"; }
  [[nodiscard]] std::string contexts() const { return path_ + "/contexts"; }
  [[nodiscard]] std::string checkpoints() const { return path_ + "/checkpoints"; }

  /// The lock of the database that was there already, to open it with; once.
  [[nodiscard]] std::optional<StoreLock> take_store_lock() {
    return std::exchange(store_lock_, std::nullopt);
  }

  /// Writes daemon.json, whole or not at all, with this process in it.
  engine::Status announce(proto::DaemonFile announcement);
  /// Takes daemon.json away.
  void retract() noexcept;

 private:
  StateDirectory(std::string path, Descriptor lock, std::optional<StoreLock> store_lock)
      : path_(std::move(path)), lock_(std::move(lock)), store_lock_(std::move(store_lock)) {}

  std::string path_;
  Descriptor lock_;
  std::optional<StoreLock> store_lock_;
};

}  // namespace hpsearch::daemon
