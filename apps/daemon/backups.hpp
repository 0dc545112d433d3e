#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/runtime.hpp"
#include "daemon/store/sqlite_store.hpp"

namespace hpsearch::daemon {

/// Copies of the store, made while the daemon serves: a few megabytes at a time, between the commits.
///
/// Threads: on the loop's; the copying is done on the store's.
class Backups {
 public:
  /// They are put into `directory`, under names of ours. Runtime and store must outlive this.
  Backups(Runtime& runtime, SqliteStore& store, std::string directory);
  Backups(const Backups&) = delete;
  Backups& operator=(const Backups&) = delete;

  /// Makes one that holds at least every event that is durable now; tells its path. wrong_state: one is being
  /// made; unavailable: it cannot be written.
  using Answer = std::function<void(const engine::Result<std::string>&)>;
  void make(Answer answer);
  /// When the newest of those that are still there was made. Nothing: there is none.
  [[nodiscard]] std::optional<engine::Instant> last_made() const noexcept { return last_made_; }

 private:
  struct Making;
  void go_on(const std::shared_ptr<Making>& making);

  Runtime& runtime_;
  SqliteStore& store_;
  std::string directory_;
  bool making_ = false;
  std::optional<engine::Instant> last_made_;
};

}  // namespace hpsearch::daemon
