#pragma once

#include "daemon/core/runtime.hpp"
#include "daemon/retention/retention_rules.hpp"
#include "hpsearch/io/net/timeline.hpp"

namespace hpsearch::daemon {

/// Removes what the rules no longer keep, a little at a time, by commands to the engine: each removal is an
/// event of the log.
///
/// Threads: the runtime's.
class Retention {
 public:
  /// The runtime must have recovered, and must outlive this.
  Retention(Runtime& runtime, RetentionRules rules);
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  /// Other rules from now on.
  void follow(RetentionRules rules) { rules_ = rules; }

  /// Removes what is due now, at most a few experiments; also done from time to time. O(experiments).
  void look();

 private:
  Runtime& runtime_;
  RetentionRules rules_;
  net::Watch clock_;
};

}  // namespace hpsearch::daemon
