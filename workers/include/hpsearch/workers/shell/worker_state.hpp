#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/core/spool.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// Whether an earlier worker there has called open_to_users(): its programs may still run.
[[nodiscard]] bool is_open_to_users(const std::filesystem::path& state_directory);

/// A worker's state directory, locked for its lifetime: lock, worker.json, attempts/, checkpoints/,
/// contexts/, setups/, spares/, trials/.
class WorkerState {
 public:
  /// Locks the directory (making it first), reads or makes the worker's identity, and counts this start,
  /// durably. wrong_state: another process holds it; the sentence names it. unavailable: the disk fails.
  [[nodiscard]] static engine::Result<WorkerState> open(const std::filesystem::path& directory);

  /// Lets the users of programs pass through to their directories, and closes everything else:
  /// attempts/ and setups/ have directories of users. bad_request: users could not enter it, or could not
  /// find sockets; the sentence has the reason.
  [[nodiscard]] engine::Status open_to_users() const;

  [[nodiscard]] const std::string& uid() const noexcept { return uid_; }
  [[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }
  /// The daemon of this worker's earlier run.
  [[nodiscard]] const KnownDaemon& known() const noexcept { return known_; }
  /// Stores it for the next run, durably.
  [[nodiscard]] engine::Status remember(const KnownDaemon& daemon) const;
  /// The devices of its slots, from the last keep_devices(); none without such a call. unavailable,
  /// corrupt: the file can't be read.
  [[nodiscard]] engine::Result<RememberedSlots> devices() const;
  [[nodiscard]] engine::Status keep_devices(const RememberedSlots& devices) const;
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::filesystem::path attempts() const { return directory_ / "attempts"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return directory_ / "checkpoints"; }
  [[nodiscard]] std::filesystem::path contexts() const { return directory_ / "contexts"; }
  [[nodiscard]] std::filesystem::path setups() const { return directory_ / "setups"; }
  [[nodiscard]] std::filesystem::path spares() const { return directory_ / "spares"; }
  [[nodiscard]] AttemptDirectory attempt(const engine::AttemptKey& key) const { return {attempts(), key}; }

  /// The path for one of an attempt's two sockets, "socket" or "agent.socket": in its directory, or, if
  /// that is too long for a Unix socket or on a network file system, in the state directory's
  /// files::SocketDirectory.
  [[nodiscard]] engine::Result<std::string> socket_path(const engine::AttemptKey& key,
                                                        std::string_view name = "socket") const;

  /// Removes the short directory for sockets if it is empty.
  void tidy_sockets() const noexcept;

  /// The attempts that an earlier run of this worker left, from their spools. Before, the processes of
  /// attempts without a spool, or with a damaged one, are killed and awaited, and files that only running
  /// programs need are removed, and so are spares; a damaged spool is named in the log and stays as
  /// spool.broken. unavailable: something can't be read; then nothing is killed or removed.
  /// wrong_state: a process can't be killed.
  [[nodiscard]] engine::Result<std::vector<SpooledAttempt>> take_over() const;

 private:
  WorkerState(std::filesystem::path directory, Descriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  [[nodiscard]] std::filesystem::path identity() const { return directory_ / "worker.json"; }
  [[nodiscard]] engine::Status read_identity();

  std::filesystem::path directory_;
  Descriptor lock_;
  std::string uid_;
  std::uint64_t incarnation_ = 0;
  KnownDaemon known_;
  bool has_sockets_ = true;  ///< Whether its file system supports sockets.
};

}  // namespace hpsearch::workers
