#include "daemon/process/daemon_process.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "daemon/process/daemon.hpp"
#include "hpsearch/engine/experiment/experiment_state.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/loop_lag.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Errc;
using engine::Error;
using engine::Status;
using net::Level;

constexpr std::chrono::milliseconds drain_look_every{5};
constexpr std::chrono::seconds status_every{30};
constexpr std::chrono::seconds repeats_every{10};
constexpr Duration drain_patience = Duration::seconds(10);

}  // namespace

DaemonProcess::DaemonProcess(const Options& options, engine::SearcherRegistry registry)
    : options_(options),
      registry_(registry),
      pages_(options.web_root.empty() ? embedded_page_files() : page_files_in(absolute(options.web_root))) {
}

std::string DaemonProcess::absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

Exit DaemonProcess::run() {
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
  net::log(Level::info, "ready: clients " + here.socket + (http_ ? " and " + here.http : "") + ", workers " +
                            here.workers + ", state in " + directory_->path() + ", " +
                            std::to_string(runtime_->engine().experiments().size()) + " experiments, " +
                            std::to_string(runtime_->engine().last_lsn().number()) + " events");
  say_ready();
  service_clock_ = loop_.every(status_every, [this] { tell_state(); });
  loop_.run();
  leave_signals();
  if (runtime_->stalled()) {
    return end(Error{Errc::unavailable, std::string("stopped before ") +
                                            (in_a_database() ? "the database answered" : "there was space") +
                                            ": unacknowledged events are not stored"},
               Exit::storage);
  }
  directory_->retract();
  net::log(Level::info, "ended");
  return exit_;
}

Exit DaemonProcess::end(const Error& error, Exit code) {
  net::log(Level::error, error.message);
  service_.status(error.message);
  return code;
}

proto::DaemonFile DaemonProcess::announcement() const {
  return {socket_->address(), http_ ? http_->address() : "", sessions_->endpoint(), HPSEARCH_VERSION,
          store_->daemon_epoch()};
}

std::string DaemonProcess::state_of_service() const {
  const engine::Engine& engine = runtime_->engine();
  const auto active = std::count_if(engine.experiments().begin(), engine.experiments().end(),
                                    [](const auto& one) { return !engine::is_ended(one.second.state); });
  const char* const waits =
      in_a_database() ? "waits for the database of the store; " : "waits for space on the disk; ";
  return (runtime_->stalled() ? waits : "") + std::to_string(active) + " active experiments, log position " +
         std::to_string(engine.last_lsn().number());
}

void DaemonProcess::say_ready() {
  last_state_ = state_of_service();
  service_.ready(last_state_);
}

void DaemonProcess::tell_state() {
  if (std::string state = state_of_service(); state != last_state_) {
    service_.status(state);
    last_state_ = std::move(state);
  }
}

void DaemonProcess::leave_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
}

Status DaemonProcess::begin() {
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

void DaemonProcess::carry_out(const engine::Order& order) {
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

void DaemonProcess::storage_failed(const Error& error) {
  const bool taken_over = error.code == Errc::wrong_state;
  net::log(Level::error,
           error.message +
               ". All acknowledged requests and reports are stored; workers keep the other "
               "reports and continue" +
               (taken_over
                    ? ""
                    : ". Check " + (in_a_database() ? options_.store : directory_->path() + " and its disk") +
                          ", then start the daemon again; it checks the store when it "
                          "starts and says what to do"));
  exit_ = taken_over ? Exit::conflict : Exit::storage;
  loop_.stop();
}

void DaemonProcess::begin_to_end() {
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

Exit run_daemon(const Options& options, engine::SearcherRegistry registry) {
  net::set_log_level(options.log_level);
  net::set_log_format(options.log_format);
  // A client that disconnects and a file at its size limit are errors of one call, not of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  ::unsetenv("CONFIGURATION_DIRECTORY");  // Workers in jobs of a queue would read the file of this service.
  ::umask(0077);  // Configurations and logs may contain secrets: only their owner may read them.
  const Exit code = DaemonProcess(options, registry).run();
  net::write_repeats(/*all=*/true);
  return code;
}

}  // namespace hpsearch::daemon
