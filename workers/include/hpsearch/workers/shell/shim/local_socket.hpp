#pragma once

#include <sys/types.h>

#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// The longest path a Unix socket can have.
inline constexpr std::size_t longest_socket_path = 107;

/// A Unix stream socket at `path` that only the owner of this process may connect to; does not block. Takes
/// the place of what lies there. unavailable: the path cannot be bound.
[[nodiscard]] engine::Result<Descriptor> listen_locally(const std::string& path);

/// Connects to such a socket. not_found: nobody listens there. The descriptor does not block.
[[nodiscard]] engine::Result<Descriptor> connect_locally(const std::string& path);

/// Whoever is at the other end runs as this process's user.
[[nodiscard]] bool is_ours(const Descriptor& connection) noexcept;

/// Whoever listens where this has connected; 0: it cannot be told.
[[nodiscard]] pid_t peer_of(const Descriptor& connection) noexcept;

}  // namespace hpsearch::workers
