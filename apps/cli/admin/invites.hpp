#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::cli {

/// "30d", "12h", "30m" or "45s": the time of that option, at most 365 days.
[[nodiscard]] Outcome<engine::Duration> read_life(const std::string& option, const std::string& text);

/// Writes a secret to a file that only its owner can read, in the place of what was there.
[[nodiscard]] Outcome<engine::Done> write_secret_file(const std::string& path, const std::string& secret);

/// The sentence about the rights of an invite: "1 worker may join with it until 15:04".
[[nodiscard]] std::string invite_terms(std::uint64_t uses, double expires);

/// Invites with which workers join the daemon.
struct InviteOptions {
  std::string id;  ///< For revoke.
  std::string life = "1h";
  std::uint64_t uses = 1;
  std::optional<std::string> address;  ///< The address of the daemon's machine for the workers.
  std::optional<std::string> to;       ///< The file for the token, instead of the standard output.
  ServerOptions server;
};
[[nodiscard]] int invite_create(const InviteOptions& options, const Output& output);
[[nodiscard]] int invite_list(const ServerOptions& options, const Output& output);
[[nodiscard]] int invite_revoke(const InviteOptions& options, const Output& output);

/// Describes the cluster that `hpsearch cluster init` prepares.
struct ClusterOptions {
  std::optional<std::string> directory;        ///< The daemon's state directory.
  std::optional<std::string> address;          ///< By which workers and clients reach this machine.
  std::optional<std::string> checkpoint_root;  ///< Shared by all machines.
  std::optional<std::string> invite_file;
  std::string life = "1d";
  std::uint64_t uses = 100;
  std::uint64_t http_port = 8077;
  std::uint64_t workers_port = 8078;
  std::string unit = "none";  ///< Or user, system.
};
[[nodiscard]] int cluster_init(const ClusterOptions& options, const Output& output);

}  // namespace hpsearch::cli
