#pragma once

#include <string>

namespace hpsearch::net {

/// Whether it is spelled "10.0.0.0/8" or "fd00::/8".
[[nodiscard]] bool is_network(const std::string& text);
/// Whether the IP address lies in that network. False when either is none.
[[nodiscard]] bool is_in_network(const std::string& address, const std::string& network);

}  // namespace hpsearch::net
