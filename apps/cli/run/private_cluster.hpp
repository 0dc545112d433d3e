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

/// A private daemon, and a worker if requested, on this machine, as long as one command lives.
///
/// A helper that dies is started again on the same addresses, after a growing pause and only a few times in a
/// row: a helper that always dies is reported with the end of its log.
///
/// Owns:    both processes; the destructor ends them.
class PrivateCluster {
 public:
  using Say = std::function<void(const std::string&)>;  ///< Prints progress.
  using Hurry = std::function<bool()>;  ///< True if the user does not want to wait any longer.

  /// Permissions of the daemon.
  struct Permissions {
    files::NetworkFileSystems network = files::NetworkFileSystems::refused;
    bool take_over = false;    ///< Take the directory over from another host's daemon; only once, not at a
                               ///< restart.
    bool keeps_files = false;  ///< Workers of other machines ran trials, whose files only the daemon has.
    std::string workers{};  ///< "tcp://HOST:PORT" where workers of other machines reach it, with a key; port
                            ///< 0 is a free one. "" = no other machine and no other user reaches it.
  };

  /// Starts the daemon and waits until it answers. If helpers of an earlier, killed run are still ending,
  /// waits for them. conflict: another process holds the directory; unavailable: it cannot be started.
  [[nodiscard]] static Outcome<PrivateCluster> start(const StateDirectory& state, Permissions permissions,
                                                     const Say& say, const Hurry& hurry);

  /// The slots of the worker.
  struct Slots {
    std::optional<std::string> chosen{};      ///< Nothing: as many as it finds, shared with other searches.
    std::optional<std::uint64_t> gpu_free{};  ///< Percent; nothing: as the worker has it.
    std::string who;                          ///< How other searches of the machine name this one.
  };
  /// Starts the worker. Does not wait for it to join.
  [[nodiscard]] Outcome<engine::Done> start_worker(const Slots& slots, const Say& say, const Hurry& hurry);

  /// Waits until no daemon or worker of an earlier command holds the directory. conflict: they do not end.
  [[nodiscard]] static Outcome<engine::Done> await_free(const StateDirectory& state, const Say& say,
                                                        const Hurry& hurry);

  [[nodiscard]] const Client& client() const noexcept { return client_; }

  /// Where the daemon listens for workers.
  [[nodiscard]] const std::string& workers() const noexcept { return workers_; }

  /// Restarts processes that have died. Call it at least every second. Fails if restarting is pointless.
  [[nodiscard]] Outcome<engine::Done> look_after(const Say& say);

  /// Ends the worker (its programs get their grace period, unless `hurry`), then the daemon; returns when
  /// both have ended.
  void end(const Hurry& hurry);

 private:
  /// One process and its history.
  struct Helper {
    std::string name;
    std::vector<std::string> argv;
    std::filesystem::path log;
    std::uintmax_t log_begin = 0;  // Size of the log at its last start.
    std::optional<ChildProcess> process;
    std::vector<std::chrono::steady_clock::time_point> deaths;  // Times of recent deaths.
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
