#pragma once

#include <string>

namespace hpsearch::workers {

/// The address from which this machine's route to the daemon leaves; `endpoint` is the daemon's
/// address, tcp://HOST:PORT. 127.0.0.1 for a daemon on this machine; "" if there is no route or no host with
/// that name.
[[nodiscard]] std::string own_address(const std::string& endpoint);

}  // namespace hpsearch::workers
