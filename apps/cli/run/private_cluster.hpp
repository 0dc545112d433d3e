#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/client/client.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/run/child_process.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/io/files/state_place.hpp"

namespace hpsearch::cli {

/// A daemon, and a worker if wanted, of our own on this machine, for as long as one command lives.
///
/// Whichever dies is started again on the same addresses, after a growing pause and only a few times in a
/// row: a helper that cannot live is reported with the end of its log instead of being tried for ever.
///
/// Owns: both processes; the destructor asks them to end.
class PrivateCluster {
 public:
  using Say = std::function<void(const std::string&)>;  ///< Tells people what goes on.
  using Hurry = std::function<bool()>;  ///< True when the user does not want to wait any longer.

  /// What the daemon is started with.
  struct Permissions {
    files::NetworkFileSystems network = files::NetworkFileSystems::refused;
    bool take_over = false;  ///< The directory, from another host's daemon; once, not when it is revived.
  };

  /// Starts the daemon and waits until it answers. If helpers of an earlier, killed run are still ending,
  /// waits for them. conflict: the directory is held by somebody else; unavailable: it cannot be started.
  [[nodiscard]] static Outcome<PrivateCluster> start(const StateDirectory& state, Permissions permissions,
                                                     const Say& say, const Hurry& hurry);

  /// Starts the worker, with these slots, or as many as it finds fit. Does not wait for it to join.
  [[nodiscard]] Outcome<engine::Done> start_worker(const std::optional<std::string>& slots, const Say& say,
                                                   const Hurry& hurry);

  /// Waits until no daemon or worker of an earlier command holds the directory. conflict: they do not end.
  [[nodiscard]] static Outcome<engine::Done> await_free(const StateDirectory& state, const Say& say,
                                                        const Hurry& hurry);

  [[nodiscard]] const Client& client() const noexcept { return client_; }

  /// Starts again what has died. Call it every second or oftener. Fails when there is no point in going on.
  [[nodiscard]] Outcome<engine::Done> look_after(const Say& say);

  /// Ends the worker (its programs get their grace, unless `hurry`), then the daemon; returns when both are
  /// gone.
  void end(const Hurry& hurry);

 private:
  /// One helper and its history.
  struct Helper {
    std::string name;
    std::vector<std::string> argv;
    std::filesystem::path log;
    std::uintmax_t log_begin = 0;  // Size of the log when it was last started.
    std::optional<ChildProcess> process;
    std::vector<std::chrono::steady_clock::time_point> deaths;  // Recent ones.
    std::chrono::steady_clock::time_point start_again_at{};
  };

  explicit PrivateCluster(StateDirectory state) : state_(std::move(state)), client_("") {}

  [[nodiscard]] static Outcome<engine::Done> launch(Helper& helper);
  [[nodiscard]] static Failure death_of(Helper& helper, const Ending& ending);
  [[nodiscard]] Outcome<engine::Done> await_daemon(const Hurry& hurry);
  [[nodiscard]] static Outcome<engine::Done> revive(Helper& helper, const Say& say);

  StateDirectory state_;
  std::string workers_;  ///< Where the daemon listens for workers; the same after each start.
  Helper daemon_;
  std::optional<Helper> worker_;
  Client client_;
};

}  // namespace hpsearch::cli
