#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/zmq/invite_token.hpp"

namespace hpsearch::workers {

/// The daemon that a worker has joined: joined.json in its state directory (mode 0600).
struct JoinedDaemon {
  std::string address;     ///< "tcp://10.0.0.1:8078"
  std::string server_key;  ///< The daemon's public key.
  std::string invite;      ///< invite_id() of the invite that was used.
};

/// Nothing if no worker has joined with this state directory. corrupt: the file is damaged.
[[nodiscard]] engine::Result<std::optional<JoinedDaemon>> joined_daemon(
    const std::filesystem::path& state_directory);

/// The text of an invite: of "@FILE", of the standard input ("-" or ""; on a terminal it is asked for and not
/// shown), or `given` itself. A warning is logged if other users can read the file. bad_request: it cannot be
/// read.
[[nodiscard]] engine::Result<std::string> invite_text(const std::string& given);

/// How long join() tries to reach the daemon.
inline constexpr std::chrono::seconds join_patience{20};

/// Makes the worker's key in the state directory, has it allowed by the daemon of the invite, and remembers
/// that daemon. Without a message to the daemon if the directory has joined it with this invite before.
///
/// bad_request: the daemon does not accept the invite, or the name; unavailable: the daemon is not reached;
/// wrong_state, corrupt: the key file cannot be used. The message tells the remedy.
[[nodiscard]] engine::Result<JoinedDaemon> join(const std::filesystem::path& state_directory,
                                                const net::InviteToken& invite, const std::string& name,
                                                std::chrono::milliseconds patience = join_patience);

}  // namespace hpsearch::workers
