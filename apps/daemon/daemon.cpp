#include "daemon/daemon.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "daemon/backups.hpp"
#include "daemon/checkpoint_remover.hpp"
#include "daemon/contexts.hpp"
#include "daemon/http_routes.hpp"
#include "daemon/keys/worker_keys.hpp"
#include "daemon/ownership_watch.hpp"
#include "daemon/runtime.hpp"
#include "daemon/state_directory.hpp"
#include "daemon/storage_watch.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "daemon/worker_port.hpp"
#include "daemon/worker_sessions.hpp"
#include "hpsearch/net/descriptor_limit.hpp"
#include "hpsearch/net/http.hpp"
#include "hpsearch/net/log.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Status;
using net::Level;

constexpr std::chrono::milliseconds drain_look_every{5};
constexpr Duration drain_patience = Duration::seconds(10);

bool is_loopback(std::string_view address) {
  const std::size_t scheme = address.find("//");
  const std::string_view place = scheme == std::string_view::npos ? address : address.substr(scheme + 2);
  return place.starts_with("127.") || place.starts_with("localhost:") || place.starts_with("[::1]:");
}

/// One daemon from start to end; its parts are built in the order of their members and go in the reverse one.
class Daemon {
 public:
  explicit Daemon(const Options& options) : options_(options) {}
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  Exit run() {
    if (auto opened = open_storage(); !opened) {
      return end(opened.error(), opened.error().code == Errc::wrong_state   ? Exit::conflict
                                 : opened.error().code == Errc::bad_request ? Exit::usage
                                                                            : Exit::storage);
    }
    if (auto listening = listen(); !listening) {
      return end(listening.error(), listening.error().code == Errc::bad_request ? Exit::usage : Exit::failed);
    }
    const proto::DaemonFile here{http_->address(), sessions_->endpoint(), HPSEARCH_VERSION,
                                 store_->daemon_epoch()};
    if (auto announced = directory_->announce(here); !announced) {
      return end(announced.error(), Exit::storage);
    }
    if (is_loopback(here.http) && !is_loopback(here.workers)) {
      net::log(Level::warning, "workers on other machines cannot fetch contexts from " + here.http +
                                   ": give --http an address that they can reach");
    }
    for (const std::string& address : {here.http, here.workers}) {
      if (!is_loopback(address) && !(options_.curve && address == here.workers)) {
        net::log(Level::warning,
                 "anyone who reaches " + address + " can run programs on the workers: keep it private" +
                     (address == here.workers ? ", or accept only allowed workers (--curve)" : ""));
      }
    }
    net::log(Level::info, "ready: http " + here.http + ", workers " + here.workers + ", state in " +
                              directory_->path() + ", " +
                              std::to_string(runtime_->engine().experiments().size()) + " experiments, " +
                              std::to_string(runtime_->engine().last_lsn().number()) + " events");
    loop_.run();
    if (exit_ != Exit::ok || runtime_->stalled()) {
      leave_signals();
    }
    if (runtime_->stalled()) {
      return end(
          Error{Errc::unavailable, "stopped before there was space: unacknowledged events are not stored"},
          Exit::storage);
    }
    directory_->retract();
    net::log(Level::info, "ended");
    return exit_;
  }

 private:
  /// It is ending, and its status says why: being told to end meanwhile is not to take that away.
  static void leave_signals() {
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    sigaddset(&told, SIGINT);
    pthread_sigmask(SIG_BLOCK, &told, nullptr);
  }

  static Exit end(const Error& error, Exit code) {
    net::log(Level::error, error.message);
    return code;
  }

  Status open_storage() {
    auto directory = StateDirectory::open(
        options_.state_dir,
        options_.allow_network_filesystem ? StateDirectory::NetworkFileSystems::allowed
                                          : StateDirectory::NetworkFileSystems::refused,
        file_system_magic,
        options_.take_over ? StateDirectory::OtherHosts::ignored : StateDirectory::OtherHosts::respected);
    if (!directory) {
      Error error = directory.error();
      if (error.code == Errc::unavailable) {
        error.message += ". Give --state-dir a directory that can be written";
      }
      return error;
    }
    directory_ = std::move(directory).value();
    net::raise_descriptor_limit();  // Peers are descriptors. Not before: who is refused has one thing to say.
    auto store = SqliteStore::open(directory_->database(), {}, directory_->take_store_lock());
    if (!store) {
      return remedy(store.error());
    }
    store_ = std::move(store).value();
    const engine::Patience patience{std::min(Duration::seconds(45), lost_after()), lost_after()};
    runtime_ = std::make_unique<Runtime>(loop_, *store_, searchers::registry(), patience);
    if (auto recovered = runtime_->recover(); !recovered) {
      return remedy(recovered.error());
    }
    return Done{};
  }

  [[nodiscard]] Duration lost_after() const {
    return Duration::micros(static_cast<std::int64_t>(options_.lost_after_seconds * 1e6));
  }

  [[nodiscard]] Error remedy(Error error) const {
    switch (error.code) {
      case Errc::corrupt:
        error.message +=
            ". No event was changed. List the damage with: hpsearch store verify " + directory_->path() +
            ". Create a working state directory with: hpsearch store restore BACKUP --to NEW, or: hpsearch "
            "store salvage " +
            directory_->path() + " --to NEW";
        break;
      case Errc::not_found:
      case Errc::wrong_state:
        break;  // They say what to do.
      case Errc::version_mismatch:
        error.message += ". Use the release that wrote this state directory";
        break;
      default:
        error.message +=
            ". Make room or repair the file system of " + directory_->path() + ", then start again";
        break;
    }
    return error;
  }

