#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "hpsearch/engine/engine.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

/// Messages to one worker that are not acknowledged: leases and decisions about their attempts.
class WorkerOutbox {
 public:
  [[nodiscard]] bool empty() const noexcept { return leases_.empty() && decisions_.empty(); }
  void clear();

  void sent(jobs::LaunchSpec lease, engine::Instant now);
  void sent(const engine::AttemptKey& key, const engine::Decision& decision, engine::Instant now);

  void lease_acknowledged(const engine::AttemptKey& key) { leases_.erase(key); }
  void decision_acknowledged(const engine::AttemptKey& key, engine::Lsn decision);

  /// The messages to send to the worker again, in this order: everything sent before `now - repeat_after`.
  /// Removes what is no longer valid. `durable` is the number of the last stored decision: newer ones are
  /// sent when they are stored.
  [[nodiscard]] std::vector<proto::FromDaemon> due(engine::WorkerId worker, const engine::Engine& engine,
                                                   engine::Lsn durable, engine::Instant now,
                                                   engine::Duration repeat_after);

 private:
  struct Lease {
    jobs::LaunchSpec spec;
    engine::Instant sent_at;
  };
  struct SentDecision {
    engine::Decision decision;
    engine::Instant sent_at;
  };

  std::map<engine::AttemptKey, Lease> leases_;
  std::map<engine::AttemptKey, SentDecision> decisions_;
};

/// The live attempt of that key, or nullptr.
[[nodiscard]] const engine::LiveAttempt* live_attempt(const engine::Engine& engine,
                                                      const engine::AttemptKey& key);

}  // namespace hpsearch::daemon
