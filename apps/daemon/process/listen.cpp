#include <array>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "daemon/http/http_routes.hpp"
#include "daemon/options/addresses.hpp"
#include "daemon/process/daemon_process.hpp"
#include "hpsearch/io/archive/kept_log.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/loop_lag.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using net::Level;

constexpr std::size_t most_metrics_body = 1024;  ///< No client has to send a body.
constexpr std::chrono::minutes session_look_every{1};
constexpr const char* port_file = "/http-port";  ///< The port for browsers that was last opened on request.

}  // namespace

Status DaemonProcess::listen() {
  using Step = Status (DaemonProcess::*)();
  for (const Step step :
       {&DaemonProcess::read_certificate, &DaemonProcess::read_tokens, &DaemonProcess::listen_for_workers,
        &DaemonProcess::open_backups, &DaemonProcess::open_kept_files, &DaemonProcess::open_audit,
        &DaemonProcess::read_notified, &DaemonProcess::listen_for_clients, &DaemonProcess::store_keys,
        &DaemonProcess::begin}) {
    if (Status done = (this->*step)(); !done) {
      return done;
    }
  }
  return Done{};
}

Status DaemonProcess::listen_for_clients() {
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
  auto socket = net::HttpServer::listen(loop_, "unix://" + absolute(place), routes.handler, rules, &passed_);
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

Status DaemonProcess::listen_for_metrics(const net::HttpServer::Handler& handler) {
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

void DaemonProcess::reopen_http_port() {
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

Result<std::string> DaemonProcess::open_http_port() {
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

Error DaemonProcess::other_address(Error error, const std::string& free_one) {
  if (error.code == Errc::unavailable) {
    error.message += ". End what listens there, or choose another address (" + free_one + ")";
  }
  return error;
}

void DaemonProcess::warn_of(const proto::DaemonFile& here) const {
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

}  // namespace hpsearch::daemon
