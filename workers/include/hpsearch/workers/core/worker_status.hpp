#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::workers {

/// The state of a worker, for metrics.
struct WorkerStatus {
  bool connected = false;   ///< It has a session with the daemon.
  std::uint64_t slots = 0;  ///< All slots.
  std::uint64_t busy = 0;   ///< Slots of running attempts.
  std::uint64_t out_of_use =
      0;  ///< Slots whose device is broken, whose processes survive SIGKILL, or that other searches have.
  std::uint64_t waiting = 0;         ///< Attempts whose slots are still in use.
  std::uint64_t running = 0;         ///< From preparing its files to publishing its last checkpoint.
  std::uint64_t ended = 0;           ///< Ended attempts that the daemon has not acknowledged completely.
  std::uint64_t unacknowledged = 0;  ///< Reports that the daemon has not acknowledged.
  std::vector<engine::AttemptKey> attempts{};  ///< All of them, by key.
};

}  // namespace hpsearch::workers
