#pragma once

#include <string_view>

namespace hpsearch::daemon {

/// Whether only programs of this machine reach an address: a Unix socket, or a loopback address.
[[nodiscard]] bool is_on_this_machine(std::string_view address);

}  // namespace hpsearch::daemon
