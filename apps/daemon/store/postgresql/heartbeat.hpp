#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "daemon/store/postgresql/connection.hpp"

namespace hpsearch::daemon {

/// The error of a store that another daemon has. wrong_state: names that daemon, if the database says which.
[[nodiscard]] engine::Error taken_over(Connection& connection, std::uint64_t epoch);

/// Shows other daemons every two seconds that this one has the store, on a connection and a thread of its
/// own. While the database can't be reached it tries again; commits fail meanwhile, too.
///
/// Owns:    its thread, which has ended when the destructor returns.
/// Threads: its functions can be called on any.
class Heartbeat {
 public:
  /// `epoch`: that of the daemon.
  Heartbeat(DatabaseUrl url, std::uint64_t epoch);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();

  /// wrong_state: another daemon has taken the store over.
  [[nodiscard]] engine::Status check_ours() const;

 private:
  void run();
  void beat();

  Connection connection_;
  const std::uint64_t epoch_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<engine::Error> lost_;
  bool stopping_ = false;
  std::thread thread_;  // Last: it uses everything above.
};

}  // namespace hpsearch::daemon
