#include "daemon/access/session_cookie.hpp"

#include <algorithm>

#include "daemon/access/sessions.hpp"

namespace hpsearch::daemon {
namespace {

constexpr const char* cookie_over_tls = "__Host-hpsearch";
// Browsers accept the prefix __Host- only with the path /.
constexpr const char* cookie_below_a_path = "__Secure-hpsearch";

std::string_view port_of(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : host.substr(colon + 1);
  const bool is_number = !port.empty() && port.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? port : "80";
}

}  // namespace

std::string session_cookie_name(const net::HttpRequest& request) {
  if (request.is_encrypted) {
    return request.base_path.empty() ? cookie_over_tls : cookie_below_a_path;
  }
  return "hpsearch_" + std::string(port_of(request.header("Host")));
}

std::string_view session_secret_of(const net::HttpRequest& request) {
  const std::string wanted = session_cookie_name(request) + "=";
  std::string_view cookies = request.header("Cookie");
  while (!cookies.empty()) {
    std::string_view one = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(cookies.size(), one.size() + 1));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with(wanted)) {
      return one.substr(wanted.size());
    }
  }
  return {};
}

std::string set_session_cookie(const net::HttpRequest& request, std::string_view secret) {
  const auto seconds = secret.empty() ? 0 : Sessions::longest_life.in_micros() / 1'000'000;
  return session_cookie_name(request) + "=" + std::string(secret) +
         "; HttpOnly; SameSite=Strict; Path=" + request.base_path + "/; Max-Age=" + std::to_string(seconds) +
         (request.is_encrypted ? "; Secure" : "");
}

}  // namespace hpsearch::daemon
