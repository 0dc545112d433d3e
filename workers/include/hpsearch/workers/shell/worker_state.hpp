#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// A worker's state directory, held for life: lock, worker.json, attempts/, checkpoints/.
class WorkerState {
 public:
  /// Locks the directory (making it first), reads or makes the worker's identity, and counts this start,
  /// durably. wrong_state: another process holds it; the sentence names it. unavailable: the disk says no.
  [[nodiscard]] static engine::Result<WorkerState> open(const std::filesystem::path& directory);

  [[nodiscard]] const std::string& uid() const noexcept { return uid_; }
  [[nodiscard]] std::uint64_t incarnation() const noexcept { return incarnation_; }
  [[nodiscard]] std::filesystem::path attempts() const { return directory_ / "attempts"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return directory_ / "checkpoints"; }
  [[nodiscard]] AttemptDirectory attempt(const engine::AttemptKey& key) const { return {attempts(), key}; }

  /// The path for an attempt's socket: in its directory, or, when that is too long for a Unix socket, in a
  /// short directory of this user that is named after the state directory.
  [[nodiscard]] engine::Result<std::string> socket_path(const engine::AttemptKey& key) const;

  /// Removes the short directory for sockets, if there is one and nothing is in it.
  void tidy_sockets() const noexcept;

  /// Kills what an earlier run of this worker has left running, waits until it is gone, and removes what only
  /// running programs need. unavailable: something does not die.
  [[nodiscard]] engine::Status end_leftovers() const;

 private:
  WorkerState(std::filesystem::path directory, Descriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}

  std::filesystem::path directory_;
  Descriptor lock_;
  std::string uid_;
  std::uint64_t incarnation_ = 0;
};

}  // namespace hpsearch::workers
