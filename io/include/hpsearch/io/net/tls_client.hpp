#pragma once

#include <string>

namespace hpsearch::net {

/// A client of TLS has this beside the address of the server. Texts in PEM.
struct TlsClient {
  std::string authorities{};  ///< Certificates that vouch for the server's; "" = those of this machine.
  std::string certificate{};  ///< The client's own, with its chain; "" = none.
  std::string key{};
};

}  // namespace hpsearch::net
