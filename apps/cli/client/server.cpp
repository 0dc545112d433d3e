#include "cli/client/server.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>

#include "cli/client/interrupts.hpp"
#include "cli/client/saved_daemons.hpp"
#include "cli/client/search_places.hpp"
#include "cli/render/text.hpp"
#include "daemon/store/files/owner_record.hpp"
#include "hpsearch/io/files/state_home.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

/// Daemons write daemon.json once they listen, a moment after they took the lock.
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

/// The owner on another host: its sockets can be reached only there.
std::optional<daemon::OwnerElsewhere> daemon_elsewhere(const std::filesystem::path& directory) {
  const auto found = daemon::owner_elsewhere(directory.string(), daemon::this_owner());
  return found ? *found : std::nullopt;
}

Outcome<std::string> token_of(const ServerOptions& options) {
  return options.token_file ? read_token_file(*options.token_file) : Outcome<std::string>(std::string());
}

Outcome<Client> usual_daemon(const ServerOptions& options) {
  const auto saved = load_saved_daemons();
  if (!saved) {
    return saved.failure();
  }
  const SavedDaemon* current = saved->find(saved->current);
  if (current != nullptr && !options.token_file) {
    return Client(current->server, current->token);
  }
  const auto token = token_of(options);
  if (!token) {
    return token.failure();
  }
  if (current != nullptr) {
    return Client(current->server, *token);
  }
  const auto home = files::StateHome::of_environment();
  if (!home) {
    return usage_failure(home.error().message);
  }
  const auto own = daemon_in(home->daemon());
  return Client(own ? own->socket : default_server, *token);
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
    const Outcome<ServerOptions> found = usual_or_latest(options, output);
    if (!found || found->state_dir) {
      return found ? reach(*found, need, output) : Outcome<Server>(found.failure());
    }
    return reach_shared(options, output);
  }
  if (!options.state_dir) {
    const auto token = token_of(options);
    return token ? Outcome<Server>(Server(Client(*options.server, *token)))
                 : Outcome<Server>(token.failure());
  }
  const StateDirectory state(*options.state_dir);
  std::error_code error;
  const bool is_there = std::filesystem::is_directory(state.path(), error);
  if (error == std::errc::permission_denied ||
      (is_there && ::access(state.path().c_str(), R_OK | X_OK) != 0 && errno == EACCES)) {
    return plain_failure("you have no permission to read " + state.path().string());
  }
  if (!is_there) {
    return not_found_failure("there is no state directory " + state.path().string());
  }
  for (const std::filesystem::path& directory : {state.daemon(), state.path()}) {
    if (const auto elsewhere = daemon_elsewhere(directory)) {
      return unreachable_failure("the daemon of " + state.path().string() + " runs on " +
                                 elsewhere->owner.host + " (process " + std::to_string(elsewhere->owner.pid) +
                                 "); run this command there");
    }
  }
  for (int look = 0;; ++look) {
    if (const auto addresses = running_daemon(state)) {
      Server server(Client(addresses->socket));
      server.run_state_ = state;
      return server;
    }
    if (const auto addresses = daemon_in(state.path())) {  // The state directory of a daemon, not of a run.
      return Server(Client(addresses->socket));
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
      // Only the daemon: a worker would continue training.
      const auto record = load_run_record(state);
      auto cluster = PrivateCluster::start(
          state,
          {.network = record && *record && (*record)->allow_network_filesystem
                          ? files::NetworkFileSystems::allowed
                          : files::NetworkFileSystems::refused,
           .keeps_files = record && *record && !(*record)->workers.empty()},
          [&output](const std::string& text) { output.message("hpsearch: " + text); }, [] { return false; });
      if (cluster) {
        Server server(Client(""));
        server.cluster_ = std::make_unique<PrivateCluster>(std::move(*cluster));
        server.run_state_ = state;
        return server;
      }
      if (cluster.failure().exit != Exit::conflict) {
        return cluster.failure();
      }
      // A run was faster: its daemon will answer.
    }
    if (look == looks_for_daemon_file) {
      return unreachable_failure("the daemon of " + state.path().string() + " has no address; see " +
                                 state.daemon_log().string());
    }
    nap(between_looks);
  }
}

Outcome<Server> Server::reach_shared(const ServerOptions& options, const Output& output) {
  if (options.state_dir || options.server) {
    return reach(options, Need::running, output);
  }
  Outcome<Client> usual = usual_daemon(options);
  return usual ? Outcome<Server>(Server(*std::move(usual))) : Outcome<Server>(usual.failure());
}

Outcome<ServerOptions> Server::usual_or_latest(const ServerOptions& options, const Output& output) {
  if (options.state_dir || options.server) {
    return options;
  }
  Outcome<Client> usual = usual_daemon(options);
  if (!usual) {
    return usual.failure();
  }
  usual->set_timeout(std::chrono::milliseconds(500));
  if (const auto answer = usual->get("/api/v1/status"); !answer) {
    if (const auto latest = latest_search()) {
      if (answer.failure().exit != Exit::unreachable || usual->address() != default_server) {
        output.message("hpsearch: " + answer.failure().message + "; this is " + latest->path.string());
      } else if (searches_here().size() > 1) {
        output.message("hpsearch: this is " + printable(latest->name) +
                       ", the search that was run last; hpsearch list shows the others");
      }
      ServerOptions private_one;
      private_one.state_dir = latest->path.string();
      return private_one;
    }
    if (const auto forbidden = forbidden_place()) {
      return plain_failure("you have no permission to read " + forbidden->string() +
                           "; run the command as its owner");
    }
    if (answer.failure().exit == Exit::unreachable && usual->address() == default_server) {
      return unreachable_failure(
          "there is no search in this directory: hpsearch run FILE starts one. No daemon runs at " +
          usual->address() + "; --server names another one, --state-dir the directory of a search");
    }
  }
  return options;
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
  const Outcome<Value> answer = client().get_list("/api/v1/experiments", "experiments");
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
