#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/access/authentication.hpp"
#include "daemon/access/sealed_secrets.hpp"
#include "daemon/access/sessions.hpp"
#include "daemon/access/tokens.hpp"
#include "daemon/blobs/contexts.hpp"
#include "daemon/blobs/kept_store.hpp"
#include "daemon/core/backups.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/pages/pages.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop_lag.hpp"

namespace hpsearch::daemon {

/// HttpRules::other_type: of experiment files.
inline constexpr std::string_view yaml_type = "application/yaml";

class AuditLog;
class CheckpointRemover;

/// What HTTP answers say about the daemon itself.
struct AboutDaemon {
  std::string version;
  std::string state_dir;
  engine::Instant started;
  Backups* backups = nullptr;                ///< None where the store is not in a file.
  Contexts* contexts = nullptr;              ///< None where nothing is kept but the store.
  KeptStore* kept = nullptr;                 ///< The same.
  CheckpointRemover* remover = nullptr;      ///< The same.
  net::Background* checks = nullptr;         ///< Where submissions are checked; must be set.
  Authentication* authentication = nullptr;  ///< Must be set.
  const SealedSecrets* secrets = nullptr;    ///< None where configurations are stored as they come.
  AuditLog* audit = nullptr;                 ///< None: what callers change is not recorded.
  bool audits_reads = false;                 ///< What they read is recorded, too.
  Sessions* sessions = nullptr;              ///< None: browsers cannot sign in.
  Tokens* tokens = nullptr;                  ///< None where there are no files.
  const Pages* pages = nullptr;              ///< None: those in the program.
  /// Opens a TCP port of this machine for browsers, unless clients have one; its address. Not set: there is
  /// none.
  std::function<engine::Result<std::string>()> open_http_port{};
  std::function<bool()> is_ending{};   ///< Whether the daemon shuts down; not set: never.
  std::size_t named_experiments = 50;  ///< Experiments with metrics of their own.
  net::LoopLag* lag = nullptr;         ///< Of the loop that serves the routes; none where nobody measures it.
};

/// The HTTP interface: one table from method and path to a handler. What it is given must outlive it.
///
/// Nothing is answered that a crash could still take back: answers leave when everything they may rest on is
/// durable.
struct ServedRoutes {
  net::HttpServer::Handler handler;
  /// HttpRules::let_in: whoever may not send it needs not send its body.
  std::function<net::HttpEntry(const net::HttpRequest& head)> let_in;
  /// Says goodbye to all who read a stream, also to those that come later.
  std::function<void()> end_streams;
  /// Answers scrapers without a token, on an address of their own.
  net::HttpServer::Handler metrics;
};
[[nodiscard]] ServedRoutes http_routes(Runtime& runtime, WorkerSessions& sessions, AboutDaemon about);

}  // namespace hpsearch::daemon
