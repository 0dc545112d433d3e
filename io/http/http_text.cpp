#include "http/http_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hpsearch::net {
namespace {

int hex_digit(char c) noexcept {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return std::nullopt;
      }
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') {
      return std::nullopt;
    }
    decoded += c;
  }
  return decoded;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool all_digits(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool read_target(std::string_view target, HttpRequest& into) {
  if (target.empty() || target.front() != '/') {
    return false;
  }
  const std::size_t question = target.find('?');
  auto path = percent_decoded(target.substr(0, question), false);
  if (!path) {
    return false;
  }
  into.path = std::move(*path);
  into.query.clear();
  std::string_view rest =
      question == std::string_view::npos ? std::string_view{} : target.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty()) {
      continue;
    }
    const std::size_t equals = std::min(part.find('='), part.size());
    auto name = percent_decoded(part.substr(0, equals), true);
    auto value = percent_decoded(part.substr(std::min(equals + 1, part.size())), true);
    if (!name || !value) {
      return false;
    }
    into.query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

std::string ambiguity_of(std::string_view head) {
  // Host is not among them: the server looks at it itself.
  static constexpr std::array<std::string_view, 10> single = {"Authorization",
                                                              "Content-Length",
                                                              "Content-Type",
                                                              "Cookie",
                                                              "Expect",
                                                              "If-Match",
                                                              "Idempotency-Key",
                                                              "Origin",
                                                              "Transfer-Encoding",
                                                              "X-Hpsearch-Page-Key"};
  std::array<bool, single.size()> seen{};
  for (bool first = true; !head.empty(); first = false) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos || end == 0 || head[end - 1] != '\r') {
      return "a line of the header does not end with CR LF";
    }
    const std::string_view line = head.substr(0, end - 1);
    head.remove_prefix(end + 1);
    if (first) {
      continue;
    }
    if (line.starts_with(' ') || line.starts_with('\t')) {
      return "a header is folded over several lines";
    }
    const std::string_view name = line.substr(0, line.find(':'));
    for (std::size_t i = 0; i < single.size(); ++i) {
      if (!equal_ignoring_case(name, single[i])) {
        continue;
      }
      if (std::exchange(seen[i], true)) {
        return "the header " + std::string(single[i]) + " stands twice";
      }
    }
    std::string_view value = line.substr(std::min(line.size(), name.size() + 1));
    value.remove_prefix(std::min(value.size(), value.find_first_not_of(" \t")));
    value = value.substr(0, value.find_last_not_of(" \t") + 1);
    if (equal_ignoring_case(name, "Transfer-Encoding") && !equal_ignoring_case(value, "chunked")) {
      return "the only transfer coding that is served is chunked";
    }
    if (equal_ignoring_case(name, "Content-Length") && !all_digits(value)) {
      return "the Content-Length is not a number";  // A list of equal ones neither, which others may read in
                                                    // two ways.
    }
  }
  const auto has = [&](std::string_view name) {
    return seen[static_cast<std::size_t>(std::find(single.begin(), single.end(), name) - single.begin())];
  };
  return has("Content-Length") && has("Transfer-Encoding") ? "Content-Length stands beside Transfer-Encoding"
                                                           : "";
}

std::optional<HostPort> read_host_port(std::string_view text) {
  HostPort parts;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return std::nullopt;
    }
    parts.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    parts.host = text.substr(0, colon);
    text.remove_prefix(colon);
  }
  if (parts.host.empty()) {
    return std::nullopt;
  }
  if (!text.empty()) {
    if (text.front() != ':' || !all_digits(text.substr(1)) || text.size() > 6) {
      return std::nullopt;
    }
    parts.port = text.substr(1);
    if (std::stoul(parts.port) > 65'535) {
      return std::nullopt;
    }
  }
  return parts;
}

std::optional<HttpAddress> read_http_address(std::string_view text) {
  static constexpr std::string_view unix_scheme = "unix://";
  HttpAddress address;
  if (text.starts_with(unix_scheme)) {
    address.path = text.substr(unix_scheme.size());
    return address.path.starts_with('/') ? std::optional(std::move(address)) : std::nullopt;
  }
  static constexpr std::string_view tls_scheme = "https://";
  if (text.starts_with(tls_scheme)) {
    address.tls = true;
    text.remove_prefix(tls_scheme.size());
    const std::size_t mark = std::min(text.find('#'), text.size());
    address.fingerprint = text.substr(std::min(mark + 1, text.size()));
    text = text.substr(0, mark);
    const bool is_pinned = address.fingerprint.size() == 64 &&
                           address.fingerprint.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!address.fingerprint.empty() && !is_pinned) {
      return std::nullopt;
    }
  }
  auto parts = read_host_port(text);
  if (!parts || parts->port.empty()) {
    return std::nullopt;
  }
  address.tcp = *std::move(parts);
  return address;
}

bool accepts_gzip(std::string_view accept_encoding) {
  bool any = false;
  for (std::string_view rest = accept_encoding; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const std::string_view name = trimmed(entry.substr(0, entry.find(';')));
    if (!equal_ignoring_case(name, "gzip") && name != "*") {
      continue;
    }
    const std::size_t weight = entry.find("q=");
    const bool refused = weight != std::string_view::npos &&
                         entry.find_first_of("123456789", weight) == std::string_view::npos;
    if (name != "*") {
      return !refused;
    }
    any = !refused;
  }
  return any;
}

bool is_packable(std::string_view content_type) {
  const std::string_view type = trimmed(content_type.substr(0, content_type.find(';')));
  return (type.starts_with("text/") && type != "text/event-stream") || type.ends_with("json") ||
         type.ends_with("javascript") || type.ends_with("+xml") || type.ends_with(".columns") ||
         type.ends_with("yaml");
}

std::string http_date(std::time_t at) {
  // The names are those of HTTP, whatever the locale.
  static constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  ::gmtime_r(&at, &parts);
  std::array<char, 32> rest{};
  std::strftime(rest.data(), rest.size(), "%d", &parts);
  std::string text = std::string(days.at(static_cast<std::size_t>(parts.tm_wday))) + ", " + rest.data() +
                     " " + months.at(static_cast<std::size_t>(parts.tm_mon));
  std::strftime(rest.data(), rest.size(), " %Y %H:%M:%S GMT", &parts);
  return text + rest.data();
}

bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view HttpRequest::query_or(std::string_view name, std::string_view otherwise) const noexcept {
  for (const auto& [key, value] : query) {
    if (key == name) {
      return value;
    }
  }
  return otherwise;
}

std::string_view HttpRequest::header(std::string_view name) const noexcept {
  for (const auto& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) {
      return value;
    }
  }
  return {};
}

std::pair<std::string, std::string> range_header(std::uint64_t offset, std::uint64_t limit) {
  return {"Range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + limit - 1)};
}

std::string percent_encoded(std::string_view text) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  static constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : text) {
    if (plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += digits[byte >> 4U];
      encoded += digits[byte & 15U];
    }
  }
  return encoded;
}

}  // namespace hpsearch::net
