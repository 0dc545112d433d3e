#include "daemon/core/daemon.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/access/authentication.hpp"
#include "daemon/access/sealed_secrets.hpp"
#include "daemon/access/sessions.hpp"
#include "daemon/access/tokens.hpp"
#include "daemon/alloc/allocator.hpp"
#include "daemon/blobs/checkpoint_remover.hpp"
#include "daemon/blobs/checkpoint_root.hpp"
#include "daemon/blobs/checkpoint_space.hpp"
#include "daemon/blobs/contexts.hpp"
#include "daemon/blobs/kept_store.hpp"
#include "daemon/blobs/log_places.hpp"
#include "daemon/core/audit_queue.hpp"
#include "daemon/core/backups.hpp"
#include "daemon/core/ownership_watch.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/core/scheduled_backups.hpp"
#include "daemon/core/state_directory.hpp"
#include "daemon/core/storage_watch.hpp"
#include "daemon/http/http_routes.hpp"
#include "daemon/keys/invites.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "daemon/notifications/receivers.hpp"
#include "daemon/options/addresses.hpp"
#include "daemon/sessions/lost_workers.hpp"
#include "daemon/sessions/relative_paths.hpp"
#include "daemon/sessions/worker_joins.hpp"
#include "daemon/sessions/worker_port.hpp"
#include "daemon/sessions/worker_sessions.hpp"
#include "daemon/sign_on/provider.hpp"
#include "daemon/sign_on/sign_in_file.hpp"
#include "daemon/store/files/store_address.hpp"
#include "daemon/store/postgresql/postgresql_store.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "daemon/streams/notifier.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/core_files.hpp"
#include "hpsearch/io/net/descriptor_limit.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/server_names.hpp"
#include "hpsearch/io/net/service_manager.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using net::Level;

constexpr std::chrono::milliseconds drain_look_every{5};
constexpr std::size_t most_checks_at_once = 2;
constexpr std::chrono::minutes unused_contexts_looked_for_every{5};
constexpr std::size_t most_metrics_body = 1024;  ///< No client has to send a body.
constexpr std::chrono::minutes session_look_every{1};
constexpr const char* port_file = "/http-port";  ///< The port for browsers that was last opened on request.
constexpr std::chrono::hours warned_before_expiry{14 * 24};
constexpr std::chrono::seconds status_every{30};
constexpr std::chrono::seconds repeats_every{10};
constexpr std::chrono::seconds progress_every{1};
constexpr std::chrono::seconds longest_without_progress{90};
constexpr Duration drain_patience = Duration::seconds(10);

std::string absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

