#pragma once

#include <string>

#include "daemon/backups.hpp"
#include "daemon/contexts.hpp"
#include "daemon/runtime.hpp"
#include "daemon/worker_sessions.hpp"
#include "hpsearch/net/http.hpp"

namespace hpsearch::daemon {

/// What HTTP answers say about the daemon itself.
struct AboutDaemon {
  std::string version;
  std::string state_dir;
  engine::Instant started;
  Backups* backups = nullptr;    ///< None where the store is not in a file.
  Contexts* contexts = nullptr;  ///< None where nothing is kept but the store.
};

/// The HTTP interface: one table from method and path to a handler. Runtime and gate must outlive it.
///
/// Nothing is answered that a crash could still take back: answers leave when everything they may rest on is
/// durable.
[[nodiscard]] net::HttpServer::Handler http_routes(Runtime& runtime, WorkerSessions& sessions,
                                                   AboutDaemon about);

}  // namespace hpsearch::daemon
