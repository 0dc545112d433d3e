#include <algorithm>

#include "daemon/access/session_cookie.hpp"
#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// The cookie that says which session a browser has, among all others that it sends. What is read is the value
// of the cookie of that name, whole; the name is made of nothing that a browser or a header reads otherwise.

namespace hpsearch::fuzz {
namespace {

/// The value of the first cookie of that name. Another way to find it than the reader's: forwards, byte by
/// byte.
std::string_view value_of(std::string_view header, std::string_view name) {
  for (std::size_t at = 0; at < header.size(); ++at) {
    const std::size_t begin = header.find_first_not_of(' ', at);
    const std::size_t end = std::min(header.find(';', at), header.size());
    if (begin < end) {
      const std::string_view cookie = header.substr(begin, end - begin);
      if (cookie.starts_with(name) && cookie.substr(name.size()).starts_with('=')) {
        return cookie.substr(name.size() + 1);
      }
    }
    at = end;
  }
  return {};
}

void run_cookie(std::string_view bytes) {
  Parts parts(bytes);
  net::HttpRequest request;
  const unsigned flags = parts.byte();
  request.is_encrypted = (flags & 1U) != 0;
  request.base_path = (flags & 2U) != 0 ? "/hpsearch" : "";
  request.headers.emplace_back("Host", std::string(parts.chunk()));
  request.headers.emplace_back("Cookie", std::string(parts.rest()));
  const std::string name = daemon::session_cookie_name(request);
  HPSEARCH_CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzHS0123456789_-") == std::string::npos,
                 "a name needs no quotes");
  const std::string secret(daemon::session_secret_of(request));
  HPSEARCH_CHECK(secret == value_of(request.header("Cookie"), name), "it is the value of that cookie");
  const std::string set = daemon::set_session_cookie(request, secret);
  net::HttpRequest again = request;
  again.headers.back().second = set.substr(0, set.find(';'));
  HPSEARCH_CHECK(daemon::session_secret_of(again) == secret, "what is set comes back");
}

Seeds cookie_seeds() {
  const auto seed = [](char flags, std::string_view host, std::string_view cookies) {
    return std::string(1, flags) + as_chunk(host) + std::string(cookies);
  };
  const std::string secret(43, 's');
  return {seed(0, "127.0.0.1:8077", "theme=dark; hpsearch_8077=" + secret + "; hpsearch_80=x"),
          seed(0, "localhost", "hpsearch_80=" + secret),
          seed(1, "search.example.org", "__Host-hpsearch=" + secret + ";  other=1"),
          seed(3, "[::1]:443", "a=b;__Secure-hpsearch=" + secret + ";;=; __Secure-hpsearch=")};
}

const Registered cookie_target({"cookie", run_cookie, cookie_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
