#pragma once

#include "daemon/core/audit_queue.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/keys/invites.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/io/net/background.hpp"

namespace hpsearch::daemon {

/// Answers each JOIN: allows the key and records that in the audit log. A refusal is recorded with the
/// refused requests. All that is given must outlive the tasks in `disk`.
class WorkerJoins {
 public:
  WorkerJoins(Runtime& runtime, Invites& invites, WorkerKeys& keys, AuditQueue& audit, net::Background& disk)
      : runtime_(runtime), invites_(invites), keys_(keys), audit_(audit), disk_(disk) {}

  void take(const WorkerSessions::Settings::Guest& guest, const proto::Join& join,
            WorkerSessions::Settings::JoinAnswer answer);

 private:
  /// Whether all workers of this name are lost: a machine that was installed anew may have the name.
  [[nodiscard]] bool is_name_of_the_lost(const std::string& name) const;
  void record(AuditEntry entry, const engine::Result<std::string>& name,
              const WorkerSessions::Settings::JoinAnswer& answer);

  Runtime& runtime_;
  Invites& invites_;
  WorkerKeys& keys_;
  AuditQueue& audit_;
  net::Background& disk_;
};

}  // namespace hpsearch::daemon
