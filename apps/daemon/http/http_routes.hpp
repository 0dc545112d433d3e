#pragma once

#include <functional>
#include <memory>
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
#include "hpsearch/io/configuration/reading.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/io/net/loop_lag.hpp"

namespace hpsearch::daemon {

/// HttpRules::other_type: the type of experiment files.
inline constexpr std::string_view yaml_type = "application/yaml";

class Allocator;
class AuditQueue;
class CheckpointRemover;
class CheckpointSpace;
class Invites;
class Provider;
class ScheduledBackups;

/// The parts of the daemon that HTTP answers describe.
struct AboutDaemon {
  std::string version;
  std::string state_dir;
  engine::Instant started;
  Backups* backups = nullptr;                           ///< Null if the store is not in a file.
  const ScheduledBackups* scheduled_backups = nullptr;  ///< Null likewise.
  Contexts* contexts = nullptr;                         ///< Null if only the store is kept.
  KeptStore* kept = nullptr;                            ///< Null likewise.
  CheckpointRemover* remover = nullptr;                 ///< Null likewise.
  const CheckpointSpace* checkpoint_space = nullptr;    ///< Null likewise.
  net::Background* checks = nullptr;                    ///< Where submissions are checked; must be set.
  Authentication* authentication = nullptr;             ///< Must be set.
  const SealedSecrets* secrets = nullptr;  ///< Null if configurations are stored with plain secrets.
  AuditQueue* audit = nullptr;             ///< Null: changes by callers are not recorded.
  bool audits_reads = false;               ///< Reads are recorded, too.
  Sessions* sessions = nullptr;            ///< Null: browsers cannot sign in.
  Tokens* tokens = nullptr;                ///< Null if there are no files.
  /// The OpenID provider where people sign in; not set, or null: there is none.
  std::function<std::shared_ptr<Provider>()> provider{};
  Invites* invites = nullptr;             ///< Null if workers need no keys.
  std::optional<net::TlsIdentity> tls{};  ///< The certificate of the TCP port for clients, if it has one.
  std::string advertised{};               ///< Address for workers of others, if an operator has set one.
  Allocator* allocator = nullptr;         ///< Null: the daemon asks no other scheduler for allocations.
  const Pages* pages = nullptr;           ///< Null: the files embedded in the program.
  /// The options that count now; not set: none is shown.
  std::function<configuration::Values()> configuration{};
  /// Opens a TCP port of this machine for browsers, unless clients have one; returns its address. Not set:
  /// not possible.
  std::function<engine::Result<std::string>()> open_http_port{};
  std::function<bool()> is_ending{};   ///< Whether the daemon shuts down; not set: never.
  std::size_t named_experiments = 50;  ///< Number of experiments with metrics of their own.
  net::LoopLag* lag = nullptr;  ///< Lag of the loop that serves the routes; null if it is not measured.
};

/// The HTTP interface: one table from method and path to a handler. Its arguments must outlive it.
///
/// A crash cannot undo what an answer shows: answers are sent when everything that they may depend on is
/// durable.
struct ServedRoutes {
  net::HttpServer::Handler handler;
  /// HttpRules::let_in: a caller without permission need not send its body.
  std::function<net::HttpEntry(const net::HttpRequest& head)> let_in;
  /// Ends all streams, and those that begin later.
  std::function<void()> end_streams;
  /// Answers scrapers without a token, on a separate address.
  net::HttpServer::Handler metrics;
};
[[nodiscard]] ServedRoutes http_routes(Runtime& runtime, WorkerSessions& sessions, AboutDaemon about);

}  // namespace hpsearch::daemon
