#pragma once

#include <map>
#include <set>
#include <utility>

#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// The leases of clients that run trials themselves: each report renews its lease. A lease that is not
/// renewed in time is lost, like the attempt of a silent worker.
///
/// The log does not record when a lease was last renewed. After a start of the daemon, and after a time in
/// which it did not run, each lease lasts its whole time again.
///
/// Threads: the runtime's, which must outlive this; construct it after the recovery. Cost: O(log leases) for
/// each report, and once a second O(leases that are due).
class ExternalLeases {
 public:
  explicit ExternalLeases(Runtime& runtime);
  ExternalLeases(const ExternalLeases&) = delete;
  ExternalLeases& operator=(const ExternalLeases&) = delete;

 private:
  struct Held {
    engine::AttemptKey key;
    engine::Duration lease_for;
    engine::Instant heard;
  };
  void note(const engine::Event& event);
  void hold(const engine::AttemptKey& key, engine::Duration lease_for, engine::Instant at);
  void check();
  void renew_all(engine::Instant now);
  /// Ends the attempts that must end at once: no worker could end them.
  void end_killed();

  Runtime& runtime_;
  std::map<engine::LeaseId, Held> held_;
  /// A lease ends no earlier than its entry is due; it may have been renewed since the entry was made.
  std::set<std::pair<engine::Instant, engine::LeaseId>> due_;
  engine::Instant last_check_;
  net::Watch events_;
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
