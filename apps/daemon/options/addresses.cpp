#include "daemon/options/addresses.hpp"

namespace hpsearch::daemon {

bool is_on_this_machine(std::string_view address) {
  if (address.starts_with("ipc://") || address.starts_with("unix://")) {
    return true;
  }
  const std::size_t scheme = address.find("//");
  const std::string_view place = scheme == std::string_view::npos ? address : address.substr(scheme + 2);
  return place.starts_with("127.") || place.starts_with("localhost:") || place.starts_with("[::1]:");
}

}  // namespace hpsearch::daemon
