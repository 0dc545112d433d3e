#pragma once

#include <boost/asio/ip/address.hpp>
#include <optional>
#include <string_view>

#include "hpsearch/io/http/http.hpp"
#include "net/asio.hpp"

namespace hpsearch::net {

/// Where a connection came in: by this its requests' Host and Origin are judged.
struct HttpSite {
  std::string_view configured_host;          ///< That the server listens on, as it was written.
  std::optional<asio::ip::address> address;  ///< That the connection really came in by.
  bool is_unix = false;
  bool is_encrypted = false;
  bool is_proxied = false;
};

/// Whether `Host` names this server. A name that somebody else's DNS could point at it does not.
bool host_allowed(const HttpSite& site, std::string_view host);

/// Whether a request that changes something comes from no page of a browser, or from one of this server.
bool origin_allowed(const HttpSite& site, const HttpRequest& request);

}  // namespace hpsearch::net
