#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/access/authentication.hpp"
#include "daemon/access/sealed_secrets.hpp"
#include "daemon/access/sessions.hpp"
#include "daemon/access/tokens.hpp"
#include "daemon/alloc/allocator.hpp"
#include "daemon/backup/stored_keys.hpp"
#include "daemon/blobs/checkpoint_remover.hpp"
#include "daemon/blobs/checkpoint_space.hpp"
#include "daemon/blobs/contexts.hpp"
#include "daemon/blobs/kept_store.hpp"
#include "daemon/core/audit_queue.hpp"
#include "daemon/core/backups.hpp"
#include "daemon/core/ownership_watch.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/core/scheduled_backups.hpp"
#include "daemon/core/state_directory.hpp"
#include "daemon/core/storage_watch.hpp"
#include "daemon/keys/invites.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "daemon/notifications/receivers.hpp"
#include "daemon/options/options.hpp"
#include "daemon/pages/pages.hpp"
#include "daemon/retention/retention.hpp"
#include "daemon/sessions/lost_workers.hpp"
#include "daemon/sessions/relative_paths.hpp"
#include "daemon/sessions/worker_joins.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "daemon/sign_on/provider.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "daemon/streams/notifier.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/service_manager.hpp"

namespace hpsearch::daemon {

/// One daemon from start to end; its parts are built in the order of their members and destroyed in reverse.
/// Each subject has a source of its own.
class DaemonProcess {
 public:
  DaemonProcess(const Options& options, engine::SearcherRegistry registry);
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  Exit run();

 private:
  static constexpr std::size_t most_checks_at_once = 2;

  static std::string absolute(const std::string& path);

  // Life: daemon_process.cpp
  Exit end(const engine::Error& error, Exit code);
  [[nodiscard]] proto::DaemonFile announcement() const;
  /// One line for those who look at the service.
  [[nodiscard]] std::string state_of_service() const;
  void say_ready();
  void tell_state();
  /// The daemon is ending: a second signal must not replace its exit status, nor interrupt the cleanup.
  static void leave_signals();
  /// Starts decisions and the regular checks of storage, workers and checkpoints.
  engine::Status begin();
  void carry_out(const engine::Order& order);
  void storage_failed(const engine::Error& error);
  /// Accepts no more requests, makes the accepted ones durable and answers them, then ends. Programs on
  /// workers keep running.
  void begin_to_end();

  // The store: open_store.cpp
  [[nodiscard]] bool in_a_database() const noexcept;
  /// A database that is away comes back: then the manager of services may start the daemon again.
  [[nodiscard]] Exit exit_of(const engine::Error& error) const noexcept;
  /// Before anything is made: the directory of a store in a database has no events.db.
  [[nodiscard]] engine::Status check_not_elsewhere() const;
  engine::Status open_storage();
  engine::Status open_file();
  engine::Status open_database();
  /// A long log takes longer than service managers wait for a start.
  engine::Status replay();
  [[nodiscard]] engine::Error remedy(engine::Error error) const;
  /// Without the key of their secrets all waiting trials would fail: refuse to start instead.
  engine::Status read_secrets_key();
  [[nodiscard]] engine::Error without_key(engine::Error error) const;

  // Keys in the database: stored_keys.cpp
  /// Before the store is taken: a wrong key file changes nothing.
  engine::Status open_stored_keys(const DatabaseUrl& url);
  /// The files of keys become those of the database.
  engine::Status fetch_keys();
  /// From now on, changes of keys go to the database.
  engine::Status store_keys();

  // sign_on.cpp: tokens, sign-in and the audit log.
  /// Reads the tokens and the sessions of browsers: callers over HTTP are checked against them.
  engine::Status read_tokens();
  /// Reads where people sign in, and their roles. An unchanged provider keeps the sign-ins that have begun.
  engine::Status read_sign_in();
  void store_session_uses();
  engine::Status open_audit();

  // The certificate: certificate.cpp
  engine::Status read_certificate();
  /// A client that identifies the certificate by its fingerprint doesn't check its names.
  void warn_of_names() const;
  void warn_of_expiry() const;
  void reload_certificate();

  // Backups: backups.cpp
  /// Copies of the events are made of a store in a file; a database has its own.
  engine::Status open_backups();
  [[nodiscard]] BackupPlan backup_plan() const;

  // kept_files.cpp: contexts, kept logs and kept files.
  /// Opens the stores of contexts, logs and files.
  engine::Status open_kept_files();
  [[nodiscard]] KeptStore::Limits kept_limits() const;
  [[nodiscard]] RetentionRules retention_rules() const;
  [[nodiscard]] std::set<std::string> contexts_of_experiments() const;
  /// Only if the attempt ran on that worker.
  void note_log_problem(engine::WorkerId worker, const proto::LogNotKept& message);

