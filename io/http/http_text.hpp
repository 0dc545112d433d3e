#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "hpsearch/io/http/http.hpp"

// The parts of HTTP that are only text: no sockets here, so tests can throw anything at them.

namespace hpsearch::net {

/// Splits a request's target into the decoded path and query of `into`. False for what is no origin-form
/// target ("/path?a=b"), a broken %-escape or a hidden NUL. Decodes once: %2541 becomes %41, not A.
[[nodiscard]] bool read_target(std::string_view target, HttpRequest& into);

/// What makes the head of a request ambiguous: what two readers of HTTP could understand differently (request
/// smuggling).
/// "" = nothing. `head` is the request line and the headers, each with its line end, without the empty line.
/// A line ends with CR LF; no line is folded; a header that has one value stands once; a body has one length,
/// in chunks or not. Source: RFC 9112, sections 2.2, 5.2, 6.1 and 6.3.
[[nodiscard]] std::string ambiguity_of(std::string_view head);

struct HostPort {
  std::string host;  ///< Without brackets: "::1".
  std::string port;  ///< "" when not given.
};

/// "127.0.0.1:8080", "[::1]:80" or "localhost"; nothing when it is neither.
[[nodiscard]] std::optional<HostPort> read_host_port(std::string_view text);

/// Where HTTP is served.
struct HttpAddress {
  std::string path;  ///< The path of a Unix socket; "" over TCP.
  HostPort tcp;
  bool tls = false;
  std::string fingerprint;  ///< SHA-256 of the certificate, 64 digits of lower case hexadecimal; "" = none.
};

/// "127.0.0.1:8080", "https://127.0.0.1:8080", the same with "#FINGERPRINT", or
/// "unix:///run/hpsearch/api.sock"; nothing when it is none of them.
[[nodiscard]] std::optional<HttpAddress> read_http_address(std::string_view text);

/// Whether that Accept-Encoding takes gzip: "gzip", "br, gzip;q=0.5" or "*", but not "gzip;q=0".
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);
/// Whether packing is worth it for that Content-Type: texts, JSON, columns of numbers; not for a
/// text/event-stream, whose messages are small and which is packed with each one.
[[nodiscard]] bool is_packable(std::string_view content_type);
/// "Fri, 27 Nov 2026 13:00:00 GMT".
[[nodiscard]] std::string http_date(std::time_t at);

[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

}  // namespace hpsearch::net
