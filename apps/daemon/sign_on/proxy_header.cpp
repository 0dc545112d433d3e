#include "daemon/sign_on/proxy_header.hpp"

#include <algorithm>

#include "daemon/sign_on/machine_names.hpp"
#include "hpsearch/io/net/networks.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;

bool equal_names(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [lower](char x, char y) { return lower(x) == lower(y); });
}

std::ptrdiff_t count_of(const net::HttpRequest& request, std::string_view header) {
  return std::count_if(request.headers.begin(), request.headers.end(),
                       [header](const auto& one) { return equal_names(one.first, header); });
}

std::vector<std::string> groups_in(std::string_view text) {
  std::vector<std::string> groups;
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    one = one.substr(0, one.find_last_not_of(' ') + 1);
    if (!one.empty()) {
      groups.emplace_back(one);
    }
  }
  return groups;
}

}  // namespace

bool is_header_name(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789-_") == std::string_view::npos;
}

std::string add_proxy_place(ProxyPlaces& places, const std::string& text) {
  constexpr std::string_view user = "user:";
  if (text.starts_with(user)) {
    const auto found = user_named(text.substr(user.size()));
    if (!found) {
      return "user: and the name of a user of this machine";
    }
    places.users.push_back(found->uid);
    return "";
  }
  const bool has_length = text.find('/') != std::string::npos;
  const bool is_v6 = text.find(':') != std::string::npos;
  std::string network = text + (has_length ? "" : is_v6 ? "/128" : "/32");
  if (!net::is_network(network)) {
    return "an address or a network, such as 10.0.0.5 or 10.0.0.0/24, or user:NAME for a program that uses "
           "--http-socket";
  }
  places.networks.push_back(std::move(network));
  return "";
}

bool ProxyHeader::is_from(const net::HttpPeer& peer) const {
  if (header.empty()) {
    return false;
  }
  if (peer.uid) {
    return std::find(from.users.begin(), from.users.end(), *peer.uid) != from.users.end();
  }
  return std::any_of(from.networks.begin(), from.networks.end(),
                     [&peer](const std::string& network) { return net::is_in_network(peer.name, network); });
}

Result<std::optional<Person>> person_in(const net::HttpRequest& request, const ProxyHeader& proxy) {
  if (proxy.header.empty() ||
      (count_of(request, proxy.header) == 0 && count_of(request, proxy.groups_header) == 0)) {
    return std::optional<Person>();
  }
  const auto wrong = [](const std::string& why) { return Error{Errc::bad_request, why}; };
  if (!proxy.is_from(request.peer)) {
    return wrong("the headers " + proxy.header + " and " + proxy.groups_header +
                 " are accepted only from the proxies in access.proxies, not from " + request.peer.name);
  }
  for (const std::string& header : {proxy.header, proxy.groups_header}) {
    if (count_of(request, header) > 1) {
      return wrong("the header " + header + " is there twice; the proxy has to replace that of the client");
    }
  }
  const std::string_view name = request.header(proxy.header);
  if (name.empty()) {
    return std::optional<Person>();  // The person has not signed in at the proxy.
  }
  if (!is_person_name(name)) {
    return wrong("the header " + proxy.header + " is \"" + foreign_text(name) +
                 "\"; it has to be a name: " + person_name_rule);
  }
  return std::optional(Person{std::string(name), groups_in(request.header(proxy.groups_header))});
}

}  // namespace hpsearch::daemon