  Status listen() {
    WorkerSessions::Settings settings{.checkpoint_root = directory_->checkpoints()};
    std::optional<net::CurveServer> curve;
    if (options_.curve) {
      auto keys = net::curve_keys_in(directory_->path());
      if (!keys) {
        return keys.error();
      }
      worker_keys_.emplace(directory_->path());
      net::log(Level::info, "only workers in " + worker_keys_->path() +
                                " are accepted; they need --server-key '" + keys->public_key + "'");
      settings.worker_of_key = [this](const std::string& key) { return worker_keys_->name_of(key); };
      curve = net::CurveServer{*std::move(keys), [this](const std::string& key) {
                                 return worker_keys_->name_of(key).has_value();
                               }};
    }
    auto sessions = WorkerSessions::open(*runtime_, router_port(loop_, options_.workers, std::move(curve)),
                                         std::move(settings));
    if (!sessions) {
      return other_address(sessions.error(), "--workers tcp://127.0.0.1:0");
    }
    sessions_ = std::move(sessions).value();
    backups_.emplace(*runtime_, *store_, directory_->backups());
    contexts_.emplace(loop_, kernel_files(), directory_->contexts(), options_.context_limit);
    contexts_->keep_only(contexts_of_experiments());
    const AboutDaemon about{HPSEARCH_VERSION, directory_->path(), loop_.now(), &*backups_, &*contexts_};
    const net::HttpRules rules{.archives_below = "/api/v1/contexts/",
                               .most_archive_bytes = contexts_->most_bytes()};
    auto http =
        net::HttpServer::listen(loop_, options_.http, http_routes(*runtime_, *sessions_, about), rules);
    if (!http) {
      return other_address(http.error(), "--http 127.0.0.1:0");
    }
    http_ = std::move(http).value();
    sessions_->announce_http(http_->address());
    signals_ = loop_.on_signals({SIGTERM, SIGINT}, [this](int) { begin_to_end(); });
    remover_.emplace(*runtime_);
    runtime_->start([this](const engine::Order& order) { carry_out(order); },
                    [this](const Error& error) { storage_failed(error); },
                    [this](const Error& error) { storage_->found_no_room(error); });
    storage_.emplace(*runtime_, directory_->path());
    ownership_.emplace(loop_, *directory_, *store_, [this](const Error& error) { storage_failed(error); });
    remover_->remove_condemned();
    return Done{};
  }

  [[nodiscard]] std::set<std::string> contexts_of_experiments() const {
    std::set<std::string> digests;
    for (const auto& [id, record] : runtime_->engine().experiments()) {
      digests.insert(record.context_digest);
    }
    return digests;
  }

  void carry_out(const engine::Order& order) {
    if (const auto* discard = std::get_if<engine::DiscardCheckpoints>(&order)) {
      remover_->remove(*discard);
    } else {
      sessions_->carry_out(order);
    }
  }

  static Error other_address(Error error, const std::string& free_one) {
    if (error.code == Errc::unavailable) {
      error.message +=
          ". End what listens there, or choose another address (" + free_one + " takes a free port)";
    }
    return error;
  }

  void storage_failed(const Error& error) {
    net::log(Level::error, error.message +
                               ". All acknowledged requests and reports are stored; workers keep the other "
                               "reports and continue. "
                               "Check " +
                               directory_->path() +
                               " and its disk, then start the daemon again; it checks the store when it "
                               "starts and says what to do");
    exit_ = Exit::storage;
    loop_.stop();
  }

  /// Takes nothing more, makes durable and answers what was taken, then ends. Programs on workers run on.
  void begin_to_end() {
    if (draining_) {
      loop_.stop();  // Asked twice: what is not yet durable was not yet acknowledged.
      return;
    }
    net::log(Level::info, "ending");
    http_->stop_accepting();
    sessions_->stop();
    runtime_->stop();
    const engine::Instant limit = loop_.now() + drain_patience;
    draining_ = loop_.every(drain_look_every, [this, limit] {
      if ((runtime_->idle() && http_->answering() == 0) || loop_.now() > limit) {
        loop_.stop();
      }
    });
  }

  Options options_;
  Exit exit_ = Exit::ok;
  net::Loop loop_;
  std::unique_ptr<StateDirectory> directory_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Runtime> runtime_;
  std::optional<WorkerKeys>
      worker_keys_;  // Before the gate, whose port asks for them on a thread of its own.
  std::unique_ptr<WorkerSessions> sessions_;
  std::optional<Backups> backups_;
  std::optional<Contexts> contexts_;
  std::optional<CheckpointRemover> remover_;
  std::optional<StorageWatch> storage_;
  std::optional<OwnershipWatch> ownership_;
  std::unique_ptr<net::HttpServer> http_;
  net::Watch signals_;
  net::Watch draining_;
};

}  // namespace

Exit run_daemon(const Options& options) {
  net::set_log_level(options.log_level);
  // A client that goes away and a file at its size limit are errors of one call, not of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  ::umask(0077);  // Configurations and logs may hold secrets: they are for their owner.
  return Daemon(options).run();
}

}  // namespace hpsearch::daemon
