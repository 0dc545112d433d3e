#pragma once

#include <optional>
#include <string>

#include "daemon/sessions/worker_sessions.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/io/zmq/curve.hpp"

namespace hpsearch::daemon {

/// Opens a ZeroMQ port at `endpoint`, "tcp://127.0.0.1:8078"; port 0 takes a free one; with `curve`
/// for workers with an admitted key only. unavailable: the address is in use.
[[nodiscard]] WorkerSessions::OpenPort router_port(net::Loop& loop, std::string endpoint,
                                                   std::optional<net::CurveServer> curve = {});

}  // namespace hpsearch::daemon
