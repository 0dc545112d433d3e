#include "daemon/pages/pages.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "daemon/http/http_answers.hpp"
#include "daemon/pages/gzip_text.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {
namespace {

using net::HttpRequest;
using net::HttpResponse;

constexpr std::string_view base_word = "{{base}}";
constexpr std::size_t least_hash_chars = 8;

// Allows scripts, styles and connections of this server only, no script in the page itself, and no frame
// around it.
constexpr const char* page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src "
    "'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> types_of_pages{{
    {".css", "text/css; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".ico", "image/x-icon"},
    {".js", "text/javascript; charset=utf-8"},
    {".json", "application/json"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".png", "image/png"},
    {".svg", "image/svg+xml"},
    {".txt", "text/plain; charset=utf-8"},
    {".woff2", "font/woff2"},
}};

std::string type_of_page(std::string_view name) {
  for (const auto& [ending, type] : types_of_pages) {
    if (name.ends_with(ending)) {
      return std::string(type);
    }
  }
  return "application/octet-stream";
}

/// The content behind a name assets/NAME.HASH.EXT never changes.
bool has_hash_in_name(std::string_view name) noexcept {
  if (!name.starts_with("assets/")) {
    return false;
  }
  const std::size_t last = name.rfind('.');
  const std::size_t before =
      last == std::string_view::npos || last == 0 ? std::string_view::npos : name.rfind('.', last - 1);
  return before != std::string_view::npos && last - before > least_hash_chars;
}

/// "gzip" is a word of Accept-Encoding, but not as "gzip;q=0".
bool accepts_gzip(std::string_view accepted) {
  while (!accepted.empty()) {
    const std::string_view one = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(accepted.size(), one.size() + 1));
    const std::size_t begin = std::min(one.find_first_not_of(" \t"), one.size());
    const std::string_view word = one.substr(begin, one.find_first_of("; \t", begin) - begin);
    if (word == "gzip") {
      const std::size_t weight = one.find("q=");
      return weight == std::string_view::npos ||
             one.find_first_of("123456789", weight) != std::string_view::npos;
    }
  }
  return false;
}

bool matches_etag(std::string_view wanted, std::string_view etag) {
  return wanted == "*" || wanted.find(etag) != std::string_view::npos;
}

std::string way_back_from(std::string_view path) {
  const auto depth = std::count(path.begin(), path.end(), '/') - 1;
  std::string way = depth > 0 ? "" : "./";
  for (std::ptrdiff_t i = 0; i < depth; ++i) {
    way += "../";
  }
  return way;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

HttpResponse page_with_headers(std::string etag, const char* kept) {
  HttpResponse response;
  response.headers = {{"Content-Security-Policy", page_policy},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cache-Control", kept},
                      {"Vary", "Accept-Encoding"},
                      {"ETag", std::move(etag)}};
  return response;
}

}  // namespace

bool Pages::is_page(std::string_view path) noexcept {
  for (const std::string_view reserved : {"/api", "/healthz", "/readyz", "/version", "/metrics"}) {
    if (path.starts_with(reserved) && (path.size() == reserved.size() || path[reserved.size()] == '/')) {
      return false;
    }
  }
  return path.starts_with('/') && !path.starts_with("//");
}

namespace {

/// Addresses of pages begin with one of these (clients/web/src/pages/routes.ts).
constexpr std::string_view first_segments[] = {"",      "compare", "e",        "experiments",
                                               "login", "new",     "settings", "workers"};

bool is_address_of_page(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return name == "index.html" ||
         std::find(std::begin(first_segments), std::end(first_segments), first) != std::end(first_segments);
}

}  // namespace

HttpResponse Pages::answer(const HttpRequest& request) const {
  std::string_view name = request.path;
  name.remove_prefix(1);
  const bool is_file = name != "index.html" && is_page_file_name(name);
  std::optional<PageFile> file = is_file ? find_(name) : std::nullopt;
  const bool is_index = !file;
  if (is_index) {
    // If there is no slash, npos + 1 is 0: the whole name.
    const std::string_view last = name.substr(name.rfind('/') + 1);
    if (name.starts_with("assets/") || (name != "index.html" && last.find('.') != std::string_view::npos) ||
        !(file = find_("index.html"))) {
      return failure(engine::Error{engine::Errc::not_found, "there is nothing at this path"});
    }
  }
  // The page shows that it is not found, and so does the status.
  const bool is_unknown = is_index && !is_address_of_page(name);
  const std::string way = is_index ? way_back_from(request.path) : "";
  const bool sends_gzip = !is_index && file->is_gzipped && accepts_gzip(request.header("Accept-Encoding"));
  const std::string etag = '"' + file->hash +
                           (is_index     ? "-" + std::to_string(way.size())
                            : sends_gzip ? "-gz"
                                         : "") +
                           '"';
  HttpResponse response = page_with_headers(
      etag, !is_index && has_hash_in_name(name) ? "public, max-age=31536000, immutable" : "no-cache");
  response.content_type = type_of_page(is_index ? "index.html" : name);
  if (is_unknown) {
    response.status = 404;
  } else if (matches_etag(request.header("If-None-Match"), etag)) {
    response.status = 304;
    return response;
  }
  if (sends_gzip) {
    response.headers.emplace_back("Content-Encoding", "gzip");
  }
  response.body = file->is_gzipped && !sends_gzip ? gunzipped(file->bytes) : std::move(file->bytes);
  if (is_index) {
    replace_all(response.body, base_word, way);
  }
  return response;
}

}  // namespace hpsearch::daemon
