#include "http/http_site.hpp"

#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "http/http_text.hpp"

namespace hpsearch::net {

bool host_allowed(const HttpSite& site, std::string_view host) {
  // No browser reaches a Unix socket, and none speaks TLS with a server whose certificate does not name the
  // site. A proxy knows its own names.
  if (site.is_unix || site.is_encrypted || site.is_proxied) {
    return !host.empty();
  }
  const auto parts = read_host_port(host);
  if (!parts) {
    return false;
  }
  if (equal_ignoring_case(parts->host, "localhost") ||
      equal_ignoring_case(parts->host, site.configured_host)) {
    return true;
  }
  AsioError error;
  const auto named = asio::ip::make_address(parts->host, error);
  return !error && (named.is_loopback() || named == site.address);
}

bool origin_allowed(const HttpSite& site, const HttpRequest& request) {
  const std::string_view fetched_from = request.header("Sec-Fetch-Site");
  if (!fetched_from.empty() && fetched_from != "same-origin" && fetched_from != "none") {
    return false;
  }
  const std::string_view origin = request.header("Origin");
  const std::string host(request.header("Host"));
  return origin.empty() || (!site.is_encrypted && origin == "http://" + host) ||
         ((site.is_encrypted || site.is_proxied) && origin == "https://" + host);
}

}  // namespace hpsearch::net
