#include "cli/server.hpp"

#include <charconv>
#include <limits>

#include "cli/interrupts.hpp"
#include "cli/text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// Daemons write daemon.json once they listen, which may be a moment after they took the lock.
constexpr int looks_for_daemon_file = 100;
constexpr std::chrono::milliseconds between_looks{50};

std::optional<DaemonAddresses> daemon_in(const std::filesystem::path& directory) {
  const std::optional<pid_t> holder = lock_holder(directory / "lock");
  if (!holder) {
    return std::nullopt;
  }
  std::optional<DaemonAddresses> addresses = read_daemon_file(directory);
  return addresses && (*holder == 0 || addresses->pid == *holder) ? addresses : std::nullopt;
}

}  // namespace

std::optional<DaemonAddresses> running_daemon(const StateDirectory& state) {
  return daemon_in(state.daemon());
}

Outcome<std::uint64_t> read_number(const std::string& text, const std::string& what) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range && end == text.data() + text.size()) {
    return usage_failure(what + " \"" + printable(text) + "\" is too large: at most " +
                         std::to_string(std::numeric_limits<std::uint64_t>::max()));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return usage_failure(what + " \"" + printable(text) + "\" is not a number");
  }
  return number;
}

Outcome<Server> Server::reach(const ServerOptions& options, Need need, const Output& output) {
  if (!options.state_dir && !options.server) {
    return reach_unnamed(need, output);
  }
  if (!options.state_dir) {
    return Server(Client(*options.server));
  }
  const StateDirectory state(*options.state_dir);
  std::error_code ignored;
  if (!std::filesystem::is_directory(state.path(), ignored)) {
    return not_found_failure("there is no state directory " + state.path().string());
  }
  for (int look = 0;; ++look) {
    if (const auto addresses = running_daemon(state)) {
      return Server(Client(addresses->http));
    }
    if (const auto addresses = daemon_in(state.path())) {  // The directory of a daemon itself.
      return Server(Client(addresses->http));
    }
    const bool held = lock_holder(state.daemon() / "lock").has_value();
    if (!held && need == Need::running) {
      return unreachable_failure("no search runs on " + state.path().string() +
                                 "; continue it with hpsearch run FILE");
    }
    if (!held && !state.has_store()) {
      return not_found_failure("no search has run in " + state.path().string());
    }
    if (!held) {
      // The daemon alone: with a worker it would go on training.
      auto cluster = PrivateCluster::start(
          state, [&output](const std::string& text) { output.message("hpsearch: " + text); },
          [] { return false; });
      if (cluster) {
        Server server(Client(""));
        server.cluster_ = std::make_unique<PrivateCluster>(std::move(*cluster));
        server.left_attempts_ = state.worker() / "attempts";
        return server;
      }
      if (cluster.failure().exit != Exit::conflict) {
        return cluster.failure();
      }
      // A run was quicker: its daemon will answer.
    }
    if (look == looks_for_daemon_file) {
      return unreachable_failure("the daemon of " + state.path().string() + " has no address; see " +
                                 state.daemon_log().string());
    }
    nap(between_looks);
  }
}

Outcome<Server> Server::reach_unnamed(Need need, const Output& output) {
  Client usual(default_server);
  usual.set_timeout(std::chrono::milliseconds(500));
  if (!usual.get("/api/v1/status")) {
    if (const auto latest = latest_state_directory()) {
      output.message("hpsearch: no daemon at " + std::string(default_server) + "; this is " +
                     latest->string());
      ServerOptions options;
      options.state_dir = latest->string();
      return reach(options, need, output);
    }
  }
  return Server(Client(default_server));
}

Server::~Server() {
  if (cluster_) {
    cluster_->end([] { return true; });
  }
}

Outcome<std::uint64_t> Server::experiment(const std::optional<std::string>& given) const {
  if (given) {
    return read_number(*given, "experiment");
  }
  const Outcome<Value> answer = client().get("/api/v1/experiments");
  if (!answer) {
    return answer.failure();
  }
  const Value::List& experiments = list_at(*answer, "experiments");
  if (experiments.empty()) {
    return not_found_failure("there is no experiment yet");
  }
  if (experiments.size() > 1) {
    return usage_failure("there are " + std::to_string(experiments.size()) +
                         " experiments; name one by its ID (hpsearch list shows them)");
  }
  return count_at(experiments.front(), "id");
}

}  // namespace hpsearch::cli
