#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/sign_on/person.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

/// Where proxies are that name people: over TCP an address or a network, over the Unix socket a user.
struct ProxyPlaces {
  std::vector<std::string> networks{};  ///< "10.0.0.5/32"
  std::vector<std::uint32_t> users{};
};
/// Adds "10.0.0.5", "10.0.0.0/24", "fd00::/8" or "user:www-data". Returns what is allowed instead; "" = it
/// was added.
[[nodiscard]] std::string add_proxy_place(ProxyPlaces& places, const std::string& text);

/// A proxy in front of the daemon signs people in, and names them in a header of each request.
struct ProxyHeader {
  std::string header{};  ///< "" = there is no such proxy.
  std::string groups_header = "X-Forwarded-Groups";
  ProxyPlaces from{};

  [[nodiscard]] bool is_from(const net::HttpPeer& peer) const;
};

/// The person whom a request's headers name. Null: they name none. bad_request: the request isn't from such a
/// proxy, or has a header twice or a name that is none; so no client names itself.
[[nodiscard]] engine::Result<std::optional<Person>> person_in(const net::HttpRequest& request,
                                                              const ProxyHeader& proxy);

/// Whether it is a name of a header (RFC 9110).
[[nodiscard]] bool is_header_name(std::string_view text) noexcept;

}  // namespace hpsearch::daemon
