#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/client/server.hpp"
#include "cli/doctor/facts.hpp"

namespace hpsearch::cli {

// Each looks at one part of the facts and changes nothing. Each waits at most some seconds for a program, a
// name or a daemon, so that all of them, at the same time, take less than 10 s.

[[nodiscard]] MachineFacts observe_machine();

/// The directory of a daemon, or that of a run, which has one in it. Null if it is none, or if this user may
/// not read it.
[[nodiscard]] std::optional<StateFacts> observe_state(const std::filesystem::path& directory,
                                                      const std::optional<std::string>& checkpoint_root);

/// The directory of the daemon in a state directory: that of a run has one in it.
[[nodiscard]] std::filesystem::path daemon_directory_in(const std::filesystem::path& directory);

[[nodiscard]] DaemonFacts observe_daemon(const Outcome<Client>& daemon);

[[nodiscard]] WorkerFacts observe_worker();

/// Whether a line of a unit has a --server-key with a % that systemd replaces.
[[nodiscard]] bool has_percent_in_key(std::string_view line);

/// Whether a list of exceptions from a proxy has this machine.
[[nodiscard]] bool leaves_out_this_machine(std::string_view no_proxy);

/// The content of a file, or "".
[[nodiscard]] std::string text_of(const std::filesystem::path& path);

/// Null if there is no such file.
[[nodiscard]] std::optional<SeenFile> seen_file(const std::filesystem::path& path);

/// The addresses of a host name, or the names of an address, as the machine's resolver has them; empty if it
/// does not answer in time.
[[nodiscard]] std::vector<std::string> looked_up(const std::string& name);

}  // namespace hpsearch::cli
