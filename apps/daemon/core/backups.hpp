#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/core/runtime.hpp"
#include "daemon/store/sqlite_store.hpp"

namespace hpsearch::daemon {

/// Copies the store while the daemon runs: a few megabytes at a time, between the commits.
///
/// A copy lies in the state directory until its client has made a backup of it and reports the result. Only a
/// good result counts as a backup. A copy without a report is removed by the next copy, or by the next start.
///
/// Threads: call it on the loop's; copying runs on the store's.
class Backups {
 public:
  /// Copies are put below the state directory, in `backups_directory`. Runtime and store must outlive this.
  Backups(Runtime& runtime, SqliteStore& store, std::string state_directory);
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  /// Makes a copy that contains at least every event that is durable now; answers its path. wrong_state: one
  /// is being made; unavailable: it cannot be written, and nothing is left of it.
  using Answer = std::function<void(const engine::Result<std::string>&)>;
  void make(Answer answer);

  enum class Became : std::uint8_t { backup, nothing };
  /// Removes the copy. not_found: it is not the last copy that was made.
  engine::Status conclude(const std::string& path, Became became);

  /// Whether a copy is being made, or one was made in the last hour that has no result yet: another one would
  /// remove it.
  [[nodiscard]] bool in_use() const;

  /// When the last copy was made that became a backup, or a backup of the stopped daemon's store. Null: there
  /// is none.
  [[nodiscard]] std::optional<engine::Instant> last_good() const noexcept { return last_good_; }
  /// Notes a backup of the store that was made before this daemon started, as by one on another machine.
  void found_older(engine::Instant made) noexcept;

 private:
  struct Making;
  struct Copy {
    std::string path;
    engine::Instant made;
  };
  void go_on(const std::shared_ptr<Making>& making);
  void drop_copy() noexcept;

  Runtime& runtime_;
  SqliteStore& store_;
  std::string state_directory_;
  std::string directory_;
  bool making_ = false;
  std::uint64_t made_ = 0;
  std::optional<Copy> copy_;
  std::optional<engine::Instant> last_good_;
};

}  // namespace hpsearch::daemon
