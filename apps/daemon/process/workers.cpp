#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/blobs/checkpoint_root.hpp"
#include "daemon/process/daemon_process.hpp"
#include "daemon/sessions/worker_port.hpp"
#include "hpsearch/io/net/log.hpp"
#include "hpsearch/io/net/server_names.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Duration;
using engine::Status;
using net::Level;

}  // namespace

Status DaemonProcess::listen_for_workers() {
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
  auto sessions =
      WorkerSessions::open(*runtime_, router_port(loop_, for_workers, std::move(curve)), std::move(settings));
  if (!sessions) {
    return other_address(sessions.error(), "--workers tcp://127.0.0.1:0");
  }
  sessions_ = std::move(sessions).value();
  return Done{};
}

std::string DaemonProcess::address_for_workers() const {
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

void DaemonProcess::open_allocator() {
  std::error_code unknown;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  allocator_.emplace(*runtime_, loop_,
                     Allocator::Settings{.directory = directory_->path() + "/alloc",
                                         .worker = (own.parent_path() / "hpsearch-worker").string(),
                                         .daemon = address_for_workers(),
                                         .invites = invites_ ? &*invites_ : nullptr,
                                         .keys = worker_keys_ ? &*worker_keys_ : nullptr});
}

void DaemonProcess::remove_keys_of(const std::string& name) {
  if (!worker_keys_) {
    return;
  }
  std::set<std::string> used;
  for (const auto& [id, worker] : runtime_->engine().workers()) {
    if (worker.name == name) {
      used.insert(sessions_->key_of(id));
    }
  }
  if (used.contains("")) {
    return;
  }
  // Beside the loop: keys may be kept in a database as well.
  checks_.run([keys = &*worker_keys_, used = std::move(used), name]() -> net::Background::Afterwards {
    const auto all = keys->list();
    for (const WorkerKey& one : all ? *all : std::vector<WorkerKey>()) {
      if (one.name != name || used.contains(one.key)) {
        continue;
      }
      const auto removed = keys->deny(one.key);
      net::log(removed ? Level::info : Level::warning,
               removed ? "the key " + one.key + " of worker \"" + name + "\" is not allowed any more"
                       : removed.error().message);
    }
    return [] {};
  });
}

Duration DaemonProcess::lost_after() const {
  return Duration::micros(static_cast<std::int64_t>(options_.lost_after_seconds * 1e6));
}

engine::Patience DaemonProcess::patience() const {
  return {std::min(Duration::seconds(45), lost_after()), lost_after()};
}

Duration DaemonProcess::forget_after() const {
  return Duration::micros(static_cast<std::int64_t>(options_.forget_after_seconds * 1e6));
}

jobs::Programs::OpenSecrets DaemonProcess::open_secrets() {
  return [this](const engine::Value& config) { return secrets_->open(config); };
}

}  // namespace hpsearch::daemon
