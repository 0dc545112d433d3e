#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "cli/client/client.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/render/output.hpp"
#include "cli/run/private_cluster.hpp"
#include "cli/verbs/failure.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

inline constexpr const char* default_server = "unix:///run/hpsearch/api.sock";

/// The daemon of a command: the one of --server, or the private one of a run's state directory. For a command
/// that only reads, the private daemon is started as long as the command takes if no run is using the
/// directory.
class Server {
 public:
  enum class Need { running, readable };

  [[nodiscard]] static Outcome<Server> reach(const ServerOptions& options, Need need, const Output& output);

  /// Like reach(), but without --server and --state-dir always the usual daemon, never a search that only
  /// happened to run here: that of the current context, otherwise the one that runs in the state home,
  /// otherwise the one at default_server.
  [[nodiscard]] static Outcome<Server> reach_shared(const ServerOptions& options, const Output& output);

  /// The unchanged options; but with neither --server nor --state-dir, and if the usual daemon does not
  /// answer, those of the search that was run last in the current directory, if there is one; then a message
  /// names it.
  [[nodiscard]] static Outcome<ServerOptions> usual_or_latest(const ServerOptions& options,
                                                              const Output& output);

  [[nodiscard]] const Client& client() const noexcept { return cluster_ ? cluster_->client() : client_; }

  /// The experiment that `given` names; the only one if nothing is given.
  [[nodiscard]] Outcome<std::uint64_t> experiment(const std::optional<std::string>& given) const;

  /// The daemon was started for this command, and no training is running.
  [[nodiscard]] bool is_ours() const noexcept { return cluster_ != nullptr; }

  /// Where its worker's attempts are, if the daemon is ours: there is no worker then that could send their
  /// logs.
  [[nodiscard]] std::optional<StateDirectory> left_state() const {
    return is_ours() ? run_state_ : std::nullopt;
  }

  /// The run that the private daemon belongs to, running or not.
  [[nodiscard]] const std::optional<StateDirectory>& run_state() const noexcept { return run_state_; }

  Server(Server&&) noexcept = default;
  Server& operator=(Server&&) noexcept = default;
  ~Server();

 private:
  explicit Server(Client client) : client_(std::move(client)) {}
  Client client_;
  std::unique_ptr<PrivateCluster> cluster_;
  std::optional<StateDirectory> run_state_;
};

/// The daemon that runs on that directory now, or null.
[[nodiscard]] std::optional<DaemonAddresses> running_daemon(const StateDirectory& state);

/// Reads a number from an argument; otherwise a usage failure about `what`.
[[nodiscard]] Outcome<std::uint64_t> read_number(const std::string& text, const std::string& what);

}  // namespace hpsearch::cli
