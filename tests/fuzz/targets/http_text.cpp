#include "http/http_text.hpp"

#include <algorithm>
#include <cctype>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/sentences/language.hpp"

// The parts of an HTTP request that we read ourselves: the target, the Host, Accept-Language, and what makes
// a head ambiguous. A decoded target that is encoded again decodes to the same; a head that passes has one
// length and no line that another reader would end elsewhere.

namespace hpsearch::fuzz {
namespace {

void check_target(std::string_view target) {
  net::HttpRequest read;
  if (!net::read_target(target, read)) {
    return;
  }
  HPSEARCH_CHECK(read.path.starts_with('/'), "a target is a path");
  std::string encoded = "/" + net::percent_encoded(std::string_view(read.path).substr(1));
  char before = '?';
  for (const auto& [name, value] : read.query) {
    HPSEARCH_CHECK(name.find('\0') == std::string::npos && value.find('\0') == std::string::npos,
                   "no hidden NUL");
    encoded += before + net::percent_encoded(name) + "=" + net::percent_encoded(value);
    before = '&';
  }
  HPSEARCH_CHECK(read.path.find('\0') == std::string::npos, "no hidden NUL");
  net::HttpRequest again;
  HPSEARCH_CHECK(net::read_target(encoded, again), "an encoded target can be read");
  HPSEARCH_CHECK(again.path == read.path && again.query == read.query, "and it is the same");
}

/// How many lines begin with this name, in lower case, and a colon. Another way to count than the reader's.
std::size_t headers_named(std::string head, std::string_view name) {
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::string line = "\n" + std::string(name) + ":";
  std::size_t found = 0;
  for (std::size_t at = head.find(line); at != std::string::npos; at = head.find(line, at + 1)) {
    ++found;
  }
  return found;
}

void check_head(std::string_view head) {
  if (!net::ambiguity_of(head).empty()) {
    return;
  }
  const std::string text(head);
  HPSEARCH_CHECK(headers_named(text, "content-length") + headers_named(text, "transfer-encoding") <= 1,
                 "a body has one length");
  for (std::size_t at = 0; at < head.size(); ++at) {
    HPSEARCH_CHECK(head[at] != '\n' || (at > 0 && head[at - 1] == '\r'), "every line ends with CR LF");
  }
  HPSEARCH_CHECK(text.find("\n ") == std::string::npos && text.find("\n\t") == std::string::npos,
                 "no folded line");
}

void check_host(std::string_view host) {
  const auto read = net::read_host_port(host);
  if (!read) {
    return;
  }
  const bool bracketed = read->host.find(':') != std::string::npos || host.starts_with('[');
  const std::string again =
      (bracketed ? "[" + read->host + "]" : read->host) + (read->port.empty() ? "" : ":" + read->port);
  const auto reread = net::read_host_port(again);
  HPSEARCH_CHECK(reread && reread->host == read->host && reread->port == read->port,
                 "host and port that are joined again are the same");
}

void check_language(std::string_view header) {
  std::string text(header);
  const sentences::Language language = sentences::language_for(text);
  HPSEARCH_CHECK(
      sentences::language_for("de," + text) == language && sentences::language_for(text + ",de") == language,
      "other languages change nothing");
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  HPSEARCH_CHECK(language == sentences::Language::english || text.find("zh") != std::string::npos,
                 "only a header that names Chinese gets it");
}

void run_http_text(std::string_view bytes) {
  check_target(bytes);
  check_head(bytes);
  check_host(bytes);
  check_language(bytes);
}

Seeds http_text_seeds() {
  return {
      "/api/v1/experiments/3/trials?limit=10&after=%41+b&x",
      "/a%2Fb/%c3%a9?q=%3d%26",
      "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:8077\r\nAccept: */*\r\n",
      "POST /api/v1/experiments HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nIdempotency-Key: 7\r\nExpect: 100-continue\r\n",
      "PUT /x HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n",
      "127.0.0.1:8077",
      "[::1]:80",
      "localhost",
      "zh-CN,zh;q=0.9,en-GB;q=0.8, *;q=0.1",
  };
}

const Registered http_text_target({"http_text", run_http_text, http_text_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