/// One daemon from start to end; its parts are built in the order of their members and destroyed in reverse.
class Daemon {
 public:
  Daemon(const Options& options, engine::SearcherRegistry registry)
      : options_(options),
        registry_(registry),
        pages_(options.web_root.empty() ? embedded_page_files() : page_files_in(absolute(options.web_root))) {
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Exit run() {
    passed_.find();
    service_.status("opens the store in " + (in_a_database() ? options_.store : options_.state_dir));
    if (auto opened = open_storage(); !opened) {
      return end(opened.error(), exit_of(opened.error()));
    }
    if (auto listening = listen(); !listening) {
      return end(listening.error(), listening.error().code == Errc::bad_request ? Exit::usage : Exit::failed);
    }
    const proto::DaemonFile here = announcement();
    if (auto announced = directory_->announce(here); !announced) {
      return end(announced.error(), Exit::storage);
    }
    warn_of(here);
    for (const std::string& address : passed_.addresses()) {
      net::log(Level::warning,
               "the service manager passed a socket at " + address +
                   ", which is none of http.listen, http.socket and metrics.listen: it is not used");
    }
    net::log(Level::info, "ready: clients " + here.socket + (http_ ? " and " + here.http : "") +
                              ", workers " + here.workers + ", state in " + directory_->path() + ", " +
                              std::to_string(runtime_->engine().experiments().size()) + " experiments, " +
                              std::to_string(runtime_->engine().last_lsn().number()) + " events");
    say_ready();
    service_clock_ = loop_.every(status_every, [this] { tell_state(); });
    loop_.run();
    leave_signals();
    if (runtime_->stalled()) {
      return end(
          Error{Errc::unavailable, std::string("stopped before ") +
                                       (in_a_database() ? "the database answered" : "there was space") +
                                       ": unacknowledged events are not stored"},
          Exit::storage);
    }
    directory_->retract();
    net::log(Level::info, "ended");
    return exit_;
  }

 private:
  /// The daemon is ending: a second signal must not replace its exit status, nor interrupt the cleanup.
  static void leave_signals() {
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  }

  Exit end(const Error& error, Exit code) {
    net::log(Level::error, error.message);
    service_.status(error.message);
    return code;
  }

  [[nodiscard]] bool in_a_database() const noexcept { return !options_.store.empty(); }

  /// A database that is away comes back: then the manager of services may start the daemon again.
  [[nodiscard]] Exit exit_of(const Error& error) const noexcept {
    switch (error.code) {
      case Errc::wrong_state:
        return Exit::conflict;
      case Errc::bad_request:
        return Exit::usage;
      case Errc::unavailable:
        return in_a_database() ? Exit::failed : Exit::storage;
      default:
        return Exit::storage;
    }
  }

  /// One line for those who look at the service.
  [[nodiscard]] std::string state_of_service() const {
    const engine::Engine& engine = runtime_->engine();
    const auto active = std::count_if(engine.experiments().begin(), engine.experiments().end(),
                                      [](const auto& one) { return !engine::is_ended(one.second.state); });
    const char* const waits =
        in_a_database() ? "waits for the database of the store; " : "waits for space on the disk; ";
    return (runtime_->stalled() ? waits : "") + std::to_string(active) +
           " active experiments, log position " + std::to_string(engine.last_lsn().number());
  }

  void say_ready() {
    last_state_ = state_of_service();
    service_.ready(last_state_);
  }

  void tell_state() {
    if (std::string state = state_of_service(); state != last_state_) {
      service_.status(state);
      last_state_ = std::move(state);
    }
  }

  /// Logs what anyone who reaches the addresses can do.
  void warn_of(const proto::DaemonFile& here) const {
    if (!is_on_this_machine(here.workers) && (here.http.empty() || is_on_this_machine(here.http))) {
      net::log(Level::warning,
               "workers on other machines cannot fetch contexts: give --http an address that they can reach");
    }
    if (!is_on_this_machine(here.workers) && options_.checkpoint_root.empty()) {
      net::log(Level::warning,
               "checkpoints of experiments without checkpoint_storage go to " + directory_->checkpoints() +
                   ": give --checkpoint-root a directory that all machines have at the same path");
    }
    if (!here.http.empty() && options_.http_open) {
      net::log(Level::warning,
               "--http-open: each user of this machine can run programs on the workers through " + here.http +
                   ", without a token");
    }
    if (options_.workers_open && !here.workers.starts_with("ipc://")) {
      net::log(Level::warning, "--workers-open: anyone who reaches " + here.workers +
                                   " can take trials with their secrets and report false results");
    }
  }

  /// Before anything is made: the directory of a store in a database has no events.db.
  [[nodiscard]] Status check_not_elsewhere() const {
    const auto elsewhere = in_a_database() ? Result<std::optional<StoreAddress>>(std::nullopt)
                                           : read_store_address(options_.state_dir);
    if (!elsewhere || !*elsewhere) {
      return elsewhere ? Status(Done{}) : Status(elsewhere.error());
    }
    return Error{Errc::wrong_state, "the store of the state directory " + options_.state_dir + " is " +
                                        (*elsewhere)->address +
                                        "; give it as --store, or copy it: hpsearch store copy --from " +
                                        (*elsewhere)->address + " --to NEW"};
  }

  Status open_storage() {
    if (auto here = check_not_elsewhere(); !here) {
      return here;
    }
    auto directory = StateDirectory::open(
        options_.state_dir,
        options_.allow_network_filesystem ? StateDirectory::NetworkFileSystems::allowed
                                          : StateDirectory::NetworkFileSystems::refused,
        files::file_system_at,
        options_.take_over ? StateDirectory::OtherHosts::ignored : StateDirectory::OtherHosts::respected,
        in_a_database() ? StateDirectory::Store::in_a_database : StateDirectory::Store::here);
    if (!directory) {
      Error error = directory.error();
      if (error.code == Errc::unavailable) {
        error.message += ". Give --state-dir a directory that can be written";
      }
      return error;
    }
    directory_ = std::move(directory).value();
    if (!directory_->warning().empty()) {
      net::log(Level::warning, directory_->warning());
    }
    net::forbid_core_files();
    // Peers need descriptors. Raised only here: a daemon that is refused should print one message only.
    net::raise_descriptor_limit();
    if (auto opened = in_a_database() ? open_database() : open_file(); !opened) {
      return remedy(opened.error());
    }
    movable_store_.emplace(*store_, directory_->path());
    runtime_ = std::make_unique<Runtime>(loop_, *movable_store_, registry_, patience(),
                                         in_a_database() ? on_another_thread : on_a_thread_of_its_own);
    if (auto recovered = replay(); !recovered) {
      return remedy(recovered.error());
    }
    return read_secrets_key();
  }

  Status open_file() {
    auto store = SqliteStore::open(directory_->database(), {}, directory_->take_store_lock());
    if (!store) {
      return store.error();
    }
    file_store_ = store->get();
    store_ = std::move(store).value();
    return Done{};
  }

  Status open_database() {
    const auto url = DatabaseUrl::read(options_.store);
    if (!url) {
      return url.error();
    }
    struct stat place {};
    const OwnerRecord owner = this_owner();
    if (::stat(directory_->path().c_str(), &place) != 0) {
      return Error{Errc::unavailable, "the state directory " + directory_->path() + " is missing"};
    }
    const StoreHolder holder{
        .name = "hpsearchd on " + owner.host + ", process " + std::to_string(owner.pid),
        .place = owner.boot + ":" + std::to_string(place.st_dev) + ":" + std::to_string(place.st_ino),
        .take_over = options_.take_over,
        .standby = options_.standby,
        .counts_for = Duration::micros(static_cast<std::int64_t>(options_.take_over_after_seconds * 1e6))};
    std::string said;
    auto store = PostgresqlStore::open(*url, holder, [&](const std::string& why) {
      const bool is_new = std::exchange(said, why) != why;
      if (is_new) {
        net::log(options_.standby ? Level::info : Level::warning, why);
      }
      if (!options_.standby) {
        service_.starting("waits for the store", longest_without_progress);
      } else if (is_new) {
        service_.ready("standby: " + why);  // It may wait for days; its manager must not time it out.
      }
    });
    if (!store) {
      return store.error();
    }
    const StoreAddress address{url->text(), std::to_string((*store)->cluster())};
    if (auto belongs = check_belongs(directory_->path(), address); !belongs) {
      return belongs;
    }
    if (auto written = write_store_address(directory_->path(), address); !written) {
      return written;
    }
    store_ = std::move(store).value();
    net::log(Level::info,
             "has the store " + url->text() + " as its start " + std::to_string(store_->daemon_epoch()));
    return Done{};
  }

  /// A long log takes longer than service managers wait for a start.
  Status replay() {
    const std::string end = std::to_string(store_->stored_lsn().number());
    auto next = std::chrono::steady_clock::now() + progress_every;
    return runtime_->recover([&](engine::Lsn lsn) {
      if (std::chrono::steady_clock::now() < next) {
        return;
      }
      next = std::chrono::steady_clock::now() + progress_every;
      service_.starting("replays the log: event " + std::to_string(lsn.number()) + " of " + end,
                        longest_without_progress);
    });
  }

  /// Without the key of their secrets all waiting trials would fail: refuse to start instead.
  Status read_secrets_key() {
    bool have_secrets = false;
    for (const auto& [id, record] : runtime_->engine().experiments()) {
      have_secrets =
          have_secrets || (!engine::is_ended(record.state) && SealedSecrets::are_in(record.effective));
    }
    const bool must_exist = have_secrets && !options_.forget_secrets;
    auto secrets = SealedSecrets::in(
        directory_->path(), must_exist ? SealedSecrets::Missing::refused : SealedSecrets::Missing::made);
    if (!secrets) {
      return without_key(secrets.error());
    }
    secrets_.emplace(*std::move(secrets));
    for (const auto& [id, record] : runtime_->engine().experiments()) {
      if (engine::is_ended(record.state) || options_.forget_secrets ||
          !SealedSecrets::are_in(record.effective)) {
        continue;
      }
      if (const auto opened = secrets_->open(record.effective); !opened) {
        return without_key(Error{
            Errc::unavailable, "experiment " + std::to_string(id.number()) + ": " + opened.error().message});
      }
    }
    return Done{};
  }

  [[nodiscard]] Error without_key(Error error) const {
    error.code = Errc::unavailable;
    error.message += ". Copy secrets.key from the state directory that the store comes from into " +
                     directory_->path() +
                     "; if it is lost, start with --forget-secrets, and the trials that need a secret fail";
    return error;
  }

  [[nodiscard]] Duration lost_after() const {
    return Duration::micros(static_cast<std::int64_t>(options_.lost_after_seconds * 1e6));
  }

  [[nodiscard]] engine::Patience patience() const {
    return {std::min(Duration::seconds(45), lost_after()), lost_after()};
  }

  [[nodiscard]] Duration forget_after() const {
    return Duration::micros(static_cast<std::int64_t>(options_.forget_after_seconds * 1e6));
  }

  [[nodiscard]] BackupPlan backup_plan() const {
    return {options_.backup_to,
            Duration::micros(static_cast<std::int64_t>(options_.backup_every_seconds * 1e6)),
            options_.backup_keep, options_.backup_key_file};
  }

  [[nodiscard]] KeptStore::Limits kept_limits() const {
    return {options_.kept_quota, !options_.no_kept_files};
  }

  [[nodiscard]] Error remedy(Error error) const {
    switch (error.code) {
      case Errc::corrupt:
        error.message +=
            ". No event was changed. List the damage with: hpsearch store verify " +
            (in_a_database() ? options_.store : directory_->path()) +
            ". Create a working state directory with: hpsearch store restore BACKUP --to NEW, or: hpsearch "
            "store salvage " +
            (in_a_database() ? options_.store : directory_->path()) + " --to NEW";
        break;
      case Errc::not_found:
      case Errc::wrong_state:
      case Errc::bad_request:
        break;  // The warnings already name the remedy.
      case Errc::version_mismatch:
        error.message += ". Use the release that wrote this state directory";
        break;
      default:
        if (!in_a_database()) {
          error.message +=
              ". Make room or repair the file system of " + directory_->path() + ", then start again";
        }
        break;
    }
    return error;
  }

  /// Opens the ports. Each step needs the ones before it.
  Status listen() {
    using Step = Status (Daemon::*)();
    for (const Step step : {&Daemon::read_certificate, &Daemon::read_tokens, &Daemon::listen_for_workers,
                            &Daemon::open_kept_files, &Daemon::open_audit, &Daemon::read_notified,
                            &Daemon::listen_for_clients, &Daemon::begin}) {
      if (Status done = (this->*step)(); !done) {
        return done;
      }
    }
    return Done{};
  }

  /// Reads the tokens and the sessions of browsers: callers over HTTP are checked against them.
  Status read_tokens() {
    tokens_.emplace(directory_->path());
    browsers_.emplace(directory_->path());
    if (!tokens_->problem().empty()) {
      net::log(Level::error,
               tokens_->problem() +
                   ". No token is accepted; the daemon's own user and root are served over the Unix "
                   "socket. Repair or remove the file, then send SIGHUP");
    }
    authentication_.emplace(
        *tokens_,
        Authentication::Rules{.owner = ::geteuid(),
                              .open = options_.http_open,
                              .groups = options_.groups,
                              .proxy = options_.proxy},
        [this](std::string_view key) { return sessions_->is_http_key(key); },
        [this](std::string id) {
          checks_.run([tokens = &*tokens_, id = std::move(id), now = runtime_->now()] {
            tokens->note_use(id, now);
            return [] {};
          });
        },
        &*browsers_);
    return read_sign_in();
  }

  /// Reads where people sign in, and their roles. An unchanged provider keeps the sign-ins that have begun.
  Status read_sign_in() {
    SignInFile file;
    if (!options_.sign_in_file.empty()) {
      auto read = read_sign_in_file(options_.sign_in_file);
      if (!read) {
        return Error{Errc::bad_request, "--sign-in-file: " + read.error().message};
      }
      file = *std::move(read);
    }
    if (!file.provider) {
      provider_.reset();
    } else if (provider_ == nullptr || provider_->settings() != *file.provider) {
      provider_ = std::make_shared<Provider>(*std::move(file.provider));
    }
    authentication_->use_roles(std::move(file.roles),
                               provider_ == nullptr ? "" : provider_->settings().issuer);
    return Done{};
  }

  [[nodiscard]] jobs::Programs::OpenSecrets open_secrets() {
    return [this](const engine::Value& config) { return secrets_->open(config); };
  }

  Status listen_for_workers() {
    auto checkpoint_root =
        prepare_checkpoint_root(options_.checkpoint_root, directory_->checkpoints(), runtime_->cluster());
    if (!checkpoint_root) {
      return checkpoint_root.error();
    }
    checkpoint_space_.emplace(loop_, *checkpoint_root);
    WorkerSessions::Settings settings{
        .checkpoint_root = *std::move(checkpoint_root),
        .new_http_key = new_secret,
        .on_log_not_kept = [this](engine::WorkerId worker,
                                  const proto::LogNotKept& message) { note_log_problem(worker, message); },
        .open_secrets = open_secrets()};
    std::optional<net::CurveServer> curve;
    const std::string for_workers =
        options_.workers.empty() ? "ipc://" + absolute(directory_->workers_socket()) : options_.workers;
    if (!for_workers.starts_with("ipc://") && !options_.workers_open) {
      auto keys = net::curve_keys_in(directory_->path());
      if (!keys) {
        return keys.error();
      }
      worker_keys_.emplace(directory_->path());
      net::log(Level::info, "only workers in " + worker_keys_->path() +
                                " are accepted; they need --server-key " + keys->public_key);
      settings.worker_of_key = [this](const std::string& key) { return worker_keys_->name_of(key); };
      settings.keys_version = [this] { return worker_keys_->version(); };
      invites_.emplace(directory_->path());
      settings.is_invite = [this](const std::string& key) { return invites_->knows(key); };
      settings.on_join = [this](const auto& guest, const auto& join, auto answer) {
        joins_->take(guest, join, std::move(answer));
      };
      curve = net::CurveServer{*std::move(keys), [this](const std::string& key) {
                                 return worker_keys_->name_of(key).has_value() || invites_->knows(key);
                               }};
    }
    auto sessions = WorkerSessions::open(*runtime_, router_port(loop_, for_workers, std::move(curve)),
                                         std::move(settings));
    if (!sessions) {
      return other_address(sessions.error(), "--workers tcp://127.0.0.1:0");
    }
    sessions_ = std::move(sessions).value();
    return Done{};
  }

  /// Opens the stores of contexts, logs and files, and of copies of the events.
  Status open_kept_files() {
    if (file_store_ != nullptr) {
      backups_.emplace(*runtime_, *file_store_, directory_->path());
      scheduled_backups_.emplace(*runtime_, loop_, *backups_, directory_->path(), backup_plan());
    }
    context_writer_.emplace(loop_, 1);
    contexts_.emplace(loop_, kernel_files(), directory_->contexts(), options_.context_limit,
                      [this](net::Background::Task task) { context_writer_->run(std::move(task)); });
    contexts_->keep_only(contexts_of_experiments());
    context_clock_ = loop_.every(unused_contexts_looked_for_every,
                                 [this] { contexts_->keep_only(contexts_of_experiments()); });
    const auto ended_at = [this](engine::ExperimentId experiment) {
      const engine::ExperimentRecord* record = runtime_->engine().find(experiment);
      // An experiment that is not in this store has no other record.
      return record == nullptr                 ? std::optional(engine::Instant{})
             : engine::is_ended(record->state) ? std::optional(record->ended_at)
                                               : std::nullopt;
    };
    kept_.emplace(loop_, directory_->kept(), kept_limits(), ended_at);
    return Done{};
  }

  /// Reads who is notified, if anybody is.
  Status read_notified() {
    if (options_.notify.empty()) {
      next_receivers_.reset();
      return Done{};
    }
    auto receivers = read_receivers(options_.notify);
    if (!receivers) {
      return Error{Errc::bad_request, "--notify: " + receivers.error().message};
    }
    if (const auto failed = files::make_private_directory(notifications_directory())) {
      return failed->as_error();
    }
    next_receivers_ = *std::move(receivers);
    return Done{};
  }

  [[nodiscard]] std::string notifications_directory() const { return directory_->path() + "/notifications"; }

  /// Notifies the receivers that were read last, from where the former notifier ends.
  void start_notifier() {
    notifier_.reset();
    if (next_receivers_) {
      notifier_.emplace(*runtime_, loop_, *std::exchange(next_receivers_, std::nullopt),
                        notifications_directory());
      notifier_->start();
    }
  }

  Status open_audit() {
    auto changes = AuditFiles::open(directory_->path(), audited_changes);
    auto refusals = AuditFiles::open(directory_->path(), audited_refusals);
    if (!changes || !refusals) {
      return changes ? refusals.error() : changes.error();
    }
    audit_.emplace(loop_, std::move(changes).value(), std::move(refusals).value());
    if (invites_) {
      joins_.emplace(*runtime_, *invites_, *worker_keys_, *audit_, checks_);
    }
    return Done{};
  }

  /// Where workers on other machines reach this daemon; "" = nowhere.
  [[nodiscard]] std::string address_for_workers() const {
    constexpr std::string_view tcp = "tcp://";
    const std::string endpoint = sessions_->endpoint();
    if (!endpoint.starts_with(tcp)) {
      return "";
    }
    if (!options_.advertise.empty()) {
      return net::endpoint_for_others(endpoint, options_.advertise);
    }
    const std::string place = endpoint.substr(tcp.size());
    if (!net::is_any_address(net::host_of(place))) {
      return endpoint;
    }
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0
               ? std::string(tcp) + name.data() + place.substr(place.rfind(':'))
               : "";
  }

  void open_allocator() {
    std::error_code unknown;
    const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
    allocator_.emplace(*runtime_, loop_,
                       Allocator::Settings{.directory = directory_->path() + "/alloc",
                                           .worker = (own.parent_path() / "hpsearch-worker").string(),
                                           .daemon = address_for_workers(),
                                           .invites = invites_ ? &*invites_ : nullptr,
                                           .keys = worker_keys_ ? &*worker_keys_ : nullptr});
  }

  Status listen_for_clients() {
    remover_.emplace(*runtime_, on_a_thread_of_its_own, open_secrets());
    open_allocator();
    const AboutDaemon about{.version = HPSEARCH_VERSION,
                            .state_dir = directory_->path(),
                            .started = loop_.now(),
                            .backups = backups_ ? &*backups_ : nullptr,
                            .scheduled_backups = scheduled_backups_ ? &*scheduled_backups_ : nullptr,
                            .contexts = &*contexts_,
                            .kept = &*kept_,
                            .remover = &*remover_,
                            .checkpoint_space = &*checkpoint_space_,
                            .checks = &checks_,
                            .authentication = &*authentication_,
                            .secrets = &*secrets_,
                            .audit = &*audit_,
                            .audits_reads = options_.audit_reads,
                            .sessions = &*browsers_,
                            .tokens = &*tokens_,
                            .provider = [this] { return provider_; },
                            .invites = invites_ ? &*invites_ : nullptr,
                            .tls = tls_,
                            .advertised = options_.advertise,
                            .allocator = &*allocator_,
                            .pages = &pages_,
                            .configuration = [this] { return options_.given; },
                            .open_http_port = [this] { return open_http_port(); },
                            .is_ending = [this] { return static_cast<bool>(draining_); },
                            .named_experiments = options_.metrics_per_experiment,
                            .lag = &net::lag_of(loop_)};
    const ServedRoutes routes = http_routes(*runtime_, *sessions_, about);
    end_streams_ = routes.end_streams;
    const net::HttpRules& rules =
        rules_ = {.other_type = std::string(yaml_type),
                  .large_bodies = {{"/api/v1/contexts/", "application/x-tar", contexts_->most_bytes()},
                                   {"/api/v1/logs/", "application/zstd", logs::most_packed_bytes},
                                   {"/api/v1/files/", "application/octet-stream", proto::most_piece_bytes}},
                  .uploads = contexts_->directory(),
                  .tls = tls_,
                  .only_from = options_.behind_proxy,
                  .base_path = options_.http_base_path,
                  .any_user = !options_.groups.empty() || !options_.proxy.from.users.empty(),
                  .let_in = routes.let_in};
    const std::string place = options_.http_socket.empty() ? directory_->http_socket() : options_.http_socket;
    auto socket =
        net::HttpServer::listen(loop_, "unix://" + absolute(place), routes.handler, rules, &passed_);
    if (!socket) {
      return other_address(socket.error(), "--http-socket PATH");
    }
    socket_ = std::move(socket).value();
    if (!options_.http.empty()) {
      auto http = net::HttpServer::listen(loop_, options_.http, routes.handler, rules, &passed_);
      if (!http) {
        return other_address(http.error(), "--http 127.0.0.1:0");
      }
      http_ = std::move(http).value();
    }
    if (auto metrics = listen_for_metrics(routes.metrics); !metrics) {
      return metrics;
    }
    listen_for_browsers_ = [this, handler = routes.handler](const std::string& address) {
      return net::HttpServer::listen(loop_, address, handler, rules_);
    };
    if (!http_) {
      reopen_http_port();
    }
    session_uses_ = loop_.every(session_look_every, [this] { store_session_uses(); });
    // Workers on a Unix socket run on this machine, as a user that the other socket admits too.
    const bool over_a_socket = sessions_->endpoint().starts_with("ipc://");
    sessions_->announce_http(http_ && !over_a_socket ? http_->address() : socket_->address());
    return Done{};
  }

  /// Starts decisions and the regular checks of storage, workers and checkpoints.
  Status begin() {
    signals_ = loop_.on_signals({SIGTERM, SIGINT, SIGHUP}, [this](int signal) {
      if (signal != SIGHUP) {
        begin_to_end();
      } else if (!draining_) {
        reload();
      }
    });
    runtime_->start([this](const engine::Order& order) { carry_out(order); },
                    [this](const Error& error) { storage_failed(error); },
                    [this](const Error& error) { storage_->found_no_room(error); });
    start_notifier();
    lost_workers_.emplace(*runtime_, LostWorkers::Settings{.forget_after = forget_after(),
                                                           .forgotten = [this](const std::string& name) {
                                                             remove_keys_of(name);
                                                           }});
    storage_.emplace(*runtime_, directory_->path(), directory_->database(), options_.store);
    ownership_.emplace(loop_, *directory_, *store_, [this](const Error& error) { storage_failed(error); });
    remover_->remove_condemned();
    // A crash may have left files of deleted experiments.
    for (const auto& [id, deleted] : runtime_->engine().deleted()) {
      kept_->remove(id);
    }
    repeats_ = loop_.every(repeats_every, [] { net::write_repeats(); });
    lateness_ = net::watch_lateness(loop_);
    static_cast<void>(net::lag_of(loop_).take_longest_turn());
    return Done{};
  }

  Status listen_for_metrics(const net::HttpServer::Handler& handler) {
    if (options_.metrics_listen.empty()) {
      return Done{};
    }
    auto listening = net::HttpServer::listen(loop_, options_.metrics_listen, handler,
                                             {.most_body_bytes = most_metrics_body}, &passed_);
    if (!listening) {
      return other_address(listening.error(), "--metrics-listen 127.0.0.1:0");
    }
    metrics_ = std::move(listening).value();
    net::log(Level::info, "serves metrics on " + metrics_->address());
    if (!is_on_this_machine(metrics_->address())) {
      net::log(Level::warning, "--metrics-listen: anyone who reaches " + metrics_->address() +
                                   " can read the metrics, with names of workspaces, owners and pools");
    }
    return Done{};
  }

  /// Reopens the port, so that a page that was open before the daemon ended works again.
  void reopen_http_port() {
    const auto port = kernel_files().read(directory_->path() + port_file);
    if (!port || !browsers_->any(loop_.now())) {
      return;
    }
    const std::string number(reinterpret_cast<const char*>(port->data()), port->size());
    if (auto http = listen_for_browsers_("127.0.0.1:" + number)) {
      http_ = std::move(http).value();
    } else {
      net::log(Level::warning, "a browser is signed in, but its port can't be opened again: " +
                                   http.error().message + ". hpsearch open opens another one");
    }
  }

  /// Opens 127.0.0.1 only, for browsers that sign in. Uses the same port as last time, if it is free.
  Result<std::string> open_http_port() {
    if (http_) {
      return http_->address();
    }
    const std::string file = directory_->path() + port_file;
    const auto last = kernel_files().read(file);
    const std::string number =
        last ? std::string(reinterpret_cast<const char*>(last->data()), last->size()) : "0";
    auto http = listen_for_browsers_("127.0.0.1:" + number);
    if (!http) {
      http = listen_for_browsers_("127.0.0.1:0");
    }
    if (!http) {
      return http.error();
    }
    http_ = std::move(http).value();
    const std::string port = http_->address().substr(http_->address().rfind(':') + 1);
    const std::array parts{std::as_bytes(std::span(port))};
    if (auto written = write_file_durably(kernel_files(), file, parts); !written) {
      net::log(Level::warning, written.error().message + ". The next port will be another one");
    }
    if (auto announced = directory_->announce(announcement()); !announced) {
      net::log(Level::warning, announced.error().message);
    }
    net::log(Level::info, "serves browsers on " + http_->address());
    return http_->address();
  }

  [[nodiscard]] proto::DaemonFile announcement() const {
    return {socket_->address(), http_ ? http_->address() : "", sessions_->endpoint(), HPSEARCH_VERSION,
            store_->daemon_epoch()};
  }

  void store_session_uses() {
    if (browsers_->uses_are_due()) {
      checks_.run([browsers = &*browsers_, now = runtime_->now()] {
        browsers->store_uses(now);
        return [] {};
      });
    }
  }

  Status read_certificate() {
    if (!options_.tls_self_signed && options_.tls_cert.empty()) {
      return Done{};
    }
    std::vector<std::string> names = options_.tls_names;
    for (std::string& name : net::names_of_server(options_.http)) {
      names.push_back(std::move(name));
    }
    auto identity = options_.tls_self_signed
                        ? net::TlsIdentity::self_signed(directory_->path(), names)
                        : net::TlsIdentity::from_files(options_.tls_cert, options_.tls_key);
    if (!identity) {
      return identity.error();
    }
    tls_ = *std::move(identity);
    warn_of_names();
    warn_of_expiry();
    certificate_watch_ = loop_.every(std::chrono::hours(24), [this] { warn_of_expiry(); });
    return Done{};
  }

  /// A client that identifies the certificate by its fingerprint doesn't check its names.
  void warn_of_names() const {
    std::vector<std::string> wanted =
        options_.tls_self_signed ? options_.tls_names : std::vector<std::string>();
    if (const std::string host = net::host_of(options_.http); !net::is_any_address(host)) {
      wanted.push_back(host);
    }
    for (const std::string& name : wanted) {
      if (!tls_->names(name)) {
        net::log(Level::warning,
                 "the TLS certificate is not for " + name + ": clients that check the name refuse it" +
                     (options_.tls_self_signed
                          ? ". To make one that is, remove tls.crt and tls.key from " + directory_->path() +
                                " and start the daemon again; its fingerprint is another"
                          : ""));
      }
    }
  }

  void warn_of_expiry() const {
    const auto left = tls_->valid_for();
    if (left < warned_before_expiry) {
      net::log(Level::warning,
               left.count() < 0
                   ? "the TLS certificate has expired: clients refuse it"
                   : "the TLS certificate expires in " +
                         std::to_string(std::chrono::duration_cast<std::chrono::hours>(left).count()) +
                         " hours; replace the files and send SIGHUP");
    }
  }

  /// Reads the configuration again, and the files that it names.
  void reload() {
    service_.reloading();
    ReloadedOptions again = daemon::reload(options_);
    const configuration::RereadSentences& said = again.sentences;
    if (!said.problem.empty()) {
      net::log(Level::error, said.problem);
    } else {
      options_ = std::move(again.options);
      net::set_log_level(options_.log_level);
      net::set_log_format(options_.log_format);
      runtime_->set_patience(patience());
      lost_workers_->forget_after(forget_after());
      kept_->limit_to(kept_limits());
      if (scheduled_backups_) {
        scheduled_backups_->follow(backup_plan());
      }
      net::log(Level::info,
               said.changed.empty() ? "the configuration was read again: no value changed" : said.changed);
      if (!said.need_restart.empty()) {
        net::log(Level::warning, said.need_restart);
      }
    }
    reload_certificate();
    if (const Status read = tokens_->reload(); !read) {
      net::log(Level::error, read.error().message + "; the tokens stay as they were");
    }
    if (const Status read = read_sign_in(); !read) {
      net::log(Level::error, read.error().message + "; provider and roles stay as they were");
    }
    reload_receivers();
    say_ready();
  }

  void reload_receivers() {
    if (const Status read = read_notified(); !read) {
      net::log(Level::error, read.error().message + "; notifications stay as they were");
      return;
    }
    if (stops_notifier_) {
      return;  // The former notifier is ending already.
    }
    if (!notifier_) {
      start_notifier();
      return;
    }
    stops_notifier_ = true;
    notifier_->retire([this] {
      stops_notifier_ = false;
      start_notifier();
    });
  }

  void reload_certificate() {
    if (!tls_) {
      return;
    }
    if (auto read = tls_->reload(); !read) {
      net::log(Level::error, read.error().message + "; the certificate stays as it was");
      return;
    }
    net::log(Level::info, "the TLS certificate was read again; its fingerprint is " + tls_->fingerprint());
    warn_of_expiry();
  }

  [[nodiscard]] std::set<std::string> contexts_of_experiments() const {
    std::set<std::string> digests;
    for (const auto& [id, record] : runtime_->engine().experiments()) {
      digests.insert(record.context_digest);
      for (const engine::ProgramChange& program : record.programs) {
        digests.insert(program.context_digest);
      }
    }
    return digests;
  }

  /// A worker of this name was forgotten. Other workers of that name keep the keys that they use; while one
  /// of them is away, its key is not known.
  void remove_keys_of(const std::string& name) {
    if (!worker_keys_) {
      return;
    }
    std::set<std::string> used;
    for (const auto& [id, worker] : runtime_->engine().workers()) {
      if (worker.name == name) {
        used.insert(sessions_->key_of(id));
      }
    }
    const auto all = worker_keys_->list();
    if (used.contains("") || !all) {
      return;
    }
    for (const WorkerKey& one : *all) {
      if (one.name != name || used.contains(one.key)) {
        continue;
      }
      const auto removed = worker_keys_->deny(one.key);
      net::log(removed ? Level::info : Level::warning,
               removed ? "the key " + one.key + " of worker \"" + name + "\" is not allowed any more"
                       : removed.error().message);
    }
  }

  /// Only if the attempt ran on that worker.
  void note_log_problem(engine::WorkerId worker, const proto::LogNotKept& message) {
    if (!kept_ || runtime_->stalled()) {
      return;
    }
    runtime_->read([this, worker, message,
                    numbering = runtime_->engine().numbering()](EventStore& store) -> Committer::Then {
      const bool ran_there = place_of(store, numbering, message.key, worker).has_value();
      return [this, worker, message, ran_there] {
        if (ran_there) {
          kept_->note_log_problem(message.key, worker, message.why);
        }
      };
    });
  }

  void carry_out(const engine::Order& order) {
    if (const auto* discard = std::get_if<engine::DiscardCheckpoints>(&order)) {
      remover_->remove(*discard);
    } else if (const auto* deleted = std::get_if<engine::DiscardExperiment>(&order)) {
      kept_->remove(deleted->experiment);
      contexts_->keep_only(contexts_of_experiments());
    } else if (const auto* submit = std::get_if<engine::SubmitAllocation>(&order)) {
      allocator_->carry_out(*submit);
    } else if (const auto* withdraw = std::get_if<engine::WithdrawAllocation>(&order)) {
      allocator_->carry_out(*withdraw);
    } else {
      sessions_->carry_out(order);
    }
  }

  static Error other_address(Error error, const std::string& free_one) {
    if (error.code == Errc::unavailable) {
      error.message += ". End what listens there, or choose another address (" + free_one + ")";
    }
    return error;
  }

  void storage_failed(const Error& error) {
    const bool taken_over = error.code == Errc::wrong_state;
    net::log(Level::error,
             error.message +
                 ". All acknowledged requests and reports are stored; workers keep the other "
                 "reports and continue" +
                 (taken_over ? ""
                             : ". Check " +
                                   (in_a_database() ? options_.store : directory_->path() + " and its disk") +
                                   ", then start the daemon again; it checks the store when it "
                                   "starts and says what to do"));
    exit_ = taken_over ? Exit::conflict : Exit::storage;
    loop_.stop();
  }

  /// Accepts no more requests, makes the accepted ones durable and answers them, then ends. Programs on
  /// workers keep running.
  void begin_to_end() {
    if (draining_) {
      loop_.stop();  // A second signal ends at once: what is not durable yet was not acknowledged.
      return;
    }
    net::log(Level::info, "ending");
    service_clock_ = {};
    service_.stopping("stores the last events");
    end_streams_();
    socket_->stop_accepting();
    if (http_) {
      http_->stop_accepting();
    }
    sessions_->stop();
    allocator_->stop();
    if (scheduled_backups_) {
      scheduled_backups_->stop();
    }
    runtime_->stop();
    const engine::Instant limit = loop_.now() + drain_patience;
    draining_ = loop_.every(drain_look_every, [this, limit] {
      const std::size_t answering = socket_->answering() + (http_ ? http_->answering() : 0);
      if ((runtime_->idle() && answering == 0) || loop_.now() > limit) {
        loop_.stop();
      }
    });
  }

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
  std::function<Result<std::unique_ptr<net::HttpServer>>(const std::string& address)> listen_for_browsers_;
  net::Watch session_uses_;
  std::optional<OwnershipWatch> ownership_;
  net::Watch signals_;
  net::Watch lateness_;
  net::Watch repeats_;
  net::Watch draining_;
  net::Background checks_{loop_, most_checks_at_once};  ///< Destroyed first: it calls the routes.
};

}  // namespace

Exit run_daemon(const Options& options, engine::SearcherRegistry registry) {
  net::set_log_level(options.log_level);
  net::set_log_format(options.log_format);
  // A client that disconnects and a file at its size limit are errors of one call, not of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  ::unsetenv("CONFIGURATION_DIRECTORY");  // Workers in jobs of a queue would read the file of this service.
  ::umask(0077);  // Configurations and logs may contain secrets: only their owner may read them.
  const Exit code = Daemon(options, registry).run();
  net::write_repeats(/*all=*/true);
  return code;
}

}  // namespace hpsearch::daemon
