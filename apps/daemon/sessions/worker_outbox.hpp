#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/engine.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

/// What was sent to one worker and is not acknowledged: leases and decisions about their attempts.
class WorkerOutbox {
 public:
  [[nodiscard]] bool empty() const noexcept { return leases_.empty() && decisions_.empty(); }
  void clear();

  void told(jobs::LaunchSpec lease, engine::Instant now);
  void told(const engine::AttemptKey& key, const engine::Decision& decision, engine::Instant now);

  void lease_acknowledged(const engine::AttemptKey& key) { leases_.erase(key); }
  void decision_acknowledged(const engine::AttemptKey& key, engine::Lsn decision);

  /// What must be sent to the worker again, in this order: everything sent before `now - repeat_after`.
  /// Removes what is no longer valid. `durable` is the number of the last stored decision: newer ones are
  /// sent when they are stored.
  [[nodiscard]] std::vector<proto::FromDaemon> due(engine::WorkerId worker, const engine::Engine& engine,
                                                   engine::Lsn durable, engine::Instant now,
                                                   engine::Duration repeat_after);

 private:
  struct Lease {
    jobs::LaunchSpec spec;
    engine::Instant told;
  };
  struct Told {
    engine::Decision decision;
    engine::Instant told;
  };

  std::map<engine::AttemptKey, Lease> leases_;
  std::map<engine::AttemptKey, Told> decisions_;
};

/// The live attempt of that key, or nullptr.
[[nodiscard]] const engine::LiveAttempt* live_attempt(const engine::Engine& engine,
                                                      const engine::AttemptKey& key);

}  // namespace hpsearch::daemon