  // notified.cpp: receivers of notifications.
  /// Reads who is notified, if anybody is.
  engine::Status read_notified();
  [[nodiscard]] std::string notifications_directory() const;
  /// Notifies the receivers that were read last, from where the former notifier ends.
  void start_notifier();
  void reload_receivers();

  // Workers: workers.cpp
  engine::Status listen_for_workers();
  /// Where workers on other machines reach this daemon; "" = nowhere.
  [[nodiscard]] std::string address_for_workers() const;
  void open_allocator();
  /// A worker of this name was forgotten. Other workers of that name keep the keys that they use; while one
  /// of them is away, its key is not known.
  void remove_keys_of(const std::string& name);
  [[nodiscard]] engine::Duration lost_after() const;
  [[nodiscard]] engine::Patience patience() const;
  [[nodiscard]] engine::Duration forget_after() const;
  [[nodiscard]] jobs::Programs::OpenSecrets open_secrets();

  // Ports of clients: listen.cpp
  /// Opens the ports. Each step needs the ones before it.
  engine::Status listen();
  engine::Status listen_for_clients();
  engine::Status listen_for_metrics(const net::HttpServer::Handler& handler);
  /// Reopens the port, so that a page that was open before the daemon ended works again.
  void reopen_http_port();
  /// Opens 127.0.0.1 only, for browsers that sign in. Uses the same port as last time, if it is free.
  engine::Result<std::string> open_http_port();
  static engine::Error other_address(engine::Error error, const std::string& free_one);
  /// Logs what anyone who reaches the addresses can do.
  void warn_of(const proto::DaemonFile& here) const;

  // Reading again: reload.cpp
  /// Reads the configuration again, and the files that it names.
  void reload();

  Options options_;
  net::ServiceManager service_ = net::ServiceManager::of_environment();
  net::PassedSockets passed_;
  std::string last_state_;  ///< As the service manager knows it.
  engine::SearcherRegistry registry_;
  Pages pages_;
  Exit exit_ = Exit::ok;
  net::Loop loop_;
  net::Watch service_clock_;
  std::unique_ptr<StateDirectory> directory_;
  std::unique_ptr<EventStore> store_;
  SqliteStore* file_store_ = nullptr;               ///< The same, if it is in a file.
  std::optional<RelativePathStore> movable_store_;  ///< The store for everything except backups.
  std::optional<StoredKeys> stored_keys_;           // Declared before those whose changes it keeps.
  std::unique_ptr<Runtime> runtime_;
  std::optional<WorkerKeys>
      worker_keys_;  // Declared before the sessions, whose port reads the keys on its own thread.
  std::optional<Invites> invites_;  // Declared before the sessions likewise; none if workers need no keys.
  std::unique_ptr<WorkerSessions> sessions_;
  std::optional<Tokens> tokens_;
  std::optional<Sessions> browsers_;
  std::optional<SealedSecrets> secrets_;
  std::optional<Authentication> authentication_;
  std::shared_ptr<Provider> provider_;  ///< Where people sign in; null = only tokens let in over TCP.
  std::optional<AuditQueue> audit_;
  std::optional<WorkerJoins> joins_;
  std::optional<Backups> backups_;
  std::optional<ScheduledBackups> scheduled_backups_;
  std::optional<Contexts> contexts_;
  std::optional<net::Background> context_writer_;
  net::Watch context_clock_;
  std::optional<KeptStore> kept_;
  std::optional<CheckpointRemover> remover_;
  std::optional<CheckpointSpace> checkpoint_space_;
  std::optional<LostWorkers> lost_workers_;
  std::optional<Retention> retention_;
  std::optional<Allocator> allocator_;
  std::optional<StorageWatch> storage_;
  std::optional<Receivers> next_receivers_;  ///< Read, and not used yet.
  std::optional<Notifier> notifier_;
  bool stops_notifier_ = false;  ///< The notifier ends, and another one begins with `next_receivers_`.
  std::function<void()> end_streams_ = [] {};
  std::unique_ptr<net::HttpServer> socket_;   ///< Serves clients on this machine.
  std::unique_ptr<net::HttpServer> http_;     ///< Serves TCP, if configured.
  std::unique_ptr<net::HttpServer> metrics_;  ///< Serves scrapers, if configured.
  std::optional<net::TlsIdentity> tls_;
  net::Watch certificate_watch_;
  net::HttpRules rules_;
  std::function<engine::Result<std::unique_ptr<net::HttpServer>>(const std::string& address)>
      listen_for_browsers_;
  net::Watch session_uses_;
  std::optional<OwnershipWatch> ownership_;
  net::Watch signals_;
  net::Watch lateness_;
  net::Watch repeats_;
  net::Watch draining_;
  net::Background checks_{loop_, most_checks_at_once};  ///< Destroyed first: it calls the routes.
};

}  // namespace hpsearch::daemon
