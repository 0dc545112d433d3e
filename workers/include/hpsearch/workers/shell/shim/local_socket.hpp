#pragma once

#include <sys/types.h>

#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// The longest path of a Unix socket.
inline constexpr std::size_t longest_socket_path = 107;

/// A nonblocking Unix stream socket at `path`; only the owner of this process may connect. Replaces
/// an existing file. unavailable: the path can't be bound.
[[nodiscard]] engine::Result<Descriptor> listen_locally(const std::string& path);

/// Connects to such a socket. not_found: no process listens there. The descriptor is nonblocking.
[[nodiscard]] engine::Result<Descriptor> connect_locally(const std::string& path);

/// Whether the process at the other end runs as this process's user.
[[nodiscard]] bool is_ours(const Descriptor& connection) noexcept;

/// The process that listens at the other end; 0 if it is unknown.
[[nodiscard]] pid_t peer_of(const Descriptor& connection) noexcept;

}  // namespace hpsearch::workers
