#pragma once

#include <string>

namespace hpsearch::workers {

/// The address of this machine that its route to the daemon leaves from; `endpoint` is where the daemon
/// listens, tcp://HOST:PORT. 127.0.0.1 for a daemon on this machine; "" if there is no route or no host of
/// that name.
[[nodiscard]] std::string own_address(const std::string& endpoint);

}  // namespace hpsearch::workers
