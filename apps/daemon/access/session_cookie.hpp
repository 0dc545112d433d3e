#pragma once

#include <string>
#include <string_view>

#include "hpsearch/io/http/http.hpp"

namespace hpsearch::daemon {

inline constexpr std::string_view session_path = "/api/v1/session";

/// The cookie that keeps a browser signed in. Over TLS it is "__Host-hpsearch", which no other host and no
/// plain connection can set. Without TLS its name has the port of the Host header, because browsers send the
/// cookies of all ports of a host to each of them. Below a base path it is sent to that path alone, and over
/// TLS named "__Secure-hpsearch".
[[nodiscard]] std::string session_cookie_name(const net::HttpRequest& request);

/// The secret in the cookie of that name; "" = none.
[[nodiscard]] std::string_view session_secret_of(const net::HttpRequest& request);

/// Set-Cookie for a new session with this secret; "" removes the cookie.
[[nodiscard]] std::string set_session_cookie(const net::HttpRequest& request, std::string_view secret);

}  // namespace hpsearch::daemon
